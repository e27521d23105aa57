"""Prediction sets on real streams: coverage, its guarantee and set size, around good and bad models.

Each stream is played in its own order, once by each model: `linear-mixture` (labels) or `vaw` (regression); River's
adaptive random forest; a constant; and an anti-learner, which predicts the opposite of the first model, or errs by ten
times as much. The predictions are recorded, and `nk.Conformal` is played around them for alpha 0.05, 0.1 and 0.2, step
0.05. A cell has the coverage in % and the mean size of a set: labels, or the length of an interval in standard
deviations of the outcomes. Every coverage must be within its guarantee, (1 + step)/(step T), of its target; otherwise
the cell is marked.

If crepes is installed (`pip install crepes`), its sets are shown too: conformal sets by the quantile of the first
quarter of the same scores, evaluated on the rest. It guarantees coverage for exchangeable rows.
The last lines are the cost of sets: CPU time with sets, relative to the time without.
"""

import argparse
import math
import time

import numpy as np
from scipy.sparse import issparse

import novikoff as nk
from benchmarks.real import STREAMS, dicts
from novikoff.core.types import Domain, Sparse, StepResult

ALPHAS = (0.05, 0.1, 0.2)
STEP = 0.05


class Recorded:
    """A model that replays recorded predictions: P(+1) of each row, or a number."""

    promises, labels, domain = (), None, Domain("any")

    def __init__(self, said, numbers):
        self.said, self.at, self.numbers = said, 0, numbers
        self.task = "regression" if numbers else "binary"
        self.loss = "absolute" if numbers else "zero-one"
        if not numbers:
            self.probability_one = lambda x: float(self.said[self.at])

    def predict_one(self, x):
        said = float(self.said[self.at])
        return said if self.numbers else 1 if said >= 0.5 else -1

    def learn_one(self, x, y):
        self.at += 1

    def learn_many(self, batch):
        said = self.said[self.at : self.at + len(batch)]
        self.at += len(batch)
        if self.numbers:
            lost = np.abs(said - batch.y)
            return StepResult(said, lost, lost)
        labels = np.where(said >= 0.5, 1, -1)
        wrong = (labels != batch.y).astype(float)
        return StepResult(labels, wrong, wrong, probabilities=np.where(batch.y == 1, said, 1.0 - said))

    def facts(self):
        return None


def by_ours(data):
    """Return P(+1) of `linear-mixture`, or the predictions of `vaw`."""
    x, y = data.x, data.y
    if issparse(x):
        x = Sparse(x.indptr.astype(np.uint64), x.indices.astype(np.uint32), x.data, x.shape[1])
    if data.numbers:
        return nk.VAW().learn_many(nk.Batch(x, y, 1)).predictions
    of_label = nk.LinearMixture().learn_many(nk.Batch(x, y, 1)).probabilities
    return np.where(y == 1, of_label, 1.0 - of_label)


def by_forest(data):
    """Return the predictions of River's adaptive random forest."""
    from river import forest

    model = forest.ARFRegressor(seed=0) if data.numbers else forest.ARFClassifier(seed=0)
    said = np.zeros(len(data.y))
    for t, (x, y) in enumerate(zip(dicts(data), data.y.tolist(), strict=True)):
        if data.numbers:
            said[t] = model.predict_one(x) or 0.0
        else:
            said[t] = (model.predict_proba_one(x) or {}).get(True, 0.5)
        model.learn_one(x, y if data.numbers else y == 1)
    return said


def models(data, forests):
    """Yield the name of each model and its predictions for all rows."""
    first = by_ours(data)
    yield ("vaw" if data.numbers else "linear-mixture"), first
    if forests:
        yield "River's forest", by_forest(data)
    yield "a constant", np.zeros(len(first)) if data.numbers else np.full(len(first), 0.9)
    yield "an anti-learner", data.y + 10.0 * (first - data.y) if data.numbers else 1.0 - first


def cell(data, said, alpha, scale):
    """Return coverage and size of our sets as text, marked if the guarantee is broken."""
    learner = nk.Conformal(Recorded(said, data.numbers), alpha=alpha, step=STEP)
    game = nk.Game(learner, track=False)
    game.learn_batch(nk.Batch(np.zeros((len(data.y), 1)), data.y, 1))
    found = game.ledger.coverage
    kept = all(one.status in ("valid", "vacuous") for one in game.ledger.certify())
    size = math.nan if found.mean_size is None else found.mean_size / scale
    return f"{100 * (1 - found.missed / found.played):.2f} {size:.2f}" + ("" if kept else " BROKEN")


def peer(data, said, alpha, scale):
    """Return the same for crepes on the same scores; None if it is not installed."""
    try:
        from crepes import ConformalClassifier, ConformalRegressor
    except ImportError:
        return None
    first = len(said) // 4
    if data.numbers:
        found = ConformalRegressor().fit(residuals=data.y[:first] - said[:first])
        low, high = np.asarray(found.predict_int(said[first:], confidence=1.0 - alpha)).T
        held = (low <= data.y[first:]) & (data.y[first:] <= high)
        return f"{100 * held.mean():.2f} {np.mean(high - low) / scale:.2f}"
    scores = np.column_stack([said, 1.0 - said])  # of -1 and +1: 1 - P
    of_label = scores[np.arange(len(said)), (data.y == 1).astype(int)]
    found = ConformalClassifier().fit(alphas=of_label[:first])
    sets = np.asarray(found.predict_set(scores[first:], confidence=1.0 - alpha, smoothing=False))
    held = sets[np.arange(len(said) - first), (data.y[first:] == 1).astype(int)]
    return f"{100 * held.mean():.2f} {sets.sum(axis=1).mean():.2f}"


def cost(spec, rows, repeats=5):
    """Print the CPU time of a game with sets relative to one without; the minimum of a few runs."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 20))
    y = np.where(x[:, 0] + rng.normal(size=rows) > 0, 1, -1).astype(np.int8)
    taken = {text: [] for text in (spec, f"conformal:[{spec}]")}
    for _ in range(repeats + 1):  # the first compiles
        for text, times in taken.items():
            game, start = nk.Game(nk.make(text, "learner"), track=False), time.process_time()
            for at in range(0, rows, 8192):
                game.learn_batch(nk.Batch(x[at : at + 8192], y[at : at + 8192], at + 1))
            times.append(time.process_time() - start)
    plain, sets = (min(times[1:]) for times in taken.values())
    print(f"{spec:<18} {rows:>9,} rows  {plain:8.3f} s  with sets {sets:8.3f} s  {sets / plain:5.2f}x", flush=True)


def main():
    asked = argparse.ArgumentParser("python -m benchmarks conformal", description=__doc__.splitlines()[0])
    asked.add_argument("--streams", nargs="*", default=list(STREAMS), metavar="NAME")
    asked.add_argument("--no-forest", action="store_true", help="skip River's forest, the slowest model")
    asked.add_argument("--no-cost", action="store_true")
    given = asked.parse_args()
    heads = "".join(f"{f'target {100 * (1 - alpha):g} %':>18}{'crepes':>16}" for alpha in ALPHAS)
    print(f"{'stream':<16}{'rounds':>7}  {'model':<16}{'error':>8}{heads}")
    for name in given.streams:
        try:
            data = STREAMS[name]()
        except (OSError, ImportError) as error:
            print(f"{name:<16} skipped: {error}")
            continue
        scale = float(np.std(data.y)) if data.numbers else 1.0
        for model, said in models(data, not given.no_forest):
            errs = np.abs(said - data.y).mean() if data.numbers else 100 * np.mean((said >= 0.5) != (data.y == 1))
            cells = "".join(f"{cell(data, said, alpha, scale):>18}{peer(data, said, alpha, scale) or '-':>16}"
                            for alpha in ALPHAS)  # fmt: skip
            print(f"{name:<16}{len(said):>7,}  {model:<16}{errs:>8.3g}{cells}", flush=True)
    if not given.no_cost:
        print()
        for spec, rows in (("linear-mixture", 20_000), ("ftrl", 200_000), ("perceptron", 2_000_000), ("arow", 100_000)):
            cost(spec, rows)


if __name__ == "__main__":
    main()
