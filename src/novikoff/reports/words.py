"""The words of each theorem: whom its promise is for, and why it holds (reports/sentences.py makes sentences)."""

from __future__ import annotations

from dataclasses import dataclass


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
    "mixing_mistakes": Words(
        "the Perceptron on shards, mixed after every epoch",
        (LINEAR + " whose hinge loss over all epochs, weighed as shards were, is {hinge:up}, " + ROWS,),
    ),
    "held_risk": Words(
        DRAWS,
        ("of up to {candidates} hypotheses it had the fewest errors on {trials} examples held back: {errors}",),
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
    "delayed_mistakes": Words(
        "answers whose labels come late",
        ("played in the order in which the labels came, it makes at most {its_bound} mistakes ({its_theorem}), and "
         "{changed} answers changed while their labels were on the way",),
    ),
    "delayed_conservative": Words(
        "answers whose labels come late, of a learner that changes on its mistakes only",
        ("played in the order in which the labels came, it makes at most {its_bound} mistakes ({its_theorem}), and at "
         "most {others} other rounds were waiting when a label came",),
    ),
    "delayed_drawn": Words(
        "answers that were drawn, whose labels come late and do not depend on the draw",
        ("played in the order in which the labels came, it makes at most {its_bound} mistakes but for rare coins "
         "({its_theorem}), and {changed} answers were others when their labels came",),
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
    "many_mistakes": Words(
        "a Perceptron for many labels on any rows",
        ("there are weights for the {labels} labels whose hinge losses on these rows add up to {hinge:up}; labels that "
         "nobody could know add {new}",),
    ),
    "convex_regret": Words(
        "follow the regularised leader with a convex loss",
        ("there is a linear predictor that loses {comparator_loss:up} on these rows; its size in the learner's metric "
         "costs {penalty:up}, and learning it {delta:up}",),
    ),
    "convex_mistakes": Words(
        "follow the regularised leader with the hinge loss",
        ("there is a linear classifier whose total hinge loss on these rows is {comparator_loss:up}; its size in the "
         "learner's metric costs {penalty:up}, and learning it {delta:up}",),
    ),
    "many_auto_regret": Words(
        "a mixture of forecasters of many labels, on any rows",
        ("there are weights for the {labels} labels whose log losses on these rows add up to {comparator_loss:up}; "
         "their length costs {penalty:up}, learning them {delta:up}, where the learner took losses for more "
         "{deficit:up}, the mixture {mixture:up}, and labels that nobody could know {novelty:up}. That is promised by "
         "its member {member}; best was {best}, with {best_loss:up}",),
    ),
    "many_auto_members": Words(
        "a mixture of forecasters of many labels, against the best of them",
        ("its member {member} lost {member_loss:up} in these rounds, to mix it with others costs {mixture:up}, and "
         "labels that nobody could know {novelty:up}",),
    ),
    "many_kernel_mistakes": Words(
        "a kernel Perceptron for many labels on any rows",
        ("there are functions of the kernel for the {labels} labels, of length {norm:up} together, whose hinge "
         "losses on these rows add up to {hinge:up}, " + ROWS + " in the kernel's space; labels that nobody could know "
         "add {new}",),
    ),
    "many_logistic_regret": Words(
        "logistic regression of each label against the rest, on any rows",
        ("for each of the {labels} labels there are weights that tell it from the rest, whose log losses on these rows "
         "add up to {comparator_loss:up}; their length costs {penalty:up}, learning them {delta:up}, where the learner "
         "took losses for more {deficit:up}, and labels that nobody could know {novelty:up}; all of them together cost "
         "{surplus:down} less than one by one",),
    ),
    "many_regret": Words(
        "follow the regularised leader with many labels, on any rows",
        ("there are weights for the {labels} labels whose log losses on these rows add up to {comparator_loss:up}, "
         "their length costs {penalty:up}, learning them {delta:up}, and labels that nobody could know {novelty:up}",),
    ),
    "many_vaw_regret": Words(
        "ridge regression on which of many labels came",
        ("the best weights that the {labels} labels could have had lose {best_in_hindsight:up}, their length among it; "
         "to learn them costs {chi:up}, and labels that nobody could know {novelty:up}",),
    ),
    "ftrl_suffix": Words(
        "follow the regularised leader from any round on",
        ("the weights that it had after round {after}, copied anew whenever the rounds had doubled, would have lost "
         "{comparator_loss:up} in the rounds since",),
    ),
    "auto_frozen": Words(
        "a mixture of logistic regressions from any round on",
        ("its member {member} paid {before:up} in the first {after} rounds, which is observed and not promised; the "
         "weights that it had then, copied anew whenever the rounds had doubled, would have lost {comparator_loss:up} "
         "in the rounds since",),
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
    "coverage_overlapping": Words(
        "thresholds that move with each group that a row is in",
        ("what the {groups} groups are ahead by, together, grows by little in a miss and falls in a hit",),
    ),
    "coverage_decaying": Words(
        "thresholds that move by ever smaller steps",
        ("each threshold rises after a miss and falls after a hit, by {step} over the root of the rounds so far, and "
         "can go nowhere else",),
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
    "plane_bisection_forced": Words(NO_COINS, (TARGET,)),
    "majority_flip_forced": Words(NO_COINS, ("every label fits {points} points, of which {shown} were shown",)),
    "orthogonal_forced": Words(
        NO_COINS, ("its {vectors} vectors are at right angles, so a linear classifier fits whatever it answers",)
    ),
    "coin_flip_regret": Words("labels that are coins", ("the best constant, {witness}, made {best_mistakes} "
    "mistakes",)),
    "contrarian_regret": Words(NO_COINS, ("the best constant, {witness}, made {best_mistakes} mistakes",)),
}  # fmt: skip
