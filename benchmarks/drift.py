"""Drifting streams: errors and log loss with and without `drift=true`, compared with River.

One pass, in the order of the stream; each row is predicted, then learned. A cell has errors in % and the mean log loss;
for regression, the mean absolute error. Seconds are CPU time, without compilation.

    target       ten normal features, log-odds <w, x> of +1 with w from 2 N(0, 1): a new w every 2,500 rounds
    one target   the same with one w: here the guarantee on every stretch may cost at most ln 2 in total
    SEA          River's, a tenth of the labels flipped, four concepts, each drifting into the next within 100 rounds
    RBF          River's, 20 moving centres; models soon become outdated, and no boundary is a plane
    Agrawal      River's, four functions of nine columns of a loan application, each drifting into the next
    weather      18,159 days in order (from the folder NOVIKOFF_DATA)
    chicks       River's ChickWeights, a regression, in order

River's ADWIN bagging (10 Hoeffding trees, restarted when ADWIN detects a drift) and AdaptiveRandomForest have their
default parameters and seed 0. Electricity prices (Elec2), the usual stream of this kind, would need a download.
"""

import argparse
import functools
import sys

import numpy as np

from benchmarks.real import (
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
OURS = (
    "logistic", "logistic:drift=true", "linear-mixture", "linear-mixture:drift=true", "auto",
    "linear-mixture-regression", "auto-regression",
)  # fmt: skip


def targets(every):
    rng = np.random.default_rng(0)
    x, positive = rng.normal(size=(ROUNDS, WIDTH)), np.empty(ROUNDS, dtype=bool)
    for start in range(0, ROUNDS, every):
        part = x[start : start + every]
        positive[start : start + every] = part @ rng.normal(size=WIDTH) * 2.0 + rng.logistic(size=len(part)) > 0.0
    return labels(x, positive)


def one_after_the_other(streams, each, width):
    """Return concepts in turn, `each` rows long; one drifts into the next within about `width` rows."""
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
    """Return (error, log loss, seconds) as an array of one row; None if the learner does not apply."""
    result = PEERS[name](data) if name in PEERS else ours(name, data)
    if result is None:
        return None
    said, lost, seconds = result
    wrong = np.abs(said - data.y).mean() if data.numbers else 100.0 * np.mean(said != data.y)
    return np.array([[wrong, np.nan if lost is None else lost, np.nan if seconds is None else seconds]])


def options():
    parser = argparse.ArgumentParser("python -m benchmarks drift", description=__doc__.splitlines()[0])
    parser.add_argument("--streams", metavar="A,B", help=f"of {', '.join(DRIFTS)}; all by default")
    parser.add_argument("--learners", nargs="+", metavar="SPEC", help="specs of novikoff learners, and names of peers")
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
            say(f"({stream} is skipped: set NOVIKOFF_DATA to the folder of the data)")
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
    for plain, drift in (("logistic", "logistic:drift=true"), ("linear-mixture", "linear-mixture:drift=true")):
        if {("one target", plain), ("one target", drift)} <= set(results):
            more = ROUNDS * (results["one target", drift][0, 1] - results["one target", plain][0, 1])
            print(f"one target: {drift} loses {more:.4f} more than {plain} in total; guaranteed at most ln 2 = 0.6931")


if __name__ == "__main__":
    main()
