"""Formulas of docstrings in the signs of a textbook: `||w||^2 <= M R^2` becomes ‖w‖² ≤ M R²."""

from __future__ import annotations

import re

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "kappa": "κ", "lambda": "λ",
    "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "theta": "θ", "phi": "φ",
}  # fmt: skip
"""Names of Greek letters."""
RAISED = str.maketrans("0123456789-+Tn", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵀⁿ")
"""Signs that exist as superscripts."""
LOWERED = str.maketrans("0123456789-+aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₋₊ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
"""Signs that exist as subscripts."""
SIGNS = (("<=", "≤"), (">=", "≥"), ("!=", "≠"), ("||", "‖"), ("infinity", "∞"), ("[]", "∎"))
"""Signs of several characters."""
PRODUCT = re.compile(r"<(?! )([^<>\n,]{1,12}),( ?[^<>\n, ]{1,12})>")
"""An inner product: <u,w>."""
POWER = re.compile(r"\^(-?\d+|[Tn](?!\w)|\{(?:-?\d+|[Tn])\})")
INDEX = re.compile(r"(?<=[A-Za-zα-ω])_(?:(\d+|[aehijklmnoprstuvx])(?![\w{])|\{([-+\daehijklmnoprstuvx]+)\})")
ROOT = re.compile(r"\bsqrt ?(?=[\w(\\])")
TILDE = re.compile(r"\b([a-z])~")
NAME = re.compile(rf"(?<![\w`.])(?<![A-Za-z]-)({'|'.join(GREEK)})(?![A-Za-z\d`=-]|_\w{{2}})")

OPENING = re.compile(
    r"(^(?P<fence>`{3,}).*?^(?P=fence)|`[^`\n]+`|^ {4}.*?$)|<(?=[A-Za-z]\*?,)", re.DOTALL | re.MULTILINE
)
"""Code, which stays as it is, or the opening of an inner product."""


def shown(text: str) -> str:
    """Return Markdown whose inner products are shown: Python-Markdown takes <u,x> for a tag, and browsers hide it."""
    return OPENING.sub(lambda found: found[1] or "&lt;", text)


def typeset(text: str) -> str:
    """Return a text with its formulas typeset; code in backticks stays.

    >>> typeset("||w_end||^2 <= M R^2, so M margin <= <u,w_{t-1}> and sqrt(x_t) <= e^-1; `a <= b`")
    '‖w_end‖² ≤ M R², so M margin ≤ ⟨u,wₜ₋₁⟩ and √(xₜ) ≤ e⁻¹; `a <= b`'
    """
    return "".join(part if part.startswith("`") else _signs(part) for part in re.split(r"(`[^`]*`)", text))


def _signs(text: str) -> str:
    for plain, sign in SIGNS:
        text = text.replace(plain, sign)
    text = NAME.sub(lambda found: GREEK[found[1]], text)
    text = PRODUCT.sub(r"⟨\1,\2⟩", text)
    text = POWER.sub(lambda found: found[1].strip("{}").translate(RAISED), text)
    text = INDEX.sub(lambda found: (found[1] or found[2]).translate(LOWERED), text)
    return TILDE.sub("\\1\N{COMBINING TILDE}", ROOT.sub("√", text))
