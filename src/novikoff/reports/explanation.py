"""Explanations of names: algorithm, theorem with its proof idea, cost and reference, all from the docstrings.

Terms of textbooks and lectures are found too, in any case, singular or plural (reports/glossary.py). So are well-known
learners that are not in the library, with what to use instead, and frameworks of which many learners are instances:
`novikoff explain oco`.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path

import novikoff
from novikoff.core.adapt import theorems_of
from novikoff.core.errors import SpecError
from novikoff.core.registry import CATALOG, entry, find, for_multiclass, names
from novikoff.core.types import Theorem
from novikoff.reports import glossary

ABSENT: Mapping[str, str] = {
    "diagonal-arow": """\
Diagonal AROW is not included: mu += alpha sigma y x with sigma_i = 1/(1/sigma_i + x_i^2/r), the usual implementation.

No bound on its mistakes is known: the movement of each feature, the sum of x_i^2 (w_i - u_i)^2 over the features, would
have to be covered by the curvature of the loss, and that only involves <w - u, x>^2.
Use `arow` (the full matrix, with its theorem), `arow:diagonal=true` (a diagonal metric that a theorem covers), or, for
wide rows, `ftrl` or `auto`, which make fewer mistakes there.
""",
    "passive-aggressive": """\
Passive-Aggressive (PA, PA-I, PA-II) is not included: w += tau y x, where tau is the hinge loss over |x|^2, capped at C.

Its bounds are those of the Perceptron with a factor of 2 on the losses of u: M <= max(R^2, 1/C) (|u|^2 + 2 C D) for
PA-I, where D is the sum of the hinge losses of u. On noisy rows this is never better than the bound of `perceptron`,
and C has to be tuned. The bound of PA without C is often stated with the largest |x|; that is false if lengths
differ. Nor is it more accurate: on seven real streams it made more mistakes than `auto` on every one.
Use `auto`, `ftrl` or `arow`.
""",
    "coin-betting": """\
Coin betting (KT, FreeGrad) is not included: each feature bets a fraction of its winnings, so no rate has to be set.

Its bound, |u| sqrt(T ln(1 + 4 T^2 u^2)) per feature, is proved. But a mixture of `ftrl` at several rates has no rate to
set either, and costs ln K for K rates in total instead of a logarithm under every root. On seven real streams its log
loss was higher than that of `auto` on every one.
Use `auto`.
""",
    "scinol": """\
ScInOL is not included: scale-invariant online learning, a betting rule per feature that tracks its largest |x|.

It is scale-free, as `ftrl` is; its bound grows with ln(|u| h T) for every feature, and depends on the first value of
each. On seven real streams its log loss was higher than that of `auto` on every one, and far higher in its first form.
Use `auto` or `ftrl`.
""",
}
"""Learners that are not included, by name: what they are, why, and what to use instead."""

ALIASES: Mapping[str, str] = {
    "pa": "passive-aggressive",
    "pa-i": "passive-aggressive",
    "pa-ii": "passive-aggressive",
    "kt": "coin-betting",
    "freegrad": "coin-betting",
    "online-convex-optimisation": "oco",
    "online-convex-optimization": "oco",
}
"""Other names of learners that are not included, and of frameworks."""


INSTANCES = (
    ("adagrad", "all w; a diagonal of squared gradients", "hinge, absolute, pinball, Huber, squared", "convex_regret"),
    ("ftrl", "all w; a diagonal of curvatures", "log, with half a step for each label before playing", "ftrl_regret"),
    ("logistic", "all w; the curvatures themselves", "log, approximated by a parabola from below", "logistic_regret"),
    ("vaw", "all w; the sum of x x', x_t included", "squared", "vaw_regret"),
    ("online-gradient", "a ball; |w|^2 over the rate", "squared, absolute", "online_gradient_regret"),
    ("perceptron", "all w; |w|^2", "hinge, on mistakes only", "perceptron_hinge"),
    ("second-order-perceptron", "all w; x x' of mistakes", "hinge, on mistakes only", "metric_mistakes"),
    ("exponential-weights", "a distribution; its entropy", "linear: the mean loss of experts", "anytime_regret"),
    ("ada-hedge", "the same, at an adaptive rate", "the same", "ada_hedge_regret"),
    ("linear-mixture", "the same, at rate 1", "log, of a mixture", "linear_mixture_regret"),
    ("specialists", "the same, over awake copies", "log, of a mixture", "specialists_regret"),
    ("conformal", "one number; its square over the step", "pinball, of scores", "coverage_pinball"),
    ("exp3-ix", "a distribution; its entropy", "linear, estimated from one arm", "ix_pathwise"),
    ("tsallis-inf", "a distribution; its square roots", "linear, estimated from one arm", "tsallis_pathwise"),
)
"""Learner; its decision set and regulariser; its loss; its theorem."""


def _table() -> str:
    rows = [("learner", "decision set; regulariser", "loss", "theorem"), *INSTANCES]
    wide = [max(len(row[k]) for row in rows) for k in range(4)]
    return "\n".join("    " + "  ".join(cell.ljust(wide[k]) for k, cell in enumerate(row)).rstrip() for row in rows)


FRAMES: Mapping[str, str] = {
    "oco": f"""\
Online convex optimisation: the framework that most learners here are instances of.

Game
    In each round choose w from a convex set; then a convex loss l is revealed, and l(w) is incurred. The regret against
    u is the sum of l(w) - l(u). The losses need only be convex: they may be chosen by an adversary.
Rule
    Follow the regularised leader on linearised losses: g is a subgradient of l at the w that was played, G the sum of
    all g so far, and the next w minimises <G, w> + R(w), where R may grow. With R = w'Aw/2, w = -A^-1 G.
Theorem
    A convex loss lies above its linearisation, so the regret is at most the sum of <g, w - u>. With R = w'Aw/2 that is
    at most u'Au/2 + the sum of g'A^-1 g/2 (proof in convex/theorems/convex_regret.py). A metric that grows with the
    gradients keeps both terms small at once, of the order of sqrt T; a curved loss contributes to A itself, and the
    regret is of the order of log T.
In Python
    Losses of your own, as a value and a gradient, in a ball, a box, the simplex or any set with a projection:
    nk.minimise_online(losses, nk.Ball(1.0, dim=3), method="gradient"), "ftrl" or "mirror descent"
    (proof in convex/theorems/online_convex_regret.py).
Instances
{_table()}
    Try `novikoff run adagrad SOURCE`, or adagrad:loss=pinball,tau=0.9 for regression.
Reference
    [zinkevich2003]; [mcmahan2017]; [duchi2011].
""",
}
"""Texts on frameworks, by name."""


OURS = re.compile(r"novikoff\.(\w+\.)+theorems\.")
"""Module names of the library's theorems."""


class Explanation(str):
    """Text that a console shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def explain(name: str) -> Explanation:
    """Explain a learner, adversary, class, format, theorem, or a term of online learning.

    Args:
        name: Name or term, in any case; hyphens, underscores and spaces are the same.

    Returns:
        A text: for a learner, the algorithm and its theorems with their proofs.

    Example:
        >>> import novikoff as nk
        >>> print(nk.explain("version space").splitlines()[2])
        The hypotheses that are consistent with all labels so far.
    """
    return Explanation(_text(name))


def _text(name: str) -> str:
    found = _known(name)
    if found is not None and found in FRAMES:
        return _with_references(FRAMES[found])
    if found is not None and found in ABSENT:
        return ABSENT[found]
    if found is None and (name in CATALOG or not find(name)) and (term := glossary.find(name)):
        return glossary.text(term)
    name = name if found is None else found
    if name not in CATALOG and name.replace("-", "_") in theorems():  # no need to search installed packages
        return _with_references(_doc_of(_theorem(name)))
    if entry := find(name):
        texts = [f"{name}:{entry.arguments()}" if entry.arguments() else name, "", entry.doc()]
        for theorem in theorems_of(entry.load()):
            texts += ["", f"Theorem {theorem.name}", "", _doc_of(theorem)]
        if entry.room == "learner" and (multiclass := for_multiclass(name)):
            texts += ["", "Multiclass", "", multiclass.doc()]
            for theorem in theorems_of(multiclass.load()):
                texts += ["", f"Theorem {theorem.name}", "", _doc_of(theorem)]
    else:
        texts = [_doc_of(_theorem(name))]
    return _with_references("\n".join(texts))


def _known(query: str) -> str | None:
    """Return the name that a query means; None if it is not built in, or only a term of the glossary."""
    if query in CATALOG and CATALOG[query].room == "stream" and glossary.find(query):
        return None  # "separable" is a term first, and then the name of a generated stream
    if query in CATALOG or query.replace("-", "_") in theorems():
        return query
    wanted = glossary.normal(query)
    wanted = {glossary.normal(other): name for other, name in (*ALIASES.items(), *glossary.ALIASES.items())}.get(
        wanted, wanted
    )
    known = {glossary.normal(name): name for name in (*theorems(), *ABSENT, *FRAMES, *CATALOG)}
    return known.get(glossary.normal(wanted))


def _with_references(text: str) -> str:
    """Append the references that a text cites."""
    references = dict(_references(text))
    listed = [f"[{key}] {reference}" for key, reference in references.items()]
    return text + ("\n\n" + "\n".join(listed) if listed else "") + "\n"


@cache
def theorems() -> dict[str, str]:
    """Return every theorem with its module: the files of the `theorems` folders, without shared facts."""
    root = Path(novikoff.__file__).parent
    files = sorted(root.glob("**/theorems/*.py"), key=lambda file: file.stem)
    modules = {file.stem: ".".join(("novikoff", *file.relative_to(root).with_suffix("").parts)) for file in files}
    return {name: module for name, module in modules.items() if name != "__init__" and not name.endswith("_facts")}


def _theorem(name: str) -> object:
    """Return the theorem of that name: built in, or of a registered learner."""
    wanted = name.replace("-", "_")
    if wanted in theorems():
        return getattr(importlib.import_module(theorems()[wanted]), wanted)
    others = [learner for learner in names("learner") if learner not in CATALOG]
    promised = {theorem.name: theorem for learner in others for theorem in promises(learner)}
    if wanted not in promised:
        near = glossary.close(name, [*CATALOG, *others, *theorems(), *promised])
        hint = f"Did you mean {' or '.join(near)}?" if near else "`novikoff list` prints all names."
        raise SpecError(f"no name or term to explain is called {name!r}. {hint}")
    return promised[wanted]


def promises(learner: str) -> tuple[Theorem, ...]:
    """Return the theorems of a learner; none if it cannot be loaded."""
    try:
        found: tuple[Theorem, ...] = entry(learner, "learner").load().promises  # type: ignore[attr-defined]
    except SpecError:
        return ()
    return found


def _doc_of(theorem: object) -> str:
    """Return statement and proof: of a built-in theorem its file's docstring, else the theorem's, or its file's."""
    written = None if OURS.match(theorem.__module__) else theorem.__doc__
    return inspect.cleandoc(written or importlib.import_module(theorem.__module__).__doc__ or "")


def _references(text: str) -> Iterator[tuple[str, str]]:
    bibliography = read_references()
    for key in re.findall(r"\[([a-z]+\d{4}[a-z]?)\]", text):
        if key in bibliography:
            yield key, bibliography[key]


def read_references() -> dict[str, str]:
    """Return references.bib as key -> "Authors: Title. Where, year"."""
    text = resources.files("novikoff.reports").joinpath("references.bib").read_text(encoding="utf-8")
    found = {}
    for key, body in re.findall(r"@\w+\{(\w+),(.*?)\n\}", text, flags=re.DOTALL):
        fields = dict(re.findall(r"(\w+)\s*=\s*\{(.*?)\},?\n", body + "\n"))
        where = fields.get("journal") or fields.get("booktitle") or fields.get("publisher") or fields.get("note", "")
        authors = fields["author"].replace(" and ", ", ")
        found[key] = f"{authors}: {fields['title']}. {where}, {fields['year']}."
    return found
