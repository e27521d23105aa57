"""Regret of Fixed Share against the best sequence of experts with a few switches.

Theorem (upper)
    Fixed Share starts from the prior, w_1 = prior, and after each exponential update v_t of the weights with rate r it
    shares: w_{t+1} = (1 - alpha) v_t + alpha prior. Whatever the losses are, for every path of experts over the T
    rounds with k switches, its segments played by e_0 .. e_k,
        sum of h_t  <=  L(path) + (1/r) [ ln(1/prior(e_0)) + ... + ln(1/prior(e_k)) + C(k) ] + sum of (h_t - m_t),
        C(k) = k ln(1/alpha) + (T - k - 1) ln(1/(1 - alpha)),
    and the gaps h_t - m_t are at most r S^2 / 8 each, for losses in [0, S]. So without a prior, against the best path
    with at most m switches, the regret is at most
        (1/r) [ (m + 1) ln N + C(m) ] + r T S^2 / 8;
    with alpha = m/(T - 1) and the best rate, S sqrt(T c / 2), c = (m + 1) ln N + (T - 1) H(m/(T - 1)), H in nats.
    The reported bound is the least right side with the gaps of this run, over the best paths of at most k = 0, 1, ...,
    m switches, less the loss of the best path with at most m. If a mixture is played, the gap of a round is its loss,
    at most h_t, less m_t (experts/theorems/mixability_gaps.py); for log and squared loss it is at most 0.
Assumptions
    losses lie in [0, S] (checked); the learner began with its prior (checked); a mixture is played of a convex loss
    only (checked).
Proof
    Draw a path: start from the prior; in each later round, with probability alpha, draw again from the prior, otherwise
    stay. The weights of Fixed Share are those of exponential weights over all paths with this prior, summed over the
    paths at each expert: the update multiplies by exp(-r l), the share moves the path. So the sum of m_t is at most
    L(path) + (1/r) ln(1/P(path)) (experts/theorems/fixed_rate_regret.py), and a path with k switches has
    P >= prior(e_0) * product of alpha prior(e_s) * (1 - alpha)^(T - 1 - k). Add the gaps.
    The path that is best with at most k switches may have fewer, j: C is linear in j, so the larger of C(0) and C(k) is
    at least C(j). Or let it draw k times in all, its own expert k - j times: then it has
    P >= prior^(k+1) alpha^k (1 - alpha)^(T-1-k), if all priors are the same. The smaller price is taken; it matters for
    alpha > 1/2. []
Reference
    [herbster1998]; [cesabianchi2006], section 5.2.
"""

from __future__ import annotations

import math

from novikoff.core.certificate import Bound, Words, largest_regret, rule, theorem
from novikoff.core.types import Run
from novikoff.experts.theorems.experts_facts import ExpertsFacts, regret_bound


@theorem(
    "D",
    "herbster1998",
    quantity="regret",
    where=rule("share"),
    words=Words(
        covers="weights that are partly shared in every round",
        why="this is against the best sequence of experts with {switches} switches",
    ),
)
def fixed_share_regret(run: Run[ExpertsFacts]) -> Bound:
    """Return the least cost of a path plus the gaps."""
    after = run.after
    if after.settled:
        return regret_bound(run, 0.0)
    room = after.rounds  # paths of T rounds have at most T - 1 switches, so C(k) is a price for k < T only
    costs = [cost + sharing(k, after) for k, cost in enumerate(after.path_costs[:room])]
    if after.uniform:
        drawn = [loss + drawing(k, after) for k, loss in enumerate(after.path_losses[:room])]
        costs = [min(pair) for pair in zip(costs, drawn, strict=False)]
    saved = max(after.mixed - run.expected, 0.0)  # never negative, so that a mixture that pays more than h_t is caught
    least = min(costs, default=math.nan)
    best = after.path_losses[-1] if after.path_losses else math.nan
    return regret_bound(
        run,
        least - best + after.gaps - saved,
        quantities={
            "path_loss": best,
            "switches": after.switches,
            "alpha": after.alpha,
            "paid_switches": costs.index(least) if costs else 0,
            "gaps": after.gaps,
            "saved": saved,
            "a_priori": least - best + after.variation,
        },
        observed=run.expected - best,
        trivial=largest_regret(run.rounds, after.top, best),
    )


def sharing(switches: int, after: ExpertsFacts) -> float:
    """Return the cost of switches and stays of a path with at most `switches` switches: max(C(0), C(k)) / r."""
    most = max(path_price(0, after.rounds, after.alpha), path_price(switches, after.rounds, after.alpha))
    return most * after.unit / after.eta if after.eta else math.inf


def drawing(draws: int, after: ExpertsFacts) -> float:
    """Return the cost of a path that draws its expert `draws` times, from equal priors: ((k + 1) ln N + C(k)) / r."""
    price = (draws + 1) * math.log(after.experts) + path_price(draws, after.rounds, after.alpha)
    return price * after.unit / after.eta if after.eta else math.inf


def path_price(switches: int, rounds: int, alpha: float) -> float:
    """Return C(k) = k ln(1/alpha) + (T - k - 1) ln(1/(1 - alpha)), where 0 times infinity is 0."""
    stays = rounds - switches - 1
    price = 0.0
    if switches:
        price += switches * -math.log(alpha) if alpha > 0.0 else math.inf
    if stays:
        price += stays * -math.log1p(-alpha) if alpha < 1.0 else math.inf
    return price
