"""Worlds that change: errors and log loss of learners with a promise on every stretch, beside those without and River.

One pass, in the order of the stream; each row is predicted, then learned. In a cell: errors in %, and the mean log
loss; for numbers, the mean absolute error. Seconds are of the processor, without the compiling of kernels.

    target       ten normal features, the log-odds of +1 are <w, x>, w ten numbers 2 N(0, 1): a new w every 2,500 rounds
    one target   the same with one w: here a promise on every stretch may cost at most ln 2 in all
    SEA          River's, a tenth of the labels flipped, four concepts, each drifting into the next within 100 rounds
    RBF          River's, 20 centres that all move; what is learned is out of date soon, and no cut is a plane
    Agrawal      River's, four functions of nine columns of a loan application, each drifting into the next
    weather      of 18,159 days in their order (the folder that NOVIKOFF_DATA names)
    chicks       River's ChickWeights: numbers, in their order

River's ADWIN bagging (10 Hoeffding trees, begun anew where ADWIN sees a drift) and AdaptiveRandomForest have their
defaults and seed 0; so has all else. Electricity prices (Elec2), the usual stream of this kind, need a download.
"""

import argparse
import functools
import sys

import numpy as np

from benchmarks.quality import (
    STREAMS,
    Data,
    constant,
    labels,
    linear_regression,
    logistic_regression,
    ours,
    random_forest,
    river,
    river_rows,
    sign,
    table,
)

ROUNDS, EVERY, WIDTH = 20_000, 2_500, 10
OURS = ("logistic", "logistic:drift=true", "auto", "auto:drift=true", "auto-regression")


def targets(every):
    rng = np.random.default_rng(0)
    x, positive = rng.normal(size=(ROUNDS, WIDTH)), np.empty(ROUNDS, dtype=bool)
    for start in range(0, ROUNDS, every):
        part = x[start : start + every]
        positive[start : start + every] = part @ rng.normal(size=WIDTH) * 2.0 + rng.logistic(size=len(part)) > 0.0
    return labels(x, positive)


def one_after_the_other(streams, each, width):
    """Concepts in turn, of `each` rows: near the end of one the next sets in, within about `width` rows."""
    from river.datasets.synth import ConceptDriftStream

    *before, found = streams
    for stream in reversed(before):
        found = ConceptDriftStream(stream, found, seed=0, position=each, width=width)
    return river_rows(found.take(each * len(streams)), sign, shuffled=False)


def sea():
    from river.datasets.synth import SEA

    return one_after_the_other([SEA(variant=k, seed=k, noise=0.1) for k in range(4)], 2_500, 100)


def agrawal():
    from river.datasets.synth import Agrawal

    return one_after_the_other([Agrawal(classification_function=k, seed=k) for k in (0, 1, 4, 6)], 2_500, 100)


def moving():
    from river.datasets.synth import RandomRBFDrift

    made = RandomRBFDrift(0, 0, n_classes=2, n_features=10, n_centroids=20, change_speed=0.0005, n_drift_centroids=20)
    return river_rows(made.take(10_000), sign, shuffled=False)


def bagging():
    from river import ensemble, tree

    return ensemble.ADWINBaggingClassifier(tree.HoeffdingTreeClassifier(), n_models=10, seed=0)


DRIFTS = {
    "target": lambda: targets(EVERY),
    "one target": lambda: targets(ROUNDS),
    "SEA": sea,
    "RBF": moving,
    "Agrawal": agrawal,
    "weather": STREAMS["weather"],
    "chicks": STREAMS["ChickWeights"],
}
PEERS = {
    "best constant": constant,
    "River StandardScaler, LogisticRegression": lambda d: None if d.numbers else river(logistic_regression(), d),
    "River StandardScaler, LinearRegression": lambda d: river(linear_regression(), d) if d.numbers else None,
    "River ADWIN bagging": lambda d: None if d.numbers else river(bagging(), d),
    "River AdaptiveRandomForest": lambda d: river(random_forest(d.numbers), d),
}


def played(name, data):
    """(error, log loss, seconds), in a table of one row; None where the learner does not apply."""
    result = PEERS[name](data) if name in PEERS else ours(name, data)
    if result is None:
        return None
    said, lost, seconds = result
    wrong = np.abs(said - data.y).mean() if data.numbers else 100.0 * np.mean(said != data.y)
    return np.array([[wrong, np.nan if lost is None else lost, np.nan if seconds is None else seconds]])


def options():
    parser = argparse.ArgumentParser("python -m benchmarks drift", description=__doc__.splitlines()[0])
    parser.add_argument("--streams", metavar="A,B", help=f"of {', '.join(DRIFTS)}; all by default")
    parser.add_argument("--learners", nargs="+", metavar="SPEC", help="specs of ours, and names of peers")
    chosen = parser.parse_args()
    chosen.streams = chosen.streams.split(",") if chosen.streams else list(DRIFTS)
    chosen.learners = chosen.learners or [*OURS, *PEERS]
    return chosen


def main():
    chosen, results, streams = options(), {}, {}
    say = functools.partial(print, file=sys.stderr, flush=True)
    for stream in chosen.streams:
        try:
            data: Data = DRIFTS[stream]()
        except FileNotFoundError:
            say(f"({stream} is left out: name the folder of the data in NOVIKOFF_DATA)")
            continue
        streams[stream] = data
        for name in chosen.learners:
            if (found := played(name, data)) is not None:
                results[stream, name] = found
                say(f"{stream}: {name} {found[0, 0]:.2f} {found[0, 1]:.4f} {found[0, 2]:.2g} s")
    for title, kind in (("errors in % / log loss", False), ("mean absolute error", True)):
        some = [name for name, data in streams.items() if data.numbers == kind]
        if some:
            table(title, some, chosen.learners, results)
    for plain, drift in (("logistic", "logistic:drift=true"), ("auto", "auto:drift=true")):
        if {("one target", plain), ("one target", drift)} <= set(results):
            more = ROUNDS * (results["one target", drift][0, 1] - results["one target", plain][0, 1])
            print(f"one target: {drift} loses {more:.4f} more than {plain} in all; ln 2 = 0.6931 is allowed")


if __name__ == "__main__":
    main()
