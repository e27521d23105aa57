"""Glossary: terms of online learning as textbooks and lectures use them, each with what to explain and run next.

`novikoff explain TERM` looks here after the names of learners and theorems; docs/glossary.md is made from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache


@dataclass(frozen=True, slots=True)
class Term:
    """One entry.

    Attributes:
        name: The term.
        meaning: What it means, in one or two sentences.
        see: Names of learners, adversaries, classes and theorems that `explain` knows.
        run: A command that shows it; "" for none.
        also: Other words for it.
        page: Page of the documentation on it, below docs/; "" for none.
    """

    name: str
    meaning: str
    see: tuple[str, ...] = ()
    run: str = ""
    also: tuple[str, ...] = ()
    page: str = ""


GLOSSARY: dict[str, tuple[Term, ...]] = {
    "First steps": (
        Term(
            "getting started",
            "`novikoff demo` plays a tour without files; `novikoff run FILE` learns from a table of your own, and "
            "`novikoff --help` lists the commands.",
            ("auto",),
            "novikoff demo",
            ("tutorial", "get started", "quick start", "quickstart", "first steps", "help"),
            "start.md",
        ),
        Term(
            "lecture notes",
            "Five lectures, each item with a command that plays it. `novikoff notes errata` computes a counterexample "
            "to each of their slips; `novikoff notes check FILE.py` checks a solution of an exercise.",
            ("halving", "perceptron", "exponential-weights"),
            "novikoff notes",
            ("notes", "lecture", "lectures", "exercise", "exercises", "homework", "errata", "teaching", "course"),
            "lectures.md",
        ),
        Term(
            "save",
            "`--save` stores the model and its certificate after a run; `novikoff predict` uses it, and `--resume` "
            "goes on with the run. In Python: `nk.save`, `nk.load`.",
            run="novikoff run demo:breast-cancer --save model.nk",
            also=("saving", "load", "model file", "checkpoint", "resume"),
            page="guides/first-programs.md",
        ),
        Term(
            "report",
            "A page for the browser on one run: metrics, curves, and the certificate.",
            run="novikoff run demo:breast-cancer --report report.html",
            also=("chart", "plot", "figure"),
            page="start.md",
        ),
        Term(
            "probability",
            "Given to each label before it is observed, and measured by log loss and calibration. In Python: "
            "`predict_proba` of the estimators.",
            ("auto", "logistic"),
            "novikoff predict model.nk demo:breast-cancer --probabilities",
            ("probabilities", "predict proba", "predicted probability"),
            "guides/first-programs.md",
        ),
        Term(
            "feature importance",
            "The share of each column in the predictions of a model; reports list the largest shares.",
            ("auto",),
            "novikoff run demo:breast-cancer",
            ("importance", "important columns", "explanation"),
            "guides/explain.md",
        ),
        Term(
            "regression",
            "Prediction of numbers. `auto` detects it by the labels; losses are squared, absolute or pinball.",
            ("auto-regression", "vaw", "adagrad"),
            also=("numeric labels", "predicting numbers"),
            page="learners/index.md",
        ),
    ),
    "The game": (
        Term(
            "online prediction game",
            "In every round the learner sees x, predicts, sees the label y, suffers a loss and learns. No assumption "
            "is made about where examples come from: they may be chosen by an adversary.",
            ("halving", "perceptron", "exponential-weights"),
            "novikoff demo",
            (
                "online binary prediction game",
                "binary prediction",
                "online game",
                "protocol",
                "online learning",
                "individual sequence prediction",
                "individual sequence",
                "adversarial learning",
                "prediction game",
            ),
        ),
        Term("round", "One step of the game. Rounds are numbered from 1."),
        Term(
            "learner",
            "An algorithm with `predict_one` and `learn_one`; only `learn_one` changes it.",
            also=("online prediction algorithm",),
        ),
        Term("label", "The value to predict: -1 or +1, or one of several values."),
        Term(
            "domain set",
            "The set of all x that may have to be labelled; the label set is the set of all y.",
            ("rectangles",),
            also=("instance space", "label set"),
        ),
        Term(
            "feature vector",
            "An example x as numbers, one per **feature**: a row of a table, or the words of a text.",
            also=("row", "instance", "data point", "features", "x"),
        ),
        Term("stream", "Examples in their order of arrival; each is read once.", run="novikoff run FILE"),
        Term(
            "score", "The real number behind a prediction; its sign, or the largest of several scores, gives the label."
        ),
        Term(
            "sgn",
            "The sign of a score. A score of 0 predicts +1, where numpy's sign gives 0.",
            ("perceptron",),
            also=("sign", "sign function"),
        ),
        Term(
            "ledger", "The record of a game: rounds, mistakes, losses, metrics, and the quantities that theorems need."
        ),
        Term("baseline", "The result of a predictor that does not learn: the best constant, or the previous label."),
        Term(
            "adversary",
            "An environment that sees the prediction before it chooses the label.",
            ("bisection", "contrarian", "majority-flip"),
            "novikoff duel constant contrarian --rounds 20",
            ("nature", "environment", "adversarial"),
        ),
        Term(
            "snow",
            "The first example of the lectures: predict from the weather of each day whether it will snow.",
            ("perceptron",),
            also=("weather",),
        ),
        Term(
            "papaya",
            "The example of the lecture on finite classes: a papaya is tasty if color and softness lie in a rectangle.",
            ("rectangles", "rectangle-halving", "tightest-box"),
            "novikoff duel tightest-box:dim=2 rectangle-bisection:dim=2 --rounds 40",
            ("papayas",),
        ),
        Term(
            "spam filtering",
            "The running example: each message is predicted as spam or not before its label is known.",
            ("auto", "ftrl"),
            "novikoff run auto mail.csv",
            ("spam", "spam filter"),
        ),
        Term(
            "multiclass",
            "More than two labels, numbered in order of first appearance. A new label may appear in any "
            "round; that round counts as a mistake, except for the very first label.",
            ("perceptron", "auto"),
        ),
        Term(
            "batch",
            "Consecutive rounds as arrays; *sparse* rows store the indices of their non-zeros. In batch "
            "learning, training and testing are separate phases; online they are interleaved.",
            also=("batch learning",),
        ),
        Term(
            "full history",
            "All examples so far. A learner that is refitted on them grows in time and memory; online "
            "learners have a cost per round that does not grow.",
            ("history", "auto"),
            "novikoff compare demo:breast-cancer -l history:LogisticRegression -l perceptron --cost cost.svg",
            ("history", "refitting", "cost per round", "lightweight"),
        ),
        Term(
            "memorize",
            "To store every label that was seen. On a finite domain it errs at most once per point; on an "
            "infinite one it never learns.",
            ("memorizer", "memorized_mistakes"),
            "novikoff run memorizer demo:program",
            ("memorizing", "memorise", "memorising"),
        ),
        Term(
            "mission impossible",
            "On an infinite domain without prior knowledge every prediction may be wrong: the "
            "environment shows a new x in every round and contradicts.",
            ("majority-flip", "contrarian", "bisection"),
            "novikoff duel perceptron contrarian --rounds 50",
            ("impossibility",),
        ),
        Term(
            "prior knowledge",
            "The learner knows a hypothesis class that contains the target, but not the target.",
            ("halving", "consistent"),
            also=("prior", "inductive bias"),
        ),
    ),
    "Losses and metrics": (
        Term(
            "mistake", "A round in which the predicted label differs from the observed one.", also=("mistakes", "error")
        ),
        Term(
            "accuracy",
            "Share of the rounds without a mistake; F1, precision and recall count one label.",
            also=("F1", "precision", "recall"),
        ),
        Term("zero-one loss", "1 for a mistake, 0 otherwise.", also=("0-1 loss",)),
        Term("cumulative loss", "The sum of the losses of all rounds.", also=("total loss",)),
        Term(
            "hinge loss",
            "max(0, 1 - y<u,x>): an upper bound of the zero-one loss that a linear classifier u of large "
            "margin makes small.",
            ("perceptron_hinge", "perceptron_lengths", "adagrad"),
            also=("hinge",),
        ),
        Term(
            "log loss",
            "-ln of the probability given to the observed label.",
            ("auto", "logistic"),
            also=("logarithmic loss", "cross entropy"),
        ),
        Term("Brier score", "Squared distance between predicted probabilities and the outcome."),
        Term("pinball loss", "Loss of a quantile forecast.", ("adagrad",), also=("quantile loss",)),
        Term(
            "AUC",
            "Area under the ROC curve of the scores, each recorded before its label was known; 0.5 for random scores.",
        ),
        Term("calibration", "Agreement between predicted probabilities and observed frequencies, in ten bins."),
        Term(
            "regret",
            "The learner's loss minus the loss of the best comparator, for instance of the best expert.",
            ("exponential-weights", "anytime_regret", "ada_hedge_regret"),
            "novikoff experts stream:random-losses:10,2000",
        ),
        Term(
            "risk",
            "Probability of a mistake on a new example, for independent draws from one distribution.",
            ("ensemble_risk", "voted_risk"),
        ),
    ),
    "Certificates and proofs": (
        Term("theorem", "A function from a run to a bound, with its proof in the same file."),
        Term("certificate", "A theorem evaluated on one run: observed value, bound, assumptions, status."),
        Term(
            "mistake bound",
            "An upper bound on the number of mistakes on every sequence that meets the assumptions.",
            ("halving_mistakes", "perceptron_margin"),
            also=("bound", "mistake bound analysis", "mistake bound model", "guarantee"),
        ),
        Term(
            "status",
            "*valid* · *conditional*: an assumption is trusted · *vacuous*: true but uninformative · *void*: no "
            "guarantee, with the reason · *violated*: the bound was exceeded, which is a bug.",
        ),
        Term(
            "kind",
            "D: holds on every stream · E: in expectation over the learner's random draws · P: with probability "
            "1 - delta.",
        ),
        Term(
            "comparator",
            "A fixed predictor, often a weight vector u, with which a bound compares the learner.",
            also=("best linear classifier", "competitor"),
        ),
        Term(
            "hindsight",
            "The best comparator for the whole stream, found by reading the stream again.",
            run="novikoff run perceptron FILE --hindsight",
        ),
        Term(
            "margin",
            "y<u,x> / ||u||: signed distance of an example from the hyperplane of u. The margin of a stream is "
            "its smallest.",
            ("perceptron_margin", "cover-halving"),
            also=("gamma", "margin assumption"),
        ),
        Term(
            "linearly separable",
            "Some u has y<u,x> > 0 for every example; *with margin* gamma if y<u,x>/||u|| >= gamma.",
            ("perceptron_margin", "ellipsoid"),
            also=("separable", "separability", "separable assumption", "linear separability"),
        ),
        Term(
            "realizability",
            "The assumption that some hypothesis of the class predicts every label.",
            ("halving_mistakes", "consistent"),
            also=("realizable", "realisability", "realizable case"),
        ),
        Term(
            "agnostic",
            "Without realizability: no hypothesis need be perfect, and the learner is compared with the best.",
            ("weighted-majority", "exponential-weights", "perceptron_hinge"),
            also=("agnostic case", "unrealizable"),
        ),
        Term(
            "potential",
            "A quantity that a proof bounds from two sides, such as <w,u> against ||w||^2, the weight of the "
            "version space, or the sum of the weights of experts.",
            ("perceptron_margin", "halving_mistakes", "fixed_rate_regret"),
            also=("potential function", "potential argument"),
        ),
        Term(
            "Novikoff",
            "A. B. Novikoff proved in 1962 that the Perceptron makes at most (R/gamma)^2 mistakes.",
            ("perceptron_margin", "perceptron"),
            also=("novikoff's theorem",),
        ),
        Term(
            "Block",
            "H. D. Block's form of the Perceptron's bound: M <= ||u*||^2 on examples of length 1, where u* is the "
            "shortest u with y<u,x> >= 1 on every example: the solution of the support vector machine.",
            ("perceptron_margin", "kernel-perceptron"),
            also=("block's corollary", "svm", "svm hyperplane", "support vector machine", "shortest vector"),
        ),
        Term(
            "Hoeffding's lemma",
            "ln E exp(sX) <= s E X + s^2 (b - a)^2 / 8 for X in [a, b]: the step from potentials to regret.",
            ("fixed_rate_regret", "anytime_regret"),
            also=("hoeffding",),
        ),
        Term(
            "Jensen's inequality",
            "A convex loss of a mean is at most the mean of the losses: an average classifier is as "
            "good as a random one.",
            ("ensemble_risk",),
            also=("jensen",),
        ),
        Term(
            "Bernstein's inequality",
            "A martingale with small variance stays close to 0: the mean risk of the hypotheses "
            "is close to the mistake rate.",
            ("ensemble_risk",),
            also=("bernstein",),
        ),
        Term(
            "martingale",
            "A process whose expected next increment is 0; risk minus mistake is one.",
            ("ensemble_risk", "rbp_expected"),
            also=("martingale difference sequence",),
        ),
        Term(
            "Wald's lemma",
            "The expected value of a sum up to a stopping time; the budget Perceptron needs a form for dependent "
            "terms.",
            ("rbp_expected",),
            also=("wald", "stopping time"),
        ),
        Term(
            "contraction",
            "Removing a random support shrinks ||w||^2 in expectation, which bounds E ||w|| by sqrt(B).",
            ("rbp_expected", "rbp"),
            also=("contraction lemma",),
        ),
        Term(
            "Cauchy-Schwarz inequality",
            "|<u,v>| <= ||u|| ||v||: the step of Novikoff's proof from the inner product to the lengths.",
            ("perceptron_margin", "cover-halving"),
            also=("cauchy schwarz",),
        ),
        Term(
            "Sylvester's determinant theorem",
            "det(I + u v') = 1 + <u,v>: gives the volume of the next ellipsoid.",
            ("ellipsoid",),
            also=("sylvester",),
        ),
        Term(
            "volume",
            "The volume of the Ellipsoid's ellipsoid shrinks with every mistake, and cannot become too small. For an "
            "ellipsoid, Vol(E(M, v)) = |det M| Vol(B), with the unit ball B.",
            ("ellipsoid",),
            also=("volume reduction",),
        ),
        Term(
            "corollary",
            "The cover corollary: Halving on a cover C_gamma of the sphere makes at most "
            "d log2(ceil(8R/gamma) + 1) mistakes.",
            ("cover-halving", "sphere-cover"),
            also=("cover corollary",),
        ),
    ),
    "Hypotheses and linear classifiers": (
        Term(
            "as in the notes",
            "The lecture notes neither scale features nor add a constant one: `scale=none,bias=0` plays the Perceptron "
            "like that, `scale=none` the budget learners, which are linear unless a kernel is named. `normalize=true` "
            "divides each x by its length, where the notes assume length 1.",
            ("perceptron", "rbp"),
            "novikoff run perceptron:scale=none,bias=0 demo:iris",
            ("as in the note", "as in the lecture", "no scaling", "without scaling", "no bias", "unscaled"),
        ),
        Term(
            "hypothesis",
            "A fixed function from x to a label; it is *consistent* with labels if it predicts every one of them.",
            ("consistent", "halving"),
            also=("predictor", "classifier", "binary classifier", "prediction rule", "concept"),
        ),
        Term(
            "hypothesis class",
            "The set of hypotheses that a learner considers; a finite class of size |H| costs Halving "
            "at most log2 |H| mistakes.",
            ("thresholds", "rectangles", "halfspaces", "programs", "table"),
            also=("finite class", "concept class", "class"),
        ),
        Term("version space", "The hypotheses that are consistent with all labels so far.", ("halving", "consistent")),
        Term(
            "majority vote",
            "The label that most hypotheses of the version space predict.",
            ("halving", "weighted-majority"),
            also=("mode", "majority"),
        ),
        Term(
            "efficient halving",
            "Halving without listing the hypotheses: an interval is enough for thresholds.",
            ("threshold-halving", "rectangle-halving"),
            "novikoff duel threshold-halving:n=1000000 grid-bisection:n=1000000 --rounds 40",
            ("efficient learning",),
        ),
        Term(
            "runtime",
            "Halving's bound grows with log2 |H|, its runtime with |H|; structured classes have faster forms.",
            ("threshold-halving", "ellipsoid", "perceptron"),
            also=("running time", "computational complexity"),
        ),
        Term(
            "python programs",
            "The class of all programs of at most b bits: Halving learns it with at most b mistakes.",
            ("programs",),
            "novikoff run 'halving:[programs:bits=20],prior=length' demo:iris",
        ),
        Term(
            "grid",
            "Finitely many values per coordinate: thresholds, boxes and halfspaces on a grid are finite classes.",
            ("thresholds", "rectangles", "halfspaces", "grid-bisection"),
        ),
        Term(
            "linear classifier",
            "x -> sign(<w,x> + b), with weights w and bias b.",
            ("perceptron", "ellipsoid", "logistic"),
            also=("linear binary classifier", "linear separator", "linear separators", "hyperplane"),
        ),
        Term(
            "perpendicular hyperplane",
            "The points with <w,x> = 0: w is perpendicular to it, and it separates the two halfspaces.",
            ("perceptron",),
            also=("decision boundary",),
        ),
        Term(
            "homogeneous",
            "Without a bias: the hyperplane passes through the origin.",
            ("halfspaces", "cover-halving"),
            also=("homogenous", "homogenous linear separators", "homogeneous linear separators"),
        ),
        Term(
            "bias",
            "The constant b of a linear classifier, learned as the weight of a constant feature: `bias=1`.",
            ("perceptron",),
            "novikoff run perceptron:bias=1 FILE",
            ("bias term", "intercept"),
        ),
        Term(
            "discretization",
            "Replacing an infinite class by a finite one that still contains a separator.",
            ("cover-halving", "sphere-cover"),
            also=("discretisation",),
        ),
        Term(
            "cover",
            "A finite set of directions with one within epsilon of every direction. C_gamma is the cover with "
            "epsilon = gamma/(2R).",
            ("sphere-cover", "cover-halving"),
            also=("epsilon-cover", "c_gamma", "proper cover"),
        ),
        Term(
            "covering number",
            "The size of the smallest epsilon-cover; for the unit sphere at most (4/epsilon + 1)^d.",
            ("sphere-cover", "cover-halving"),
        ),
        Term(
            "dual perceptron",
            "The Perceptron stored as its list of mistakes: w is the sum of y x over the supports.",
            ("kernel-perceptron",),
            "novikoff run kernel-perceptron:kernel=linear FILE",
            ("dual", "dual form"),
        ),
        Term("kernel", "A function K(x, x') that is an inner product in some feature space.", ("kernel-perceptron",)),
        Term("support", "An example stored by a kernel learner.", ("kernel-perceptron", "rbp"), also=("supports",)),
        Term(
            "budget",
            "The largest number of supports that a learner may store. With B supports every learner can be made "
            "to err without end on a stream that some u of length sqrt(B+1) separates.",
            ("rbp", "forgetron", "budget-ruin"),
            also=("memory bounded", "memory bound", "memory budget", "cache", "budget perceptron"),
        ),
        Term("metric", "The matrix of the regulariser in follow-the-regularised-leader."),
    ),
    "Experts, mixtures, bandits": (
        Term(
            "expert",
            "A predictor whose predictions or losses are given in each round.",
            ("exponential-weights", "weighted-majority"),
            also=("experts", "expert advice"),
        ),
        Term(
            "best expert",
            "The expert with the smallest loss in hindsight; regret compares with it.",
            ("exponential-weights", "anytime_regret"),
        ),
        Term(
            "exponential weights",
            "Weights that fall exponentially with the loss: w_i is proportional to exp(-eta L_i).",
            ("exponential-weights", "ada-hedge", "fixed_rate_regret"),
            "novikoff experts stream:random-losses:10,2000",
            ("exponential weighting", "multiplicative weights", "exponentially weighted average"),
        ),
        Term(
            "deterministic",
            "Without random draws. Every deterministic learner has regret at least T/2 against two "
            "constant experts: the contrarian contradicts each prediction.",
            ("contrarian",),
            "novikoff duel 'halving:[thresholds:n=10]' contrarian --rounds 100",
            ("t/2", "negative result"),
        ),
        Term(
            "ensemble",
            "A weighted mean of the predictions of **members**; a *stack* learns the weights from the members' "
            "scores. In the theory of risk: the hypotheses of all rounds of one run.",
            ("auto", "ensemble_risk"),
            also=("members", "stack", "mixture"),
        ),
        Term(
            "boosted trees",
            "Trees fitted one after another, each to the errors of those before: a part of `auto`, fitted to the rows "
            "so far whenever these have grown by a quarter. No theorem bounds their loss; the guarantee of `auto` "
            "compares it with the loss that they had in this run.",
            ("auto", "auto-regression"),
            "novikoff run auto demo:breast-cancer -v",
            ("boosting", "boost", "gradient boosting"),
        ),
        Term(
            "pruning",
            "A tree without some of its lower nodes. A growing tree mixes all its prunings and loses at most as much "
            "as the best one, plus ln 2 for each of its nodes that was split.",
            ("tree", "forest", "tree_pruning"),
            "novikoff run tree demo:breast-cancer",
            ("prunings", "decision tree"),
        ),
        Term(
            "random ensemble",
            "A hypothesis drawn at random from those of all rounds: its risk is close to the mistake rate of the run.",
            ("ensemble_risk",),
            "novikoff run perceptron demo:breast-cancer --finalize random",
            ("random ensemble classifier", "ensemble of classifiers"),
        ),
        Term(
            "online-to-batch",
            "One classifier kept from a game, with a bound on its risk.",
            ("ensemble_risk", "voted_risk", "best_risk"),
            "novikoff run perceptron demo:breast-cancer --finalize averaged",
            ("online to batch conversion", "derandomization"),
        ),
        Term(
            "average",
            "The classifier whose weights are the mean over all rounds.",
            ("best_risk",),
            also=("averaging", "averaged perceptron"),
        ),
        Term(
            "specialist",
            "An expert that is awake in some rounds only; here, a copy of a learner that starts in a later round.",
            ("specialists", "sleeping-experts"),
        ),
        Term(
            "online optimization",
            "The setting in which the learner chooses a point and an adversary a loss function; "
            "convex losses give online convex optimisation.",
            ("oco",),
            also=("online optimisation", "online convex optimization", "oco"),
        ),
        Term(
            "mirror descent",
            "Gradient descent in the geometry of a regulariser; with the entropy, on the simplex, exponential weights. "
            'In Python: `nk.minimise_online(losses, nk.Simplex(3), method="mirror descent")`.',
            ("online_convex_regret", "oco"),
            also=("online mirror descent", "exponentiated gradient"),
        ),
        Term(
            "follow the regularised leader",
            "Play the point that minimises the losses so far plus a regulariser. "
            'In Python: `nk.minimise_online(losses, nk.Ball(1.0, dim=3), method="ftrl")`.',
            ("online_convex_regret", "ftrl", "oco"),
            also=("follow the regularized leader", "dual averaging"),
        ),
        Term(
            "bandit",
            "A game in which only the loss of the chosen arm is observed.",
            ("exp3-ix", "tsallis-inf", "exp4"),
            "novikoff bandit tsallis-inf stream:bandit-losses:gap=0.1,rounds=5000",
            ("bandits", "multi-armed bandit"),
        ),
        Term("arm", "One of the K choices of a bandit."),
        Term(
            "adversarial bandits",
            "Bandits whose losses may be chosen by an adversary.",
            ("exp3-ix", "tsallis-inf"),
            also=("exp3", "adversarial bandit"),
        ),
        Term(
            "stochastic bandits",
            "Bandits whose arms have independent losses with fixed means; optimism (UCB), Thompson sampling and "
            "Tsallis-INF reach logarithmic regret.",
            ("ucb1", "thompson", "explore-then-commit", "tsallis-inf"),
            "novikoff bandit ucb1 'stream:bandit-losses:means=[0.2,0.5],rounds=2000' --games 100",
            ("ucb", "stochastic bandit", "upper confidence bound", "optimism"),
        ),
        Term(
            "Thompson sampling",
            "Play each arm with the posterior probability that it is the best.",
            ("thompson", "thompson_regret"),
            also=("posterior sampling", "probability matching"),
        ),
        Term(
            "explore then commit",
            "Play every arm equally often, then the best of them for ever.",
            ("explore-then-commit", "explore_then_commit_regret"),
            also=("etc", "explore-first"),
        ),
        Term(
            "pseudo-regret",
            "Sum over the rounds of the mean loss of the arm played, less that of the best arm.",
            ("ucb1_regret", "thompson_regret", "explore_then_commit_regret"),
            "novikoff bandit ucb1 'stream:bandit-losses:means=[0.2,0.5],rounds=2000' --games 100",
            ("gap",),
        ),
        Term("policy", "A rule that gives each arm a probability before the arm is drawn.", ("policy_limits",)),
    ),
    "Sets, drift, deployment": (
        Term(
            "prediction set",
            "Labels, or an interval, returned with a prediction; it may be empty or contain everything.",
            ("conformal",),
            "novikoff run auto FILE --cover 0.9",
        ),
        Term(
            "adaptive conformal prediction",
            "Prediction sets whose threshold moves after every round, so that coverage holds on every stream.",
            ("conformal", "coverage_deviation"),
            "novikoff run auto FILE --cover 0.9",
            ("conformal prediction", "aci"),
        ),
        Term(
            "coverage", "Share of rounds whose outcome is in the set; the target is 1 - alpha.", ("coverage_deviation",)
        ),
        Term(
            "threshold of a set",
            "Outcomes with a score up to the threshold are in the set; it moves after every round.",
            ("conformal",),
        ),
        Term(
            "distribution shift",
            "The distribution of examples, or of labels given examples, changes with time.",
            ("drift_alarm", "specialists", "fixed-share"),
            also=("drift", "concept drift", "non-stationary"),
        ),
        Term(
            "price",
            "In a bound, the excess of a mixture's loss over that of its best member, such as ln of the number of "
            "members. In the lectures also: price data, a series whose distribution shifts.",
            ("fixed_share_regret", "specialists"),
            also=("price data",),
        ),
        Term("pending", "Predicted, with a label that has not arrived yet; *expired* once the waiting time is over."),
        Term(
            "wealth",
            "Capital of a test that bets against its null hypothesis; under the null it reaches w with "
            "probability at most 1/w.",
            ("drift_alarm",),
        ),
        Term("shard", "A part of a source from which one Perceptron learns.", ("mixing_mistakes",)),
        Term(
            "epoch",
            "One pass over every shard from the same weights, after which the weights are averaged; in the theory "
            "of experts, a period with one learning rate.",
        ),
    ),
}
"""Terms by section."""

ALIASES: dict[str, str] = {
    "crammer kandola singer": "cks",
    "weston bordes bottou": "tighter",
    "randomized budget perceptron": "rbp",
    "randomised budget perceptron": "rbp",
    "halfspace": "halfspaces",
    "rosenblatt": "perceptron",
    "rectangle": "rectangles",
    "axis aligned rectangles": "rectangles",
    "threshold": "thresholds",
    "exponential weighting": "exponential-weights",
    "exponential weights": "exponential-weights",
    "exp3": "exp3-ix",
    "multi label": "multiclass",
    "boxes": "rectangles",
    "ogd": "online-gradient",
    "online gradient descent": "online-gradient",
    "follow the regularised leader": "ftrl",
    "follow the regularized leader": "ftrl",
    "vovk azoury warmuth": "vaw",
    "decision tree": "tree",
    "random forest": "forest",
    "logistic regression": "logistic",
}
"""Other words for names of learners, adversaries and classes."""


def normal(text: str) -> str:
    """Return a query in lower case, without article, hyphens, and words such as "algorithm"."""
    words = re.sub(r"[\s_-]+", " ", text.strip().lower())
    words = re.sub(r"^(the|a|an) ", "", words)
    return re.sub(r" (algorithms?|learners?|methods?)$", "", words)


@cache
def _index() -> dict[str, Term]:
    """Return every term by its name and its other words, normalised."""
    found: dict[str, Term] = {}
    for term in terms():
        for word in (term.name, *term.also):
            found.setdefault(normal(word), term)
    return found


def terms() -> Iterator[Term]:
    """Yield all terms."""
    for section in GLOSSARY.values():
        yield from section


def find(query: str) -> Term | None:
    """Return the term that a query names, in singular or plural; None if there is none."""
    wanted = normal(query)
    return next(
        (term for word in (wanted, wanted.removesuffix("s"), f"{wanted}s") if (term := _index().get(word))), None
    )


def close(query: str, names: list[str]) -> list[str]:
    """Return up to three names or terms that are close to a query."""
    known = {
        normal(name): name
        for name in [*names, *ALIASES, *(word for term in terms() for word in (term.name, *term.also))]
    }
    wanted = normal(query)
    matches = get_close_matches(wanted, known, 3, 0.75)
    matches += [word for word in known if wanted in word.split() and word not in matches]
    return [known[word] for word in matches[:3]]


def text(term: Term) -> str:
    """Return an entry as `explain` prints it."""
    lines = [term.name, "", term.meaning.replace("**", "").replace("*", "")]
    if term.also:
        lines += ["", f"Also: {', '.join(term.also)}."]
    if term.run:
        lines += ["", f"Try: {term.run}"]
    if term.page:
        lines += ["", f"In the documentation: docs/{term.page}"]
    if term.see:
        lines += ["", "More:", *(f"    novikoff explain {name}" for name in term.see)]
    return "\n".join(lines) + "\n"


def page() -> str:
    """Return the glossary as a page of the documentation."""
    lead = "Terms of online learning, as this documentation uses them. `novikoff explain TERM` prints an entry."
    parts = ["# Glossary", lead]
    for section, entries in GLOSSARY.items():
        rows = ["| term | meaning |", "|---|---|"]
        for term in entries:
            name = f"**{term.name}**" + (f"<br>{', '.join(term.also)}" if term.also else "")
            more = "".join(f" `{seen}`" for seen in term.see) + (f" [{term.page}]({term.page})" if term.page else "")
            meaning = term.meaning.replace("|", "\\|") + (f" See{more}." if more else "")
            rows.append(f"| {name} | {meaning} |")
        parts.append(f"## {section}\n\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"
