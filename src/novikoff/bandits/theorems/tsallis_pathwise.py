"""Loss of Tsallis-INF against its estimates: on every stream.

Theorem (upper)
    With eta_t = 1/sqrt t, arms are drawn with the probabilities p that minimise the sum of
    p(i) E_i - (2/eta_t) sqrt p(i), and E_I grows by e = l/p(I). For all losses in [0, 1] and all draws,
        S  <=  the least E_i  +  the sum of (2 * sum of sqrt p(i) - 2)(sqrt t - sqrt(t-1))
                              +  the sum of eta_t e^2 p(I)^(3/2) / (1 + eta_t e sqrt p(I)).
    Every number in it was observed. observable_regret.py bounds the distance of E_i from the loss of arm i.
Assumptions
    losses are in [0, 1] (checked); the learner started untrained (checked); it learned from the recorded losses
    (checked); its probabilities sum to 1 (checked).
Proof
    Let F_t(E) be the minimum of <p, E> - (2/eta_t) sum of sqrt p(i) over probabilities p. For each arm i, at its
    vertex of the simplex, F_T(E_T) <= E_i - 2/eta_T. Sum the decreases from F_{t-1}(E_{t-1}) to F_t(E_t) over t: a
    smaller rate lowers F at the probabilities p_t by at most (2 sum of sqrt p_t(i))(1/eta_t - 1/eta_{t-1}), and the
    vertex gives 2/eta_T back, the sum of 2 (1/eta_t - 1/eta_{t-1}). An estimate adds to F_t, with
    E_i - x = y_i = 1/(eta_t sqrt p(i)) and x fixed (which can only lower F), 1/(eta_t^2 y) - 1/(eta_t^2 (y + e)) for
    the arm drawn; p(I) e = l exceeds that by
        e/(eta_t^2 y^2) - e/(eta_t^2 y (y + e))  =  e^2 p(I) / (y + e),
    the term of the last sum. []
Reference
    [zimmert2021].
"""

from __future__ import annotations

from novikoff.bandits.theorems.bandit_facts import BanditFacts, common, game, rounding, same_losses, why_void
from novikoff.core.certificate import Bound, Words, outward, rule, seen, theorem
from novikoff.core.types import Run


@theorem(
    "D",
    "zimmert2021",
    quantity="loss",
    where=rule("tsallis"),
    words=Words(
        covers="Tsallis-INF",
        why="the smallest estimated loss is {least_estimate:up}; the cost of estimating was summed over the rounds",
    ),
)
def tsallis_pathwise(run: Run[BanditFacts]) -> Bound:
    """Return the least estimate + the sum over the rounds."""
    after = run.after
    limit = outward(after.least + after.spent + rounding(after))
    return Bound(
        limit,
        [
            *game(run),
            seen("its probabilities sum to 1", after.off <= 1e-9),
            *(() if run.loss > limit else (same_losses(run),)),
        ],
        {**common(after), "least_estimate": after.least, "spent": after.spent},
        observed=run.loss,
        trivial=run.rounds,
        why="no loss is above 1",
        void=why_void(run),
    )
