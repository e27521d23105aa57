"""Contents of the five lecture notes: every definition, algorithm, theorem, example and exercise, with what to run.

`novikoff notes` prints them, `novikoff notes 1` one lecture, and `novikoff notes 1 --run` plays every command of it.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Literal

Kind = Literal["definition", "algorithm", "theorem", "example", "exercise"]


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a lecture.

    Attributes:
        kind: What it is.
        title: Its name in the notes.
        sentence: What it says, in one sentence.
        run: Command that plays it, without `novikoff`; "" for a definition that is only explained.
        explain: Name or term for `novikoff explain`.
        errata: Names of slips in it (`novikoff notes errata NAME`).
        exercise: Name of its checker (`novikoff notes check`); "" if it is not an exercise.
    """

    kind: Kind
    title: str
    sentence: str
    run: str = ""
    explain: str = ""
    errata: tuple[str, ...] = ()
    exercise: str = ""

    @property
    def command(self) -> str:
        """The command's words, quoted for a shell: brackets are patterns of file names in some."""
        return shlex.join(shlex.split(self.run))

    @property
    def arena(self) -> str:
        """Link of the arena's game of this item, for `novikoff arena LINK`; "" if there is none."""
        return next((link for link, about in ARENA.items() if self.explain in about), "")


def _link(game: str, options: str, rival: str, rounds: int) -> str:
    """Return the link of a game in which the rival has played some rounds, as arena/page/link.js reads it."""
    return f"#v=1&g={game}&o={options}&s=0&r={rival}&m={'A' * rounds}&t={rounds}"


ARENA: dict[str, tuple[str, ...]] = {
    _link("thresholds", "n:100", "builtin", 7): (
        "halving", "halving_mistakes", "threshold-halving", "version space", "realizability", "runtime",
        "mistake bound", "bisection", "separable assumption",
    ),
    _link("race", "n:100", "builtin", 40): ("consistent", "consistent_mistakes", "prior knowledge", "hypothesis class"),
    _link("boxes", "m:21", "target", 20): ("papayas", "rectangle-halving", "domain set"),
    _link("perceptron", "bias:0", "builtin", 12): (
        "perceptron", "mission impossible", "individual sequence prediction", "homogeneous", "binary classifier",
        "online binary prediction game", "online game", "protocol", "linear binary classifier", "cumulative loss",
    ),
    _link("perceptron", "bias:1", "target", 30): (
        "perceptron_margin", "margin", "halfspaces", "Block", "linearly separable", "perceptron_lengths",
    ),
    _link("hinge", "u:120,v:150", "data", 40): ("perceptron_hinge", "hinge loss", "best linear classifier"),
    _link("ellipsoid", "", "builtin", 12): ("ellipsoid", "ellipsoid_margin", "volume"),
    _link("halfspaces", "", "target", 20): ("cover-halving", "corollary", "cover_restarts"),
    _link("sphere", "", "target", 16): ("sphere-cover", "epsilon-cover", "covering number"),
    _link("kernel", "gamma:6,budget:0", "target", 40): (
        "dual perceptron", "supports", "kernel-perceptron", "kernel_hinge",
    ),
    _link("budgets", "gamma:6,budget:10", "target", 40): (
        "forgetron", "rbp", "rbp_expected", "forgetron_pathwise", "contraction",
    ),
    _link("risk", "noise:5", "target", 60): ("best_risk", "random ensemble", "ensemble_risk", "average"),
    _link("spam", "", "data", 20): ("spam filtering",),
    _link("coins", "draws:0", "builtin", 20): ("negative result", "contrarian", "contrarian_regret"),
    _link("coins", "draws:0", "target", 60): ("coin-flip", "coin_flip_regret", "weighted-majority"),
    _link("experts", "experts:4", "builtin", 15): (
        "exponential-weights", "fixed_rate_regret", "anytime_regret", "regret",
    ),
    _link("bandits", "arms:3,rule:0", "target", 60): ("stochastic bandits", "tsallis-inf", "tsallis_pathwise"),
    _link("bandits", "arms:3,rule:1", "builtin", 60): ("adversarial bandits", "exp3-ix", "ix_pathwise"),
    _link("bandits", "arms:3,rule:2", "target", 60): ("ucb1", "ucb1_regret"),
    _link("drift", "block:8,turn:40", "target", 80): ("distribution shift", "specialists", "specialists_regret"),
    _link("tree", "threshold:2", "target", 80): ("tree", "tree_pruning"),
    _link("intervals", "cover:80", "target", 90): ("adaptive conformal prediction", "conformal", "coverage_deviation"),
}  # fmt: skip
"""Terms that each game of the arena shows, by its link."""


@dataclass(frozen=True, slots=True)
class Lecture:
    """One of the notes: its number, title, authors, and sections of items."""

    number: int
    title: str
    authors: str
    sections: tuple[tuple[str, tuple[Item, ...]], ...]

    @property
    def items(self) -> list[Item]:
        """All items, in order."""
        return [item for _, items in self.sections for item in items]


LECTURES: tuple[Lecture, ...] = (
    Lecture(
        0,
        "Introduction and Mistake Bound Analysis",
        "Ofer Dekel, scribe Andrew White",
        (
            (
                "Introduction to online learning",
                (
                    Item(
                        "example",
                        "Snow",
                        "Will it snow? Predict each day from temperature, humidity and so on.",
                        "run perceptron demo:snow",
                        "snow",
                    ),
                    Item(
                        "definition",
                        "Binary classifier",
                        "A function from a feature vector to -1 or +1.",
                        explain="binary classifier",
                    ),
                    Item(
                        "definition",
                        "Online binary prediction game",
                        "See x, predict, see y, suffer a mistake if they differ, update.",
                        "demo",
                        "online binary prediction game",
                        ("first-state",),
                    ),
                    Item(
                        "definition",
                        "No stochastic assumption",
                        "The examples are an individual sequence; an adversary may choose them.",
                        "duel perceptron:bias=1 contrarian --rounds 50",
                        "individual sequence prediction",
                    ),
                ),
            ),
            (
                "Mistake bound analysis",
                (
                    Item(
                        "definition",
                        "Mistake bound",
                        "An upper bound on the mistakes of an algorithm, on every sequence that meets its assumptions.",
                        explain="mistake bound",
                    ),
                    Item(
                        "definition",
                        "Realizability",
                        "Some hypothesis of the class predicts every label.",
                        explain="realizability",
                    ),
                    Item(
                        "definition",
                        "Version space",
                        "The hypotheses that are consistent with all labels so far.",
                        explain="version space",
                        errata=("peeking",),
                    ),
                    Item(
                        "algorithm",
                        "Halving",
                        "Predict with the majority of the version space.",
                        "run halving:[programs:bits=20],prior=length demo:iris",
                        "halving",
                    ),
                    Item(
                        "theorem",
                        "Theorem 1",
                        "Halving makes at most log2 |H| mistakes on realizable sequences.",
                        "duel threshold-halving:n=1000 grid-bisection:n=1000 --rounds 20",
                        "halving_mistakes",
                    ),
                    Item(
                        "definition",
                        "Agnostic case",
                        "No hypothesis need be perfect: the learner is compared with the best.",
                        explain="agnostic",
                    ),
                    Item(
                        "definition",
                        "Linear binary classifier",
                        "sign(<w, x>): the hyperplane perpendicular to w separates the two predictions.",
                        explain="linear binary classifier",
                    ),
                    Item(
                        "algorithm",
                        "Perceptron",
                        "On a mistake, add y x to the weights.",
                        "run perceptron:scale=none,bias=0 demo:iris",
                        "perceptron",
                        ("sign-of-start", "update-sign"),
                    ),
                    Item(
                        "theorem",
                        "Theorem 2 (Novikoff)",
                        "With margin gamma and rows of length at most rho, the Perceptron "
                        "makes at most (rho/gamma)^2 mistakes.",
                        "run perceptron stream:separable:rounds=2000,margin=0.2",
                        "perceptron_margin",
                        ("start-of-potential", "squared-count", "margin-zero"),
                    ),
                ),
            ),
        ),
    ),
    Lecture(
        1,
        "Online Learning (Introduction to Machine Learning, lecture 1)",
        "Shai Shalev-Shwartz",
        (
            (
                "The framework, and why prior knowledge is needed",
                (
                    Item(
                        "example",
                        "Papayas",
                        "Tasty if color and softness lie in a rectangle.",
                        "duel tightest-box:dim=2 rectangle-bisection:dim=2 --rounds 30",
                        "papayas",
                    ),
                    Item(
                        "definition",
                        "Domain set, label set, prediction rule",
                        "All x that may have to be labelled, all y, and a function from x to y.",
                        explain="domain set",
                    ),
                    Item(
                        "definition",
                        "The online game",
                        "Present x, predict, reveal y, pay 1 for a mistake.",
                        "demo",
                        "online game",
                    ),
                    Item(
                        "theorem",
                        "Mission impossible",
                        "With a new x in every round and no prior knowledge every prediction may be wrong.",
                        "duel perceptron:bias=1 contrarian --rounds 50",
                        "mission impossible",
                    ),
                    Item(
                        "algorithm",
                        "The memorizing learner",
                        "On a finite domain all labels can be memorized: at most |X| mistakes.",
                        "run memorizer demo:program",
                        "memorizer",
                    ),
                    Item(
                        "definition",
                        "Prior knowledge",
                        "The learner knows a class H that contains the target, but not the target.",
                        explain="prior knowledge",
                    ),
                    Item(
                        "definition",
                        "Hypothesis class",
                        "The labels come from a target in a known class H.",
                        explain="hypothesis class",
                    ),
                    Item(
                        "theorem",
                        "Thresholds over the reals",
                        "For every learner the bisection adversary makes every "
                        "prediction wrong, consistently with some threshold.",
                        "duel midpoint bisection --rounds 40",
                        "bisection",
                        ("doubles",),
                    ),
                    Item(
                        "exercise",
                        "Rectangles over the reals",
                        "Show that axis-aligned rectangles over the reals cannot be learned.",
                        "duel tightest-box:dim=2 rectangle-bisection:dim=2 --rounds 40",
                        "rectangle-bisection",
                        exercise="rectangles",
                    ),
                ),
            ),
            (
                "Finite hypothesis classes",
                (
                    Item(
                        "example",
                        "Python programs",
                        "All programs of at most b bits: Halving makes at most b mistakes.",
                        "run halving:[programs:bits=20],prior=length demo:iris",
                        "python programs",
                    ),
                    Item(
                        "algorithm",
                        "Consistent",
                        "Follow any hypothesis that has been right so far.",
                        "duel consistent:[thresholds:n=20] grid-bisection:n=20 --rounds 25",
                        "consistent",
                    ),
                    Item(
                        "theorem",
                        "Consistent's bound",
                        "At most |H| - 1 mistakes.",
                        "duel consistent:[thresholds:n=20] grid-bisection:n=20 --rounds 25",
                        "consistent_mistakes",
                    ),
                    Item(
                        "algorithm",
                        "Halving",
                        "Predict with the majority of the version space.",
                        "duel halving:[thresholds:n=100] grid-bisection:n=100 --rounds 20",
                        "halving",
                    ),
                    Item(
                        "theorem",
                        "Halving's bound",
                        "At most log2 |H| mistakes.",
                        "duel halving:[thresholds:n=100] grid-bisection:n=100 --rounds 20",
                        "halving_mistakes",
                    ),
                    Item(
                        "definition",
                        "The runtime problem",
                        "Halving's runtime grows with |H|, its bound with log2 |H|.",
                        explain="runtime",
                    ),
                ),
            ),
            (
                "Structure: thresholds, halfspaces, the Ellipsoid",
                (
                    Item(
                        "exercise",
                        "Efficient Halving for thresholds",
                        "Two numbers are enough; show that this is Halving, in O(log n) per round.",
                        "duel threshold-halving:n=1000000 grid-bisection:n=1000000 --rounds 40",
                        "threshold-halving",
                        ("threshold-update", "thresholds-counted"),
                        "thresholds",
                    ),
                    Item(
                        "definition",
                        "Halfspaces",
                        "sign(<w, x> + b), with the bias as the weight of a constant feature.",
                        "run perceptron:bias=1 demo:iris",
                        "halfspaces",
                    ),
                    Item(
                        "theorem",
                        "Halving on a grid",
                        "At most d log2(2n + 1) mistakes.",
                        "duel halving:[halfspaces:n=2,dim=3] orthogonal:k=3 --rounds 6",
                        "halfspaces",
                        ("halfspaces-counted",),
                    ),
                    Item(
                        "algorithm",
                        "The Ellipsoid learner",
                        "Keep an ellipsoid that contains every consistent target; each "
                        "mistake cuts it through its centre.",
                        "run ellipsoid demo:iris",
                        "ellipsoid",
                        ("ellipsoid-code", "ellipsoid-example", "numpy-sign"),
                    ),
                    Item(
                        "theorem",
                        "The Ellipsoid's bound",
                        "At most 2d(d + 1) ln(1 + 1/g) mistakes with margin g.",
                        "run ellipsoid stream:separable:rounds=500,width=3,margin=0.2",
                        "ellipsoid_margin",
                        ("ellipsoid-bound", "ellipsoid-exponent", "ellipsoid-ball"),
                    ),
                    Item(
                        "theorem",
                        "Volume lemmas",
                        "A mistake shrinks the volume by a factor e^(-1/(2d + 2)) at least; a lower bound holds.",
                        "run ellipsoid stream:separable:rounds=500,width=3,margin=0.2",
                        "volume",
                    ),
                    Item(
                        "exercise",
                        "E(M, v) = E(UDU', v)",
                        "Show that an ellipsoid has a symmetric positive definite matrix: for M = UDV', "
                        "E(M, v) = E(UD, v) = E(UDU', v).",
                        explain="ellipsoid",
                        exercise="symmetric",
                    ),
                    Item(
                        "exercise",
                        "E(M, v)",
                        "Show that {Mw + v : ||w|| <= 1} = {x : (x - v)' M^-2 (x - v) <= 1} for "
                        "symmetric positive definite M.",
                        explain="ellipsoid",
                        exercise="ellipsoid",
                    ),
                ),
            ),
        ),
    ),
    Lecture(
        2,
        "Randomization and Learning",
        "Nicolò Cesa-Bianchi, joint work with Claudio Gentile",
        (
            (
                "Linear pattern classification",
                (
                    Item(
                        "algorithm",
                        "Perceptron",
                        "w <- w + y x on a mistake.",
                        "run perceptron demo:breast-cancer",
                        "perceptron",
                    ),
                    Item(
                        "algorithm",
                        "Dual Perceptron",
                        "Store the mistakes; w is the sum of y x over them.",
                        "run kernel-perceptron:kernel=linear demo:iris",
                        "dual perceptron",
                    ),
                    Item(
                        "definition",
                        "Supports",
                        "The stored examples: those on which the dual Perceptron erred.",
                        explain="supports",
                    ),
                    Item(
                        "definition",
                        "Best linear classifier",
                        "Fewest mistakes, which is NP-hard to find; bounds use its hinge loss instead.",
                        explain="best linear classifier",
                    ),
                    Item(
                        "definition",
                        "Hinge loss",
                        "max(0, 1 - y <u, x>), an upper bound of the mistake indicator.",
                        explain="hinge loss",
                    ),
                    Item(
                        "theorem",
                        "Mistake bound with hinge loss",
                        "M <= D_u + ||u||^2 + ||u|| sqrt(D_u) for every u.",
                        "run perceptron demo:breast-cancer -v",
                        "perceptron_hinge",
                    ),
                    Item(
                        "theorem",
                        "Corollary (Block)",
                        "Separable: M <= ||u*||^2, with the SVM's u*.",
                        "run perceptron stream:separable:rounds=2000,margin=0.2 --hindsight",
                        "Block",
                    ),
                ),
            ),
            (
                "Memory bounded learning",
                (
                    Item(
                        "theorem",
                        "A budget is not enough",
                        "With B supports every learner errs without end on a sequence that "
                        "some u of length sqrt(B + 1) separates.",
                        "duel rbp:budget=5 budget-ruin:budget=5 --rounds 60",
                        "budget-ruin",
                    ),
                    Item(
                        "algorithm",
                        "Crammer, Kandola, Singer",
                        "Remove the support that the others classify best.",
                        "run cks:budget=20 demo:iris",
                        "cks",
                    ),
                    Item(
                        "algorithm",
                        "Weston, Bordes, Bottou",
                        "Remove the support whose removal costs the fewest mistakes.",
                        "run tighter:budget=20 demo:iris",
                        "tighter",
                    ),
                    Item(
                        "algorithm",
                        "Forgetron",
                        "Shrink all coefficients and remove the oldest support.",
                        "run forgetron:budget=20 demo:iris",
                        "forgetron",
                    ),
                    Item(
                        "algorithm",
                        "Randomized Budget Perceptron",
                        "A full budget throws away a random support.",
                        "run rbp:budget=20 demo:iris",
                        "rbp",
                    ),
                    Item(
                        "theorem",
                        "Contraction lemma",
                        "After a random removal E ||w||^2 is at most (1 - 2/B) ||w||^2 + 2, and so at most B.",
                        explain="contraction",
                    ),
                    Item(
                        "theorem",
                        "Sums up to a stopping time",
                        "Wald's lemma for terms that depend on each other.",
                        explain="Wald",
                    ),
                    Item(
                        "theorem",
                        "RBP's bound",
                        "A bound on the expected mistakes for every u with ||u|| < sqrt(B).",
                        "run rbp:budget=50 stream:separable:rounds=1000,margin=0.3 -v",
                        "rbp_expected",
                        ("rbp-theorem", "dependent", "lost-factor"),
                    ),
                ),
            ),
            (
                "Risk of classifiers in an ensemble",
                (
                    Item(
                        "algorithm",
                        "The random ensemble classifier",
                        "Draw one of the hypotheses of all rounds.",
                        "run perceptron demo:breast-cancer --finalize random",
                        "random ensemble",
                    ),
                    Item(
                        "theorem",
                        "Bernstein's inequality",
                        "The mean risk minus the mistake rate is a martingale, which is small if its variance is.",
                        explain="Bernstein",
                    ),
                    Item(
                        "theorem",
                        "Risk of the random ensemble",
                        "Close to the mistake rate, with high probability.",
                        "run perceptron demo:breast-cancer --finalize random",
                        "ensemble_risk",
                        ("log-of-zero",),
                    ),
                    Item(
                        "theorem",
                        "Derandomization",
                        "One hypothesis, chosen after the run, has a similar bound.",
                        "run perceptron demo:breast-cancer --finalize best",
                        "best_risk",
                    ),
                    Item(
                        "theorem",
                        "Averages",
                        "For convex losses the average predictor has the bound, by Jensen.",
                        "run perceptron demo:breast-cancer --finalize averaged",
                        "average",
                    ),
                ),
            ),
        ),
    ),
    Lecture(
        3,
        "Machine Learning Theory, lecture 3",
        "Nishant Mehta",
        (
            (
                "Linear separators in the mistake bound model",
                (
                    Item(
                        "definition",
                        "Homogeneous linear separators",
                        "sign(<w, x>) without a bias.",
                        explain="homogeneous",
                    ),
                    Item(
                        "definition",
                        "Linearly separable",
                        "Some w* has y <w*, x> > 0 on every example; margin gamma: >= gamma, with ||w*|| = 1.",
                        explain="linearly separable",
                    ),
                    Item(
                        "definition",
                        "Margin",
                        "The smallest y <w, x> / ||w|| over the sequence.",
                        explain="margin",
                        errata=("margin-is-minimum",),
                    ),
                    Item(
                        "definition",
                        "Proper epsilon-cover",
                        "Points of the set with one within epsilon of every point.",
                        explain="epsilon-cover",
                    ),
                    Item(
                        "definition",
                        "Covering number",
                        "The size of the smallest cover; (4/epsilon + 1)^d is enough.",
                        explain="covering number",
                    ),
                    Item(
                        "exercise",
                        "A cover of the sphere",
                        "Build a cover of the unit sphere with at most N points.",
                        explain="sphere-cover",
                        exercise="cover",
                    ),
                    Item(
                        "algorithm",
                        "Halving on C_gamma",
                        "Halving over a cover with epsilon = gamma/(2R).",
                        "run cover-halving:dim=2 stream:separable:rounds=300,width=2,margin=0.3",
                        "cover-halving",
                    ),
                    Item(
                        "theorem",
                        "Corollary 1",
                        "At most d log2(ceil(8R/gamma) + 1) mistakes.",
                        "run cover-halving:dim=2 stream:separable:rounds=300,width=2,margin=0.3 -v",
                        "corollary",
                        ("cover-built",),
                    ),
                ),
            ),
            (
                "Perceptron",
                (
                    Item(
                        "algorithm",
                        "Algorithm 1: Perceptron",
                        "w_{m+1} = w_m + y x on mistake m.",
                        "run perceptron:scale=none,bias=0 demo:iris",
                        "perceptron",
                    ),
                    Item(
                        "theorem",
                        "Theorem 1",
                        "At most R^2/gamma^2 mistakes, whatever the dimension.",
                        "run perceptron stream:separable:rounds=2000,width=200,margin=0.2",
                        "perceptron_margin",
                        ("mistake-index", "strict", "cauchy"),
                    ),
                ),
            ),
        ),
    ),
    Lecture(
        4,
        "Trustworthy Machine Learning: Online Learning",
        "Sangdon Park",
        (
            (
                "Setup",
                (
                    Item(
                        "definition",
                        "Distribution shift",
                        "The distribution of the examples may change, or an adversary may choose them.",
                        explain="distribution shift",
                    ),
                    Item(
                        "definition",
                        "Protocol",
                        "Receive x, predict, receive y, suffer the loss, update.",
                        "demo",
                        "protocol",
                    ),
                    Item(
                        "example",
                        "Spam filtering",
                        "Words present or absent; the label is spam or not.",
                        "duel perceptron spammer",
                        "spam filtering",
                    ),
                    Item(
                        "definition",
                        "Full history",
                        "Any batch algorithm may be refitted on the past; online ones are lightweight.",
                        "compare demo:iris -l history:LogisticRegression,every=1 -l history:LogisticRegression "
                        "-l perceptron:bias=1",
                        "history",
                    ),
                    Item(
                        "definition",
                        "Cumulative loss",
                        "The sum of the losses of all rounds; an adversary can make it large for every learner.",
                        explain="cumulative loss",
                    ),
                    Item(
                        "definition",
                        "Regret",
                        "The learner's loss minus that of the best expert.",
                        "experts stream:random-losses:5,500",
                        "regret",
                    ),
                    Item(
                        "theorem",
                        "Negative result",
                        "Every deterministic learner has regret at least T/2 against two constant experts.",
                        "duel threshold-halving:n=10 contrarian --rounds 100",
                        "negative result",
                    ),
                    Item(
                        "exercise",
                        "A class for the negative result",
                        "Give a class whose best function errs on at most half of any labels.",
                        "duel threshold-halving:n=10 contrarian --rounds 100",
                        "negative result",
                        exercise="negative-result",
                    ),
                ),
            ),
            (
                "Halving, exponential weighting, Perceptron",
                (
                    Item(
                        "definition",
                        "Separable assumption",
                        "Some expert of the class has cumulative loss 0.",
                        explain="separable assumption",
                    ),
                    Item(
                        "algorithm",
                        "Halving algorithm",
                        "Majority vote, filtered on mistakes.",
                        "duel halving:[thresholds:n=100],conservative=true grid-bisection:n=100 --rounds 20",
                        "halving",
                        ("survivors",),
                    ),
                    Item(
                        "theorem",
                        "Halving's regret",
                        "At most log2 |H| under the separable assumption.",
                        "duel halving:[thresholds:n=100],conservative=true grid-bisection:n=100 --rounds 20",
                        "halving_mistakes",
                        ("last-mistake",),
                    ),
                    Item(
                        "algorithm",
                        "Exponential weighting",
                        "Follow an expert drawn with weights exp(-eta L).",
                        "experts stream:random-losses:5,500",
                        "exponential-weights",
                    ),
                    Item(
                        "theorem",
                        "Regret of exponential weighting",
                        "At most sqrt(T ln|H| / 2) in expectation.",
                        "experts stream:random-losses:5,500 -v",
                        "fixed_rate_regret",
                        ("rate-without-root",),
                    ),
                    Item(
                        "algorithm",
                        "Perceptron algorithm",
                        "w <- w + y x on a mistake.",
                        "run perceptron:scale=none,bias=0 demo:iris",
                        "perceptron",
                    ),
                    Item(
                        "theorem",
                        "The Perceptron's regret",
                        "At most r^2/gamma^2, independent of T.",
                        "run perceptron stream:separable:rounds=2000,margin=0.2",
                        "perceptron_margin",
                    ),
                ),
            ),
            (
                "Interesting materials",
                (
                    Item(
                        "definition",
                        "Adaptive conformal prediction",
                        "Sets with a coverage that holds on every stream.",
                        "run ftrl demo:breast-cancer --cover 0.9",
                        "adaptive conformal prediction",
                    ),
                    Item(
                        "definition",
                        "Online convex optimization",
                        "The frame of most learners here.",
                        "run adagrad demo:breast-cancer",
                        "online convex optimization",
                    ),
                    Item(
                        "definition",
                        "Stochastic bandits",
                        "Arms with fixed means.",
                        "bandit ucb1 stream:bandit-losses:means=[0.2,0.5],rounds=2000 --games 50 --against thompson "
                        "--against explore-then-commit:each=50 --against tsallis-inf",
                        "stochastic bandits",
                    ),
                    Item(
                        "definition",
                        "Adversarial bandits",
                        "Losses chosen by an adversary.",
                        "bandit exp3-ix stream:bandit-losses:gap=0.1,rounds=2000",
                        "adversarial bandits",
                    ),
                ),
            ),
        ),
    ),
)


def page() -> str:
    """Return the contents as a page of the documentation."""
    parts = [
        "# The lectures",
        "The five lecture notes that novikoff started from: every item with the command that plays it. "
        "`novikoff notes 1` prints a lecture, `novikoff notes 1 --run` plays it; `novikoff notes check FILE.py` checks "
        "a solution of an exercise. As in the notes, without scaling and bias: `perceptron:scale=none,bias=0`, "
        "`rbp:budget=20,scale=none`; the budget learners are linear unless a kernel is named. `--trace` and `--chart "
        "proof` follow a proof through a game ([certificates](certificates.md)).",
    ]
    for lecture in LECTURES:
        parts.append(f"## {lecture.number}. {lecture.title}\n\n*{lecture.authors}*")
        for title, items in lecture.sections:
            rows = ["| item | statement | run | see |", "|---|---|---|---|"]
            for item in items:
                see = [f"`novikoff explain {item.explain}`"] if item.explain else []
                see += [f"`novikoff arena '{item.arena}'`"] if item.arena else []
                see += [f"[erratum](errata.md) `{name}`" for name in item.errata]
                cells = (
                    f"{item.kind}: **{item.title}**",
                    item.sentence,
                    f"`novikoff {item.command}`" if item.run else "",
                    "<br>".join(see),
                )
                rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
            parts.append(f"### {title}\n\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"
