"""Regret of any bandit with known probabilities, from observed losses: with high probability, at all times at once.

Theorem (upper; kind P, for all T simultaneously)
    In round t losses l_t(i) in [0, 1] are fixed, then arm I_t is drawn with known probabilities p_t(i). For N policies
    with probabilities q_t(i), fixed before the draw (always playing arm i is one, N = K), and a grid of C numbers gamma
    that was fixed before the first round,
        S_gamma  =  the sum of  q_t(I_t) l_t(I_t) / (p_t(I_t) + gamma)
    is observed. With probability at least 1 - delta, for all policies and all T at once
        L  >=  max over gamma of  S_gamma - ln(N C / delta) / (2 gamma),
    where L is the loss of the policy. So the regret is at most S less the least of these limits. This holds for any
    algorithm that draws the arms, and for losses that react to earlier draws; no unobserved loss enters.
Assumptions
    losses are in their range (checked); the losses of a round were fixed before its draw (checked for files, arrays and
    lists; else trusted); the probabilities are those of the draws (for built-in learners by construction, and checked
    to sum to 1; for a log trusted, or refuted if impossible: off_policy.py); a log contains all arms (trusted, unless
    their number is given).
Proof
    Let x = l / p for the arm drawn. For z >= 0, ln(1 + z) >= z / (1 + z/2), so with z = 2 gamma x
        2 gamma l / (p + gamma)  =  z / (1 + gamma/p)  <=  z / (1 + gamma l/p)  =  z / (1 + z/2)  <=  ln(1 + z).
    So exp(2 gamma q l/(p + gamma)) <= (1 + 2 gamma x)^q <= 1 + 2 gamma q x for q in [0, 1]. Given the past, the mean of
    q x is at most the sum of q(i) l(i): the mean of the left side is at most exp(2 gamma sum of q(i) l(i)). Hence
    exp(2 gamma (S_gamma - L)) is a supermartingale that starts at 1, and by Ville's inequality it ever reaches
    N C / delta with probability at most delta / (N C). Sum over policies and grid. []
    Coins are multiples of 2^-53: an arm is drawn with a probability within K 2^-50 of the stated one, which is
    accounted for by reducing gamma by as much. Sums are rounded down by T + 4 roundings.
Reference
    [neu2015] for one gamma and T fixed in advance; [ville1939].
"""

from __future__ import annotations

from novikoff.bandits.theorems.bandit_facts import (
    UNIT,
    BanditFacts,
    at_least,
    common,
    draws,
    game,
    regret,
    same_losses,
    why_void,
)
from novikoff.core.certificate import Bound, Words, outward, theorem
from novikoff.core.types import Run


@theorem(
    "P",
    "neu2015",
    quantity="regret",
    words=Words(
        covers="arms that were drawn with known probabilities",
        why=(
            "the loss was {loss:up}; from the observed losses, each of the {experts} experts loses at least "
            "{costs_at_least:down}"
        ),
        otherwise=(
            "the loss was {loss:up}; from the observed losses, every fixed arm loses at least {costs_at_least:down}"
        ),
    ),
)
def observable_regret(run: Run[BanditFacts]) -> Bound | None:
    """Return S less the least lower limit on a policy's cost; None before the first round."""
    after = run.after
    if not run.rounds:
        return None
    limits = [at_least(after, sums, after.policies) for sums in after.sums]
    weakest = min(range(len(limits)), key=limits.__getitem__)
    observed, quantity = regret(run)
    return Bound(
        outward(run.loss * (1.0 + (run.rounds + 4) * UNIT) - after.top * limits[weakest]),
        [*game(run), *([] if after.rule == "log" else [same_losses(run)]), *draws(run)],
        {**common(after), "loss": run.loss, "weakest": weakest, "costs_at_least": after.top * limits[weakest],
         "gammas": len(after.gammas), "delta": after.delta, "when": "at all rounds at once"},
        observed=observed,
        trivial=run.loss,
        quantity=quantity,
        why="no loss is below 0",
        void=why_void(run),
    )  # fmt: skip
