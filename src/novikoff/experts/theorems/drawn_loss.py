"""Loss of the experts drawn, against its expectation: with high probability, at all times at once.

Theorem (upper; kind P, delta = 0.05, for all T simultaneously)
    Losses lie in [0, S], and those of round t are fixed before the expert of round t is drawn (they may depend on all
    earlier draws). Let H be the sum of h_t, the expected loss of round t given the past, in units of S. With
    probability at least 1 - delta, for all T at once the drawn experts together lost at most
        S (k + L/3 + sqrt(L^2/9 + 2 k L)),     k = max(1, ceil(H)),   L = ln(k (k + 1) / delta).
    So the bound may be monitored during the game, and used as a stopping rule. The other theorems of the learner bound
    H on every stream; a small H makes the deviation small.
Assumptions
    an expert is drawn, by the learner's weights (checked by the sum of h_t); the losses of a round do not depend on its
    draw (checked for files, arrays and lists, which are fixed, and for adversaries, which see the probabilities but
    never the draw; trusted if user code generates the rounds during the game, or chooses the next source: it might ask
    the learner for its prediction); losses lie in [0, S] (checked).
Proof
    In units of S, for x > 0 and a loss X in [0, 1] of conditional mean h, E exp(xX) <= 1 + (e^x - 1) h
    <= exp((e^x - 1) h), so exp(x * lost - (e^x - 1) H) is a supermartingale, and by Ville's inequality it ever reaches
    k(k+1)/delta with probability at most delta/(k(k+1)). Choose x = x_k for each k: these probabilities sum to delta.
    Otherwise, if H <= k,  lost <= ((e^x - 1) k + L)/x, and the least over x is the z >= k with z ln(z/k) - z + k = L.
    By (1 + a) ln(1 + a) - a >= a^2 / (2 (1 + a/3)), z <= k + L/3 + sqrt(L^2/9 + 2kL). []
    H is a sum of floats: if it is at most k + e, the same x gives e (e^x - 1)/x more, where e^x = z/k, so at most
    e z / k more.
Reference
    [howard2020] for such bounds; [cesabianchi2006], chapter 4, for a T fixed in advance.
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Assumption, Bound, Words, outward, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import IN_RANGE, ExpertsFacts, by_its_weights, every_round, slack

DELTA = 0.05
"""Failure probability."""


@theorem(
    "P",
    "howard2020",
    quantity="loss",
    words=Words(
        covers="losses that do not depend on the draw of their round",
        why="the expected losses add up to {expected_loss:up}, and random draws rarely deviate far from that",
    ),
)
def drawn_loss(run: Run[ExpertsFacts]) -> Bound | None:
    """Bound the loss by k + L/3 + sqrt(L^2/9 + 2kL) in units of the largest loss; None if nothing is drawn.

    It also holds for a learner that had played before.
    """
    after = run.after
    if after.play != "draw":
        return None
    blind = Assumption("the losses of a round do not depend on its draw",
                       "checked" if run.fixed or run.adaptive else "trusted")  # fmt: skip
    error = slack(run)
    finite = after.top > 0.0 and math.isfinite(after.top) and math.isfinite(run.expected) and math.isfinite(error)
    return Bound(
        outward(after.top * most_drawn(run.expected / after.top, DELTA, error / after.top)) if finite else None,
        [IN_RANGE, every_round(run), by_its_weights(run), blind],
        {"expected_loss": run.expected, "delta": DELTA, "top": after.top, "when": "at all rounds at once"},
        observed=run.loss,
        trivial=run.rounds * after.top,
        void="" if finite else "a loss is not finite",
    )


def most_drawn(mean: float, delta: float, error: float = 0.0) -> float:
    """Return k + L/3 + sqrt(L^2/9 + 2kL) for an H of at most `mean` + `error`."""
    k = max(1, math.ceil(mean - error))
    level = math.log(k) + math.log1p(k) - math.log(delta)
    most = k + level / 3.0 + math.sqrt(level * level / 9.0 + 2.0 * k * level)
    return most * (1.0 + 2.0 * error / k)
