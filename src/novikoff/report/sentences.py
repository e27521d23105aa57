"""Games and certificates in plain words: a sentence for each theorem, for whoever tells of them.

Every number in a sentence is rounded outward: what it says is promised too. A theorem without words of its own is told
by what its certificate says.
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

from novikoff.certificate import Certificate, Side, bound_text, number, outward
from novikoff.errors import counted
from novikoff.ledger import Ledger
from novikoff.player import Player

NAMED, MOST = 0.05, 4
"""The weight from which on a forecaster is named, and how many are."""
FIGURES = 4
"""Of a number that explains."""


@dataclass(frozen=True, slots=True)
class Words:
    """What is special to a theorem.

    covers   completes "This promise is for …"
    why      completes "Why: …"; the first whose quantities are known. {norm:up} is rounded up, {margin:down} down
    """

    covers: str
    why: tuple[str, ...] = ()


LINEAR = "there is a linear classifier of length {norm:up}"
CURVED = "there is a classifier of the kernel, of length {norm:up},"
ROWS = "and no row is longer than {R:up}"
SEPARABLE = "rows that {} separates without a single exception"
TARGET = "all its answers fit one target, {witness}: nobody could have promised fewer"
NO_COINS = "a learner that draws nothing"
DRAWS = "examples that are independent draws of one distribution"
RATE = "weights that fall exponentially with the loss, at a rate that"

WORDS: dict[str, Words] = {
    "perceptron_margin": Words(
        SEPARABLE.format("a linear classifier"),
        ("a linear classifier separates these rows with a margin of {margin:down}, " + ROWS,),
    ),
    "perceptron_hinge": Words(
        "the Perceptron on any rows", (LINEAR + " whose total hinge loss on these rows is {hinge:up}, " + ROWS,)
    ),
    "perceptron_squared_hinge": Words(
        "the Perceptron on any rows",
        (LINEAR + " whose squared hinge losses on these rows add up to {squared_hinge:up}, " + ROWS,),
    ),
    "perceptron_lengths": Words(
        "the Perceptron on any rows",
        (
            LINEAR + " whose total hinge loss on these rows, with a charge for the length of each row, is {hinge:up}, "
            + ROWS,
        ),
    ),
    "kernel_margin": Words(
        SEPARABLE.format("a classifier of the kernel"),
        ("a classifier of the kernel separates these rows with a margin of {margin:down}, " + ROWS + " in the "
         "kernel's space",),
    ),
    "kernel_hinge": Words(
        "the kernel Perceptron on any rows",
        (CURVED + " whose total hinge loss on these rows is {hinge:up}, " + ROWS + " in the kernel's space",),
    ),
    "kernel_squared_hinge": Words(
        "the kernel Perceptron on any rows",
        (CURVED + " whose squared hinge losses on these rows add up to {squared_hinge:up}",),
    ),
    "kernel_lengths": Words(
        "the kernel Perceptron on any rows",
        (CURVED + " whose total hinge loss on these rows, with a charge for the length of each row, is {hinge:up}",),
    ),
    "cks_cache": Words(
        SEPARABLE.format("a classifier of the kernel"),
        ("a classifier of the kernel separates these rows with a margin of {margin:down}, " + ROWS + " in the "
         "kernel's space",),
    ),
    "forgetron_pathwise": Words(
        "the Forgetron on any rows",
        (CURVED + " whose total hinge loss is {hinge:up}, and forgetting {evictions} examples cost no more than is "
         "counted",),
    ),
    "forgetron_theorem": Words(
        "a Forgetron with a budget large enough for short classifiers",
        (CURVED + " whose total hinge loss is {hinge:up}: short enough, {U:down} at most, for a budget of {budget}",),
    ),
    "rbp_expected": Words(
        "a budget from which a random example leaves",
        (CURVED + " whose total hinge loss is {hinge:up}, with a budget of {budget}",),
    ),
    "rbp_no_eviction": Words(
        "a budget that was never full",
        (CURVED + " whose total hinge loss is {hinge:up}; with a budget of {budget} no example had to leave",),
    ),
    "ellipsoid_margin": Words(
        SEPARABLE.format("a linear classifier"),
        ("a linear classifier separates these rows with a margin of {margin:down} of their lengths; each mistake "
         "shrinks an ellipsoid of {width} dimensions that must keep it",),
    ),
    "ellipsoid_given_margin": Words(
        SEPARABLE.format("a linear classifier with the margin that was given"),
        ("a linear classifier separates these rows with a margin of {margin:down}, more than the {level:up} that was "
         "given; each mistake shrinks an ellipsoid of {width} dimensions that must keep it",),
    ),
    "ellipsoid_grid": Words(
        "targets on the grid that was named",
        ("a linear classifier on the grid of {grid} separates these rows; each mistake shrinks an ellipsoid of "
         "{width} dimensions that must keep it",),
    ),
    "halving_mistakes": Words(
        "labels that at least one hypothesis gets right every time",
        (
            "{hypotheses} hypotheses began, weighing {weight_before} together; right every time: {survivors}, weighing "
            "{weight_after}. Every mistake removes at least half of the weight still in play",
            "{hypotheses} hypotheses began; right every time: {survivors}. Every mistake removes at least "
            "half of those still in play",
        ),
    ),
    "halving_restarts": Words(
        "a learner that began again when no hypothesis was left",
        ("it began again {restarts} times, and between two beginnings makes at most {mistakes_per_phase} mistakes",),
    ),
    "consistent_mistakes": Words(
        "labels that at least one hypothesis gets right every time",
        ("{hypotheses} hypotheses began; right every time: {survivors}; and every mistake removes at least one",),
    ),
    "consistent_expected": Words(
        "labels that at least one hypothesis gets right every time",
        ("{hypotheses} hypotheses began; right every time: {survivors}; and each round it follows one of those "
         "left, drawn at random",),
    ),
    "cover_restarts": Words(
        "rows that a linear classifier separates with a margin",
        ("{hypotheses} directions began, in cover {covers}; right every time: {survivors}; every mistake removes at "
         "least half of those still in play",),
    ),
    "tightest_box_mistakes": Words(
        "labels of a box on a grid",
        ("each mistake begins the box ({created}) or moves one of its sides ({grown} steps)",),
    ),
    "weighted_majority_mistakes": Words(
        "a vote in which those that err lose weight",
        (
            "the best of {hypotheses} hypotheses made {best_mistakes} mistakes; each mistake multiplies the weight "
            "of those that erred by {beta}",
            "each mistake multiplies the weight of those that erred, of {hypotheses} hypotheses, by {beta}",
        ),
    ),
    "hedge_mistakes": Words(
        "a team with a learner that has a bound of its own",
        ("a learner of the team promises at most {its_bound:up} ({its_theorem}), and not knowing which is "
         "best costs the rest",),
    ),
    "hedge_expected": Words(
        "a team with a learner that has a bound on average over its coins",
        ("a learner of the team promises at most {its_bound:up} ({its_theorem}), and not knowing which is "
         "best costs the rest",),
    ),
    "ada_hedge_regret": Words("weights at a rate that adapts to what was lost"),
    "anytime_regret": Words(f"{RATE} falls with the rounds"),
    "doubling_regret": Words(f"{RATE} falls whenever the rounds have doubled", ("over {epochs} epochs",)),
    "exp_concave_regret": Words("a mixture of forecasts whose loss is curved enough"),
    "specialists_regret": Words(
        "a mixture of copies begun at different times",
        ("the copy that began with the first round lost {steady_loss:up}, and to mix others in costs at most "
         "{price:up}",),
    ),
    "specialists_promise": Words(
        "a mixture of copies begun at different times",
        ("the copy that began with the first round promises at most {promised:up} ({by}), and to mix others in costs "
         "at most 0.6932",),
    ),
    "stretch_regret": Words(
        "every stretch of blocks, against a copy begun with it",
        ("each of the {stretches} stretches that are over was looked at: on none of them more was lost than the copy "
         "begun with it lost, and its price",),
    ),
    "ftrl_suffix": Words(
        "follow the regularised leader from any round on",
        ("the weights that it had after round {after} would have lost {comparator_loss:up} in the rounds since",),
    ),
    "fixed_rate_regret": Words(f"{RATE} never changes"),
    "fixed_share_regret": Words(
        "weights that are shared anew in every round", ("against the best sequence with {switches} switches",)
    ),
    "mixability_gaps": Words(f"{RATE} never rises", ("what mixing cost was added up round by round",)),
    "sleeping_regret": Words(
        "experts that may sleep", ("it is counted in the {awake} rounds in which the expert was awake",)
    ),
    "small_losses": Words(
        f"{RATE} never changes",
        ("the comparator lost {comparator_loss:up}, and the learner at most {factor:up} times that, and a price for "
         "not knowing it",),
    ),
    "coverage_deviation": Words(
        "thresholds that move by a fixed step",
        (
            "every miss moves the threshold of its group up, other rounds down, and it cannot leave a short range: "
            "in {groups} groups, {group} was farthest, with {misses} misses in {rounds_counted} rounds",
            "every miss moves the threshold up and every other round down, and it cannot leave a short range: "
            "{misses} misses in {rounds_counted} rounds",
        ),
    ),
    "coverage_governed": Words(
        "any rule for sets under the governor",
        ("a set is everything where misses are {band:up} too many, and nothing where they are as many too few",),
    ),
    "coverage_pinball": Words(
        "thresholds that move by a fixed step", ("the best threshold that never changes is {best_threshold:up}",)
    ),
    "drawn_loss": Words(
        "losses that do not depend on the draw of their round",
        ("the expected losses add up to {expected_loss:up}, and the coins fall far from that rarely",),
    ),
    "observable_regret": Words(
        "arms that were drawn with known chances",
        ("what was played cost {loss:up}, and by what was seen of it each of {experts} experts costs at least "
         "{costs_at_least:down}",
         "what was played cost {loss:up}, and by what was seen of it every arm, played always, costs at least "
         "{costs_at_least:down}"),
    ),
    "ix_pathwise": Words(
        "weights that fall exponentially with estimates of the loss",
        ("its least estimate is {least_estimate:up}, and what guessing cost was added up round by round",),
    ),
    "ix_regret": Words(
        "weights that fall exponentially with estimates of the loss",
        ("so much can be told in advance, for every table of losses",),
    ),
    "tsallis_pathwise": Words(
        "Tsallis-INF",
        ("its least estimate is {least_estimate:up}, and what guessing cost was added up round by round",),
    ),
    "tsallis_regret": Words(
        "Tsallis-INF on a table that was fixed in advance",
        ("so much can be told in advance, for every table of losses",),
    ),
    "auto_regression_regret": Words(
        "numbers to be predicted from any rows",
        ("the best weights that its member {member} could have had lose {best_in_hindsight:up}; to learn them costs it "
         "at most {chi:up}, to mix the members {mixture:up}, and to learn the range of the outcomes {range:up}",
         "who says the last outcome again loses {member_loss:up}, and to mix the members costs {mixture:up}"),
    ),
    "online_gradient_regret": Words(
        "steps against the gradient of a convex loss", ("no weights of length {radius:up} or less do better by more",)
    ),
    "average_risk": Words(DRAWS, ("its mean loss on examples it had not seen is that, but for chance",)),
    "average_risk_always": Words(DRAWS, ("its mean loss on examples it had not seen is that, but for chance",)),
    "best_risk": Words(
        DRAWS, ("it was fixed after {first} examples and judged on the {trials} that followed: {errors} errors",)
    ),
    "ensemble_risk": Words(
        DRAWS,
        (
            "they made {mistakes} mistakes on {rounds} examples that each of them had not seen",
            "their Brier scores on {rounds} examples that each of them had not seen add up to {brier} at most",
        ),
    ),
    "ensemble_risk_fixed": Words(
        DRAWS,
        (
            "they made {mistakes} mistakes on {rounds} examples that each of them had not seen",
            "their Brier scores on {rounds} examples that each of them had not seen add up to {brier} at most",
        ),
    ),
    "voted_risk": Words(
        DRAWS,
        ("a vote errs at most twice as often as those who vote, and they made {mistakes} mistakes on {rounds} new "
         "examples",),
    ),
    "bisection_forced": Words(NO_COINS, (TARGET,)),
    "budget_forced": Words(
        NO_COINS, ("it has {vectors} vectors, one more than the learner can keep; all its answers fit one target, "
        "{witness}",)
    ),
    "grid_bisection_forced": Words(NO_COINS, (TARGET,)),
    "majority_flip_forced": Words(NO_COINS, ("every label fits {points} points, of which {shown} were shown",)),
    "orthogonal_forced": Words(
        NO_COINS, ("its {vectors} vectors are at right angles, so a linear classifier fits whatever it answers",)
    ),
    "coin_flip_regret": Words("labels that are coins", ("the best constant, {witness}, made {best_mistakes} "
    "mistakes",)),
    "contrarian_regret": Words(NO_COINS, ("the best constant, {witness}, made {best_mistakes} mistakes",)),
}  # fmt: skip


class _Outward(string.Formatter):
    """Quantities in a sentence: `up` and `down` say where to round."""

    def format_field(self, value: Any, spec: str) -> str:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return str(value)
        if isinstance(value, int) and value.bit_length() > 100:
            return f"about 2^{value.bit_length() - 1}"
        return rounded(value, "lower" if spec == "down" else "upper")


def rounded(value: int | float, side: Side, figures: int = FIGURES) -> str:
    """A number with a few figures, rounded outward; a count as it is."""
    if isinstance(value, int) or not math.isfinite(value):
        return number(value)
    context = Context(prec=figures, rounding=ROUND_CEILING if side == "upper" else ROUND_FLOOR)
    told = float(context.create_decimal(repr(value)))
    return f"{told:,.0f}" if 10.0**figures <= abs(told) < 1e15 else f"{told:,.{figures}g}"


def sentence(certificate: Certificate, claimed: bool = False) -> str:
    """What a certificate says, why, and what it rests on; `claimed`: what it says was said before."""
    if certificate.status == "violated":
        broken = f"A proven promise was broken ({certificate.comparison()})."
        return f"{broken} That is a bug in novikoff: please report it, with what was played."
    if certificate.status == "void" or certificate.bound is None:
        words = WORDS.get(certificate.theorem)
        begin = f"This promise is for {words.covers}. " if words else ""
        return f"{begin}It does not apply here: {certificate.reason}."
    if certificate.status == "vacuous":
        return _nothing(certificate)
    trusted = [one.claim for one in certificate.assumptions if one.standing == "trusted"]
    parts = [f"If {', and '.join(trusted)}: {claim(certificate)}."] if trusted else []
    if not trusted and not claimed:
        parts = [_capital(claim(certificate)) + "."]
    if certificate.kind == "P" and "delta" in certificate.quantities:
        parts.append(
            f"Statements made in this way are false in at most {percent(certificate.quantities['delta'])} of runs."
        )
    if reason := why(certificate):
        parts.append(f"Why: {reason}.")
    return " ".join([*parts, *rests_on(certificate)])


def claim(certificate: Certificate) -> str:
    """What is promised, beside what happened."""
    side, quantity = certificate.side, certificate.quantity
    observed = bound_text(certificate.observed, side)
    bound = "" if certificate.bound is None else bound_text(certificate.bound, side)
    if side == "lower":
        on = " on average over its coins" if certificate.kind == "E" else ""
        if quantity == "mistakes":
            return f"the adversary promised to force at least {bound} mistakes{on}, and forced {observed}"
        return f"the adversary promised to force a {quantity} of at least {bound}{on}; it was {observed}"
    if quantity == "risk":
        return f"the classifier that was kept is wrong on at most {percent(certificate.bound)} of new examples"
    if quantity == "mean risk":
        return f"its hypotheses are wrong, on average, on at most {percent(certificate.bound)} of new examples"
    if quantity == "risk of the average":
        return f"the mean of its weights loses at most {bound} on a new example, on average"
    if "regret" in quantity and certificate.kind == "E":
        return f"on average over its coins its regret is at most {bound}; in this run its {quantity} is {observed}"
    if certificate.kind == "E":
        return f"on average over its coins it makes at most {bound} mistakes; in this run {observed}"
    if quantity == "mistakes":
        return f"it made {observed} mistakes; the theorem allows at most {bound}"
    if quantity == "expected mistakes":
        return f"its chances of a mistake add up to {observed}; the theorem allows at most {bound}"
    if quantity == "deviation of coverage":
        where = f" of group {certificate.quantities['group']}" if "group" in certificate.quantities else ""
        return f"the share of misses{where} is {observed} from the one asked for; the theorem allows at most {bound}"
    if quantity == "supports":
        return f"it keeps {observed} examples; the theorem allows at most {bound}"
    return f"its {quantity} is {observed}; the theorem allows at most {bound}"


def why(certificate: Certificate) -> str:
    """From what the bound follows; "" if the theorem has no words for it."""
    words = WORDS.get(certificate.theorem)
    for text in words.why if words else ():
        try:
            return _Outward().format(text, **certificate.quantities)
        except KeyError:
            continue
    return ""


def rests_on(certificate: Certificate) -> Iterator[str]:
    """What is assumed, and what was checked."""
    checked = sum(one.standing == "checked" for one in certificate.assumptions)
    seen = {0: "", 1: "what it needs was checked"}.get(checked, f"the {checked} things it needs were checked")
    trusted = any(one.standing == "trusted" for one in certificate.assumptions)
    told = ""
    if certificate.kind == "D" and "regret" in certificate.quantity and not trusted:
        told = "It holds whatever comes, even if an enemy makes it up round by round"
    elif certificate.kind == "D" and certificate.side == "upper" and not trusted:
        told = "This is arithmetic about this very run: nothing is assumed of where rows come from"
    if told or seen:
        yield (f"{told}; {seen}." if seen else f"{told}.") if told else f"{_capital(seen)}."


def _nothing(certificate: Certificate) -> str:
    bound = bound_text(certificate.bound or 0, certificate.side)
    if certificate.side == "lower":
        return f"True, but it tells nothing here: at least {bound} is promised, which is always so."
    trivial = number(certificate.trivial)
    if "mistakes" in certificate.quantity:
        return (
            f"True, but it tells nothing here: the bound is {bound}, and nobody can make more than {trivial} mistakes."
        )
    _, _, reason = certificate.reason.partition(": ")
    told = f" ({reason})" if reason else ""
    return f"True, but it tells nothing here: the bound is {bound}, and {trivial} is no promise{told}."


def lead(ledger: Ledger, certificates: Sequence[Certificate]) -> str:
    """The first sentence: what happened, what a constant would have done, what was allowed."""
    parts = [_happened(ledger)]
    constant = ledger.best_constant
    if ledger.adversary is not None:
        parts += [_capital(claim(one), False) for one in certificates if one.side == "lower" and one.holds][:1]
    elif constant is not None and ledger.counts:
        parts.append(f"{always(ledger)} makes {constant.costs:,}")
    elif constant is not None:
        parts.append(f"{always(ledger)} loses {number(constant.costs)}")
    if best := tightest(certificates):
        where = "on exactly these rows " if ledger.adversary is None else ""
        if best.quantity == "mistakes" and best.kind == "D":
            parts.append(f"{where}the theorem allows at most {bound_text(best.bound or 0, 'upper')}")
        elif "mistakes" in best.quantity:
            parts.append(f"{where}the theorem allows {bound_text(best.bound or 0, 'upper')} on average over its coins")
        elif "regret" in best.quantity:
            article = "an" if best.quantity.startswith("e") else "a"
            parts.append(
                f"the theorem allows {article} {best.quantity} of at most {bound_text(best.bound or 0, 'upper')}"
            )
    return "; ".join(parts) + "."


def worse(ledger: Ledger, certificates: Sequence[Certificate]) -> Iterator[str]:
    """Said plainly: the learner, or its bound, is worse than the best constant."""
    constant, best = ledger.best_constant, tightest(certificates)
    if constant is None or ledger.adversary is not None or not ledger.rounds:
        return
    if ledger.loss > constant.costs:
        yield f"It did worse than {always(ledger)}, which learns nothing."
    most = None if best is None else allowed(ledger, best)
    if most is not None and most > constant.costs:
        costs = f"makes {constant.costs:,}" if ledger.counts else f"loses {number(constant.costs)}"
        told = f"it allows {bound_text(most, 'upper')}, and {always(ledger)} {costs}"
        yield f"The bound says less than a constant does: {told}."


def allowed(ledger: Ledger, certificate: Certificate) -> int | float | None:
    """How many mistakes, or what loss, a certificate allows; None if it does not say."""
    told, quantity = certificate.quantities, certificate.quantity
    if certificate.bound is None or (ledger.counts and quantity not in ("mistakes", "expected mistakes")):
        return None
    if ledger.counts:
        return certificate.bound
    against = quantity == f"regret against the {told.get('comparator')}" and certificate.status != "vacuous"
    return outward(certificate.bound + told["comparator_loss"]) if against else None


def bounding(ledger: Ledger, certificates: Sequence[Certificate]) -> Certificate | None:
    """The tightest that says something of the mistakes, or of the loss; None if none does."""
    found = (one for one in certificates if one.side == "upper" and allowed(ledger, one) is not None)
    best = next(found, None)
    return None if best is None or best.status == "vacuous" else best


def always(ledger: Ledger) -> str:
    """The best constant in words; the outcomes of forecasts may be texts, of which the ledger knows nothing."""
    constant = ledger.best_constant
    if constant is None:
        return ""
    if ledger.counts:
        return f"always saying {'the most frequent outcome' if ledger.player.pays else label(ledger, constant.says)}"
    return f"always saying {number(constant.says)}"


def tightest(certificates: Sequence[Certificate]) -> Certificate | None:
    """The best upper bound that says something of the mistakes, or the regret, of this run; None if none does."""
    found = (one for one in certificates if one.side == "upper" and one.status in ("valid", "conditional"))
    return next((one for one in found if "mistakes" in one.quantity or "regret" in one.quantity), None)


def rates(ledger: Ledger) -> str:
    """Precision, recall and F1 of +1, and what one has who always says +1; "" where there are none."""
    told = (("precision", ledger.precision), ("recall", ledger.recall), ("F1", ledger.f1))
    known = [f"{name} {about(value)}" for name, value in told if value is not None and ledger.adversary is None]
    if not known:
        return ""
    share, name = ledger.positives / ledger.rounds, label(ledger, ledger.label(1))
    constant = f"; always saying {name}: {about(share)}, 100 %, {about(2 * share / (1 + share))}" if share else ""
    return f"For {name}: {', '.join(known)}{constant}."


def ranked(ledger: Ledger) -> str:
    """How well the scores rank the labels; "" where that is not known."""
    area = ledger.auc if ledger.adversary is None else None
    if area is None:
        return ""
    low, high = math.floor(1e4 * area.low) / 1e4, math.ceil(1e4 * area.high) / 1e4
    within = f"for certain from {low:.4f} to {high:.4f}; " if area.low < area.high else ""
    return f"AUC {area.value:.4f} ({within}scores at random: 0.5)."


def forecasters(ledger: Ledger) -> list[tuple[str, float, float]]:
    """Of a mixture: the name, the mean weight over all rounds and the weight now of each, the heaviest first."""
    shares, within = ledger.player.shares, ledger.player.within
    if not len(shares) or not ledger.rounds:
        return []
    parts = zip(within.names, map(float, shares), map(float, within.weights), strict=True)  # type: ignore[attr-defined]
    return sorted(parts, key=lambda part: -part[1])


def carried(ledger: Ledger, certificates: Sequence[Certificate]) -> str:
    """Who carried the predictions of a mixture, and who promises the least; "" if it is none."""
    parts = [part for part in forecasters(ledger) if max(part[1:]) >= NAMED][:MOST]
    if not parts:
        return ""
    told = ", ".join(f"{name} {about(share)} (now {about(now)})" for name, share, now in parts)
    promised = next((one.quantities["member"] for one in certificates if "member" in one.quantities), None)
    return f"Mean weights: {told}." + (f" The smallest promise is that of {promised}." if promised else "")


def named(ledger: Ledger) -> str:
    """What the user's labels stand for; "" if they are -1 and +1."""
    if ledger.labels is None or ledger.labels == [-1, 1] or ledger.learner.labels is not None:
        return ""
    return f"Labels: {ledger.labels[1]} is +1, {ledger.labels[0]} is -1."


def scaled(ledger: Ledger) -> str:
    """That certificates speak of rows as the learner saw them; "" if they were not scaled."""
    if not any(Player(one).changes_examples for one in (ledger.learner, *ledger.player.members)):
        return ""
    return "Rows were scaled as they came: what is said of classifiers, lengths and margins is of the scaled rows."


def label(ledger: Ledger, value: Any) -> str:
    """A label as the user calls it; with its sign, where it is one."""
    signs = ledger.learner.labels is None and ledger.labels in (None, [-1, 1])
    return f"{value:+d}" if signs and value in (-1, 1) else str(value)


def about(share: float) -> str:
    """A share of what happened: 3.8 %, 36.7 %."""
    return f"{100 * share:.{2 if share < 0.0995 else 3}g} %"


def percent(bound: float | None) -> str:
    """A share that is promised, never less than it is."""
    return (
        f"{float(Context(prec=3, rounding=ROUND_CEILING).create_decimal_from_float(100.0 * float(bound or 0))):.3g} %"
    )


def _happened(ledger: Ledger) -> str:
    rounds = counted(ledger.rounds, "round")
    drawn = "" if ledger.deterministic else f", {number(ledger.expected)} expected"
    if not ledger.counts:
        return f"loss {number(ledger.loss)} in {rounds} ({number(ledger.loss_rate)} a round{drawn})"
    made = counted(ledger.mistakes, "mistake")
    return f"{made} in {rounds} ({about(ledger.mistake_rate)}{drawn})"


def _capital(text: str, large: bool = True) -> str:
    return (text[:1].upper() if large else text[:1].lower()) + text[1:]
