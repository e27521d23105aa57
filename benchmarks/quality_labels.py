"""Quality on real multiclass data, in one pass: errors and log loss of our learners, River and VW --oaa.

As in benchmarks/quality.py, rows are shuffled with seeds 0, 1, …, each is predicted, then learned, and all have their
defaults. A cell has the errors in %, with the standard error over the shuffles, and the mean log loss. Our learners and
River do not know the labels in advance; VW is given their number. River cannot predict a label it has not seen, so the
first round of a label costs a peer no log loss; ours pays for it. Digits (10 labels), iris (3) and wine (3) come with
scikit-learn, ImageSegments (7) with River.
"""

import argparse
import importlib.metadata
import platform
import sys
import time

import numpy as np

import novikoff as nk
from benchmarks.quality import Data, Results, cell, dicts, hoeffding_tree, random_forest, table
from novikoff.core.types import Domain
from novikoff.game.specs import make, parse, with_scale

OURS = ("perceptron", "ftrl", "auto:fast=true", "auto")


def scikit(name):
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    return Data(np.ascontiguousarray(found.data, np.float64), found.target)


def segments():
    from river.datasets import ImageSegments

    rows = [(list(x.values()), y) for x, y in ImageSegments()]
    return Data(np.array([x for x, _ in rows], np.float64), np.array([y for _, y in rows]))


STREAMS = {
    "digits": lambda: scikit("digits"),
    "iris": lambda: scikit("iris"),
    "wine": lambda: scikit("wine"),
    "ImageSegments": segments,
}


def numbered(y):
    """Return labels numbered in order of first appearance."""
    order = {}
    return np.array([order.setdefault(label, len(order)) for label in y.tolist()])


def ours(spec, data):
    warm, play = (
        make(with_scale(parse(spec), None, True), "learner", Domain("vector", data.x.shape[1]), multiclass=True)
        for _ in range(2)
    )
    nk.Game(warm, track=False).learn_batch(nk.Batch(data.x[:2], data.y[:2], 1))  # compile
    ledger = nk.Ledger(play, predictions=[])
    start = time.process_time()
    nk.Game(play, ledger, track=False).learn_batch(nk.Batch(data.x, data.y, 1))
    seconds = time.process_time() - start
    return np.concatenate(ledger.predictions), ledger.log_loss, seconds


def judged(chances, data, seconds):
    """Return predictions, total log loss and seconds, given probabilities by label."""
    said, lost, known = [], 0.0, set()
    for p, label in zip(chances, data.y.tolist(), strict=True):
        said.append(max(sorted(p), key=p.get) if p else 0)
        if label in known:
            lost -= np.log(np.clip(p.get(label, 0.0), 1e-15, 1.0))
        known.add(label)
    return np.array(said), lost, seconds


def river(model, data):
    chances, start = [], time.process_time()
    for x, label in zip(dicts(data), data.y.tolist(), strict=True):
        chances.append(model.predict_proba_one(x))
        model.learn_one(x, label)
    return judged(chances, data, time.process_time() - start)


def vw(data):
    from vowpalwabbit import Workspace

    model = Workspace(f"--quiet --oaa {data.y.max() + 1} --loss_function logistic --probabilities")
    chances, start = [], time.process_time()
    for row, label in zip(dicts(data), data.y.tolist(), strict=True):
        features = "| " + " ".join(f"{index}:{value}" for index, value in row.items() if value)
        chances.append(dict(enumerate(model.predict(features))))
        model.learn(f"{label + 1} {features}")
    seconds = time.process_time() - start
    model.finish()
    return judged(chances, data, seconds)


def softmax():
    from river import linear_model, preprocessing

    return preprocessing.StandardScaler() | linear_model.SoftmaxRegression()


def one_vs_rest():
    from river import linear_model, multiclass, preprocessing

    return preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(linear_model.LogisticRegression())


PEERS = {
    "River StandardScaler, SoftmaxRegression": lambda d: river(softmax(), d),
    "River StandardScaler, one-vs-rest LogisticRegression": lambda d: river(one_vs_rest(), d),
    "River HoeffdingTree": lambda d: river(hoeffding_tree(False), d),
    "VW --oaa, logistic": vw,
    "River AdaptiveRandomForest": lambda d: river(random_forest(False), d),
}
SLOW = ("River AdaptiveRandomForest",)


class Played(Results):
    """(error, log loss, seconds) of each shuffle."""

    def play(self, stream, name, data, seeds):
        if (stream, name) not in self.found:
            rows = []
            for seed in seeds:
                order = np.random.default_rng(seed).permutation(len(data.y))
                shuffled = Data(data.x[order], numbered(data.y[order]))
                said, lost, seconds = PEERS[name](shuffled) if name in PEERS else ours(name, shuffled)
                lost = np.nan if lost is None else lost / len(said)
                rows.append((100.0 * np.mean(said != shuffled.y), lost, seconds))
            self.keep(stream, name, np.array(rows))
        return self.found[stream, name]


def main():
    parser = argparse.ArgumentParser("python -m benchmarks quality_labels", description=__doc__.splitlines()[0])
    parser.add_argument("--shuffles", type=int, default=5, metavar="N", help="number of shuffles (5)")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="seed of the first shuffle (0)")
    parser.add_argument("--streams", metavar="A,B", help=f"of {', '.join(STREAMS)}; all by default")
    parser.add_argument("--results", metavar="FILE", help="store results in this file, and reuse those already in it")
    parser.add_argument("--slow", action="store_true", help="include River's AdaptiveRandomForest")
    chosen = parser.parse_args()
    kept, results = Played(chosen.results), {}
    streams = chosen.streams.split(",") if chosen.streams else list(STREAMS)
    names = [name for name in (*OURS, *PEERS) if chosen.slow or name not in SLOW]
    seeds = range(chosen.first, chosen.first + chosen.shuffles)
    for stream in streams:
        data = STREAMS[stream]()
        for name in names:
            results[stream, name] = found = kept.play(stream, name, data, seeds)
            print(f"{stream}: {name} {cell(found)}", file=sys.stderr, flush=True)
    table("errors in % / log loss", streams, names, results)
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ("novikoff", "river", "vowpalwabbit")]
    orders = f"{chosen.shuffles} shuffles, from seed {chosen.first}"
    print(f"{orders}; {', '.join(versions)}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
