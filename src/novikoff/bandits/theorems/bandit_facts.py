"""Facts of a bandit or a log, and functions shared by the theorems on bandits.

Notation
    I_t, p_t    the arm drawn in round t, and its probability
    l_t(i)      the loss of arm i in round t, in [0, 1]: only l_t(I_t) is observed
    L_i         the sum of l_t(i): the cost of always playing arm i, which is observed in simulations only
    S           the sum of l_t(I_t): the cost of the arms played
    For a policy, which gives arm i the probability q_t(i): l_t is the mean of l_t(i), L its sum. Always playing arm i
    is a policy.
Regret
    S less the least L. It is not observed, unless the game is on a known table (a simulation): there the reported
    value is the regret. Elsewhere it is an estimate, and named so: S less the least sum of
    q_t(I_t) l_t(I_t) / (p_t + gamma), with the smallest gamma of the grid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from novikoff.core.certificate import NO_LARGER, Assumption, Bound, outward, seen, warm_start
from novikoff.core.types import Run

DELTA = 0.05
"""Default failure probability."""
GAMMAS = tuple(10.0 ** (-k / 2) for k in range(2, 9))
"""Grid of gamma, fixed before any round: 10^-1, 10^-1.5, ..., 10^-4."""

UNIT = 2.0**-52
"""Twice the relative error of one rounding."""


@dataclass(frozen=True, slots=True)
class BanditFacts:
    """State of a bandit or a log.

    Attributes:
        rule: "ix" (exp3-ix, exp4), "tsallis", "log", "ucb1", "explore-then-commit" or "thompson".
        rounds: Rounds, from the first.
        arms: Number of arms K.
        policies: Number N of policies to compare with: the arms, or the experts.
        lost: S.
        gammas: The grid.
        sums: For each policy and gamma: the sum of q(I) l / (p + gamma).
        top: Value of a loss of 1, in the units of the log.
        table: Whether every loss of every arm is known: the game is a simulation.
        best: Policy with the least L, the first of equals; -1 if no table is known.
        best_loss: Its L; 0 if no table is known.
        eta: The last rate.
        rates: Sum of the rates, each increased by exploration.
        worst: Largest factor by which exploration increased a rate.
        horizon: Expected number of rounds; 0 if unknown.
        halved: Whether gamma was half of the rate, as the theorem in advance requires.
        least: Least sum of its estimates.
        most: Largest sum of its estimates.
        spent: Sum over the rounds in the pathwise bound.
        off: Largest distance of the sum of its probabilities from 1.
        delta: Probability that a limit fails.
        named: Whether the number of arms was given.
        suspect: Why the probabilities of a log cannot be those of its draws; "" if they can.
        plays: Rounds in which each arm was played; empty for bandits that weight losses.
        means: Mean loss of each arm: in the whole table if it is known, else as observed (NaN if never played).
        source: Where the means of a simulation come from: "means" if they were given, "prior" if they are draws of the
            uniform prior; then `means` are the true ones, and losses are known to be independent. "" elsewhere.
        each: Plays of each arm in the exploration of explore-then-commit.
    """

    rule: str
    rounds: int
    arms: int
    policies: int
    lost: float
    gammas: tuple[float, ...]
    sums: tuple[tuple[float, ...], ...]
    top: float = 1.0
    table: bool = False
    best: int = -1
    best_loss: float = 0.0
    eta: float = 0.0
    rates: float = 0.0
    worst: float = 1.0
    horizon: int = 0
    halved: bool = False
    least: float = 0.0
    most: float = 0.0
    spent: float = 0.0
    off: float = 0.0
    delta: float = DELTA
    named: bool = True
    suspect: str = ""
    plays: tuple[int, ...] = ()
    means: tuple[float, ...] = ()
    source: str = ""
    each: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gammas", tuple(self.gammas))  # lists, when they come from a file
        object.__setattr__(self, "sums", tuple(map(tuple, self.sums)))
        object.__setattr__(self, "plays", tuple(self.plays))
        object.__setattr__(self, "means", tuple(self.means))

    @property
    def gaps(self) -> tuple[float, ...]:
        """Mean loss of each arm less the least one; NaN for an arm that was never played."""
        least = min((mean for mean in self.means if mean == mean), default=math.nan)
        return tuple(mean - least for mean in self.means)


def at_least(facts: BanditFacts, sums: tuple[float, ...], statements: int) -> float:
    """Return max over the grid of sum - ln(statements * C / delta) / (2 gamma), rounded down (observable_regret.py)."""
    level = math.log(statements * len(facts.gammas) / facts.delta)
    short = (facts.rounds + 4) * UNIT
    return max(
        total * (1.0 - short) - level * (1.0 + 1e-12) / (2.0 * (gamma - facts.arms * 4.0 * UNIT))
        for total, gamma in zip(sums, facts.gammas, strict=True)
    )


def regret(run: Run[BanditFacts]) -> tuple[float, str]:
    """Return the excess loss over the best policy, and its name: the regret, or an estimate of it."""
    after = run.after
    if after.table:
        return run.loss - after.best_loss, "regret"
    finest = after.gammas.index(min(after.gammas))
    return after.top * (run.loss / after.top - min(sums[finest] for sums in after.sums)), "estimated regret"


def why_void(run: Run[BanditFacts]) -> str:
    """Return why the theorem does not apply to this run; "" if it does."""
    after = run.after
    numbers = (after.lost, after.rates, after.least, after.most, after.spent, run.loss)
    return warm_start(run.before.rounds) or ("" if all(map(math.isfinite, numbers)) else "a sum is not finite")


def game(run: Run[BanditFacts]) -> list[Assumption]:
    """Return the assumptions on the game, and whether they were observed to hold; a log has none."""
    after = run.after
    if after.rule == "log":
        return [Assumption("every loss is in its range", "checked")]
    whole = after.rounds - run.before.rounds == run.rounds
    return [
        Assumption("every loss is in its range", "checked"),
        seen("the ledger recorded every round the learner learned from", whole),
    ]


def same_losses(run: Run[BanditFacts]) -> Assumption:
    """Return the assumption that the bandit learned from the losses it paid."""
    after = run.after
    same = abs(after.lost * after.top - run.loss) <= 1e-9 * (1.0 + run.loss) + run.rounds * UNIT * run.loss
    return seen("it learned from the recorded losses", same)


def draws(run: Run[BanditFacts]) -> list[Assumption]:
    """Return the assumptions on the draws: by the stated probabilities, of losses fixed before the draw."""
    after = run.after
    blind = Assumption("the losses of a round were fixed before its draw", "checked" if run.fixed else "trusted")
    if after.rule != "log":
        return [blind, seen("its probabilities sum to 1", after.off <= 1e-9)]
    claim = "the logged probabilities are those the arms were drawn with"
    found = [blind, Assumption(f"{claim} ({after.suspect})" if after.suspect else claim,
                               "refuted" if after.suspect else "trusted")]  # fmt: skip
    if not after.named:
        found.append(Assumption(f"there were no arms other than the {after.arms:,} of the log", "trusted"))
    return found


def rounding(after: BanditFacts) -> float:
    """Bound the effect of rounding on a pathwise bound, in the sums and in the probabilities played.

    A sum of T nonnegative numbers has a relative error of T 2^-53, and each estimate three roundings; the
    probabilities have the error of their sum over the policies, and of exp, whose exponent is rounded to 2^-53 of
    at most 708.
    """
    chances = (4096.0 + after.policies * math.sqrt(after.policies)) * after.rounds
    return UNIT * (chances + (after.rounds + 8.0) * 2.0 * (after.most + after.spent))


def pseudo_regret(after: BanditFacts) -> tuple[float, str]:
    """Return the sum over the arms of plays * gap, and its name: an estimate, unless the true means are known."""
    found = math.fsum(n * gap for n, gap in zip(after.plays, after.gaps, strict=True) if n)
    return found, "pseudo-regret" if after.source else "estimated pseudo-regret"


def largest(run: Run[BanditFacts]) -> float:
    """Return the largest possible pseudo-regret: T times the largest gap, which is at most 1."""
    return run.rounds * (max(run.after.gaps) if run.after.source else 1.0)


def independent(run: Run[BanditFacts]) -> Assumption:
    """Return the assumption that the losses of each arm are independent draws with a fixed mean."""
    claim = "the rows of losses are independent draws of one distribution"
    return Assumption(claim, "refuted" if run.adaptive else "checked" if run.after.source else "trusted")


def common(after: BanditFacts) -> dict[str, object]:
    """Return the quantities reported of every bandit."""
    found: dict[str, object] = {"arms": after.arms}
    if after.policies != after.arms:
        found["experts"] = after.policies
    if after.table:
        found |= {"best": after.best, "best_loss": after.best_loss}
    return found


def in_expectation(
    run: Run[BanditFacts], limit: float, more: Sequence[Assumption] = (), quantities: Mapping[str, object] | None = None
) -> Bound:
    """Return a bound on the expected pseudo-regret of a stochastic bandit.

    Args:
        run: The game.
        limit: Value of the bound.
        more: Further assumptions, named before that of independent rows.
        quantities: Further quantities of the bound.
    """
    observed, quantity = pseudo_regret(run.after)
    return Bound(
        outward(limit),
        [*game(run), same_losses(run), *more, independent(run)],
        {**common(run.after), **(quantities or {})},
        observed=observed,
        trivial=largest(run),
        quantity=quantity,
        why=NO_LARGER,
        void=why_void(run),
    )
