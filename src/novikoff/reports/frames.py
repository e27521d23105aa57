"""Frames that many learners are instances of: `novikoff explain oco`."""

from __future__ import annotations

from collections.abc import Mapping

INSTANCES = (
    ("adagrad", "all w; a diagonal of gradients squared", "hinge, absolute, pinball, Huber, squared", "convex_regret"),
    ("ftrl", "all w; a diagonal of curvatures", "log, and half a step for each label", "ftrl_regret"),
    ("logistic", "all w; the curvatures themselves", "log, by a parabola below it", "logistic_regret"),
    ("vaw", "all w; the sum of x x', x_t among them", "squared", "vaw_regret"),
    ("online-gradient", "a ball; |w|^2 over the rate", "squared, absolute", "online_gradient_regret"),
    ("perceptron", "all w; |w|^2", "hinge, of mistakes alone", "perceptron_hinge"),
    ("second-order-perceptron", "all w; x x' of mistakes", "hinge, of mistakes alone", "metric_mistakes"),
    ("exponential-weights", "a distribution; its entropy", "linear: the mean loss of experts", "anytime_regret"),
    ("ada-hedge", "the same, at a rate that adapts", "the same", "ada_hedge_regret"),
    ("auto", "the same, at rate 1", "log, of a mixture", "auto_regret"),
    ("specialists", "the same; who sleeps does not count", "log, of a mixture", "specialists_regret"),
    ("conformal", "one number; its square over the step", "pinball, of scores", "coverage_pinball"),
    ("exp3-ix", "a distribution; its entropy", "linear, estimated from one arm", "ix_pathwise"),
    ("tsallis-inf", "a distribution; its square roots", "linear, estimated from one arm", "tsallis_pathwise"),
)
"""A learner, the set it chooses from and what regularises, its loss, and the theorem."""


def _table() -> str:
    rows = [("learner", "w, and what regularises", "loss", "theorem"), *INSTANCES]
    wide = [max(len(row[k]) for row in rows) for k in range(4)]
    return "\n".join("    " + "  ".join(cell.ljust(wide[k]) for k, cell in enumerate(row)).rstrip() for row in rows)


FRAMES: Mapping[str, str] = {
    "oco": f"""\
Online convex optimisation: the frame that most learners here are instances of.

Game
    In each round choose w from a convex set; then a convex loss l is shown, and l(w) is paid. The regret against u is
    the sum of l(w) - l(u). Nothing is assumed of the losses but that they are convex: they may answer back.
Rule
    Follow the regularised leader, on linear parts: g is a subgradient of l at the w that was played, G the sum of these
    so far, and the next w makes <G, w> + R(w) least, where R may grow. With R = w'Aw/2, w = -A^-1 G.
Theorem
    A convex loss lies above its linear part, so the regret is at most the sum of <g, w - u>. With R = w'Aw/2 that is
    at most u'Au/2 + the sum of g'A^-1 g/2 (convex/theorems/convex_regret.py has the proof). A metric that grows with
    what was seen makes both parts small at once, of the order of sqrt T; a loss that is curved adds to A itself, and
    the regret is of the order of log T.
Instances
{_table()}
    Try `novikoff run adagrad SOURCE`, or adagrad:loss=pinball,tau=0.9 where outcomes are numbers.
Reference
    [zinkevich2003]; [mcmahan2017]; [duchi2011].
""",
}
