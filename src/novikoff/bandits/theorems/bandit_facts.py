"""What the theorems on bandits need to know of a learner, or of a log, and what they share.

Words
    I_t, p_t    the arm that was drawn in round t, and the chance that it had
    l_t(i)      the loss of arm i in round t, in [0, 1]: only l_t(I_t) is seen
    L_i         the sum of l_t(i): what always playing arm i would have cost. Nobody sees it but who knows the table
    S           the sum of l_t(I_t): what the arms that were played cost
    Of a policy, which gives arm i the chance q_t(i): l_t is the mean of l_t(i), L its sum. Always playing arm i is one.
Regret
    S less the least L. It is not observed, unless the game is on a table that is known (a simulation): there what is
    told is the regret. Elsewhere it is an estimate, and called so: S less the least sum of
    q_t(I_t) l_t(I_t) / (p_t + gamma), with the smallest gamma of the grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from novikoff.core.certificate import Assumption, seen
from novikoff.core.types import Run

DELTA = 0.05
GAMMAS = tuple(10.0 ** (-k / 2) for k in range(2, 9))
"""10^-1, 10^-1.5, ..., 10^-4: the grid, fixed before any round."""

UNIT = 2.0**-52


@dataclass(frozen=True, slots=True)
class BanditFacts:
    """One bandit, or one log, now.

    rule         "ix" (exp3-ix, exp4), "tsallis", or "log"
    rounds       from its first
    arms         K
    policies     N that it is compared with: the arms, or the experts
    lost         S
    top          what a loss of 1 stands for, in the units of the log
    gammas       the grid
    sums         of each policy, for each gamma: the sum of q(I) l / (p + gamma)
    table        every loss of every arm is known: the game is a simulation
    best         the policy with the least L, the first of equals; -1 if no table is known
    best_loss    and its L; 0 if no table is known
    eta, rates   the last rate, and the sum of all, with what exploration adds to each
    worst        the most that exploration made of a rate, as a factor
    horizon      the rounds it was told to expect; 0 if it was not
    halved       gamma was half of the rate, which the theorem in advance needs
    least        the least of the sums that its own estimates add up to
    most         and the largest
    spent        what the pathwise bound adds up, round by round
    off          the most that its chances were away from a sum of 1
    delta        the chance with which a limit may fail
    named        it was told how many arms there are
    suspect      why the probabilities of a log cannot be those of its draws; "" if they may be
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "gammas", tuple(self.gammas))  # lists, when they come from a file
        object.__setattr__(self, "sums", tuple(map(tuple, self.sums)))


def at_least(facts: BanditFacts, sums: tuple[float, ...], statements: int) -> float:
    """max over the grid of sum - ln(statements * C / delta) / (2 gamma), rounded down (observable_regret.py)."""
    level = math.log(statements * len(facts.gammas) / facts.delta)
    short = (facts.rounds + 4) * UNIT
    return max(
        total * (1.0 - short) - level * (1.0 + 1e-12) / (2.0 * (gamma - facts.arms * 4.0 * UNIT))
        for total, gamma in zip(sums, facts.gammas, strict=True)
    )


def regret(run: Run[BanditFacts]) -> tuple[float, str]:
    """What was paid more than by the best policy, and what to call that: the truth, or an estimate."""
    after = run.after
    if after.table:
        return run.loss - after.best_loss, "regret"
    finest = after.gammas.index(min(after.gammas))
    return after.top * (run.loss / after.top - min(sums[finest] for sums in after.sums)), "estimated regret"


def why_void(run: Run[BanditFacts]) -> str:
    """Why nothing can be said of this run; "" if something can."""
    if run.before.rounds:
        return f"warm start: the learner had played {run.before.rounds:,} rounds when the game started"
    after = run.after
    numbers = (after.lost, after.rates, after.least, after.most, after.spent, run.loss)
    return "" if all(map(math.isfinite, numbers)) else "a sum is not finite"


def game(run: Run[BanditFacts]) -> list[Assumption]:
    """What every theorem here needs of the game, and whether it was seen to hold; a log is no game."""
    after = run.after
    if after.rule == "log":
        return [Assumption("every loss is in its range", "checked")]
    whole = after.rounds - run.before.rounds == run.rounds
    return [
        Assumption("every loss is in its range", "checked"),
        seen("the ledger recorded every round the learner learned from", whole),
    ]


def own_books(run: Run[BanditFacts]) -> Assumption:
    """Did it learn from what it paid?"""
    after = run.after
    same = abs(after.lost * after.top - run.loss) <= 1e-9 * (1.0 + run.loss) + run.rounds * UNIT * run.loss
    return seen("it learned from the recorded losses", same)


def draws(run: Run[BanditFacts]) -> list[Assumption]:
    """What theorems on chances need: draws by the chances that are told, of losses that do not know them."""
    after = run.after
    blind = Assumption("the losses of a round were fixed before its draw", "checked" if run.fixed else "trusted")
    if after.rule != "log":
        return [blind, seen("its probabilities sum to 1", after.off <= 1e-9)]
    law = "the logged probabilities are those the arms were drawn with"
    found = [blind, Assumption(f"{law} ({after.suspect})" if after.suspect else law,
                               "refuted" if after.suspect else "trusted")]  # fmt: skip
    if not after.named:
        found.append(Assumption(f"there were no arms other than the {after.arms:,} of the log", "trusted"))
    return found


def rounding(after: BanditFacts) -> float:
    """What rounding may have done to a pathwise bound: in the sums, and in the chances that were played.

    A sum of T numbers that are not negative is off by T 2^-53 of itself, and each estimate by three roundings; the
    chances by their sum over the policies, and by exp, whose exponent is rounded to 2^-53 of 708 at most.
    """
    chances = (4096.0 + after.policies * math.sqrt(after.policies)) * after.rounds
    return UNIT * (chances + (after.rounds + 8.0) * 2.0 * (after.most + after.spent))


def common(after: BanditFacts) -> dict[str, Any]:
    """What there is to tell of every bandit."""
    told: dict[str, Any] = {"arms": after.arms}
    if after.policies != after.arms:
        told["experts"] = after.policies
    if after.table:
        told |= {"best": after.best, "best_loss": after.best_loss}
    return told
