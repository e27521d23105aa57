"""What River and scikit-learn ask of an adapter: a certified round, a batch of scores, a name never seen."""

import random

import numpy as np

import novikoff as nk
from benchmarks.timing import alternated, line, ratio

ROUNDS = 20_000
FEATURES = 20


def main():
    certified_rounds()
    batch_of_scores()
    unknown_names()


def certified_rounds():
    """predict_one and learn_one of a certified game, beside River's own Perceptron, which promises nothing."""
    from river.linear_model import Perceptron as Peer

    from novikoff.river import NovikoffClassifier

    rng = random.Random(0)
    target = [rng.gauss(0, 1) for _ in range(FEATURES)]
    rows = [{f"f{i}": rng.gauss(0, 1) for i in range(FEATURES)} for _ in range(ROUNDS)]
    labels = [sum(w * v for w, v in zip(target, x.values(), strict=True)) > 0 for x in rows]

    def taught(make):
        def act():
            model = make()
            for x, y in zip(rows, labels, strict=True):
                model.predict_one(x)
                model.learn_one(x, y)
            return model

        return act

    makers = {
        "river": Peer,
        "certified": lambda: NovikoffClassifier("perceptron"),
        "uncertified": lambda: NovikoffClassifier("perceptron", certified=False),
    }
    actions = {name: taught(make) for name, make in makers.items()}
    print(actions["certified"]().certify()[0])
    times = alternated(actions, repeats=7)
    line("River Perceptron", "certified wrapper, 20 features", ratio(times["river"], times["certified"]), 0.6)
    micro = {name: min(found) / ROUNDS * 1e6 for name, found in times.items()}
    print(", ".join(f"{name} {time:.2f} us a round" for name, time in micro.items()))
    line("10 us a round", "certified wrapper, 20 features", 10.0 / micro["certified"], 1.0)


def batch_of_scores():
    """decision_function of a fitted classifier, beside the product of the matrix and the weights alone."""
    from novikoff.sklearn import NovikoffClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 50))
    model = NovikoffClassifier("perceptron", shuffle=False).fit(X, X @ rng.normal(size=50) > 0)
    weights = model.ledger_.learner.weights
    assert np.allclose(model.decision_function(X), X @ weights)
    times = alternated({"product": lambda: X @ weights, "scores": lambda: model.decision_function(X)}, repeats=101)
    # The best of each: a product of 2 ms on all cores takes 10 ms or more whenever one of them is busy.
    line("X @ w, 100,000 x 50", "decision_function", min(times["product"]) / min(times["scores"]), 1 / 3)


def unknown_names():
    """A prediction with a name never seen, where a thousand and a million names are known."""
    for spec in ("perceptron", "ftrl", "online-gradient", "scaled:[perceptron]"):
        asked = {}
        for known in (10**3, 10**6):
            learner = nk.make(spec, "learner")
            learner.learn_one({f"f{i}": 0.001 for i in range(known)}, -1)
            asked[known] = _asking(learner)
        times = alternated(asked, repeats=15)
        line("10^3 known names", f"{spec}, 10^6", ratio(times[10**3], times[10**6]), 0.5)


def _asking(learner):
    rows = [{"f1": 1.0, f"new {k}": 2.0} for k in range(300)]
    for x in rows[:3]:
        learner.predict_one(x)
    return lambda: [learner.predict_one(x) for x in rows]


if __name__ == "__main__":
    main()
