"""Learners that one may look for and that are not here: why, and what to take."""

from __future__ import annotations

from collections.abc import Mapping

ABSENT: Mapping[str, str] = {
    "diagonal-arow": """\
Diagonal AROW is not here: mu += alpha sigma y x with sigma_i = 1/(1/sigma_i + x_i^2/r), as it is mostly run.

No bound on its mistakes is known. What each feature moves, the sum of x_i^2 (w_i - u_i)^2 over the features, would have
to be paid for by the curvature of the loss, and that sees <w - u, x>^2 only.
Take `arow` (the full matrix, with its theorem), `arow:diagonal=true` (a diagonal metric that a theorem covers), or, for
wide rows, `ftrl` and `auto`, which err less there.
""",
    "passive-aggressive": """\
Passive-Aggressive (PA, PA-I, PA-II) is not here: w += tau y x with tau the hinge loss over |x|^2, cut off at C.

Its bounds are those of the Perceptron with a factor of 2 on the losses of u: M <= max(R^2, 1/C) (|u|^2 + 2 C D) for
PA-I, D the sum of the hinge losses of u. On noisy rows that is never better than what `perceptron` promises, and PA
needs C to be set. The bound of PA without C is often told with the largest |x|; where lengths differ that is false. Nor
does it err less: in trials on seven real streams it erred more than `auto` on all.
Take `auto`, `ftrl` or `arow`.
""",
    "coin-betting": """\
Coin betting (KT, FreeGrad) is not here: each feature bets a part of what it has won, so that no rate need be set.

Its bound, |u| sqrt(T ln(1 + 4 T^2 u^2)) for each feature, is proved. But a few rates of `ftrl`, mixed, have no rate to
be set either: that costs ln K for K rates in all, and not a logarithm under every root. In trials on seven real streams
its log loss was higher than that of `auto` on all.
Take `auto`.
""",
    "scinol": """\
ScInOL is not here: scale-invariant online learning, a betting rule for each feature that knows its largest |x|.

It is scale-free, as `ftrl` is; its promise grows with ln(|u| h T) for every feature, and depends on the first value of
each. In trials on seven real streams its log loss was higher than that of `auto` on all; that of its first form by far.
Take `auto` or `ftrl`.
""",
}
"""Name: what is to be said of it."""

ALIASES: Mapping[str, str] = {
    "pa": "passive-aggressive",
    "pa-i": "passive-aggressive",
    "pa-ii": "passive-aggressive",
    "kt": "coin-betting",
    "freegrad": "coin-betting",
    "online-convex-optimisation": "oco",
    "online-convex-optimization": "oco",
}
