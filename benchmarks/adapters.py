"""scikit-learn's decision_function relative to a matrix product, and predictions with unknown feature names."""

import numpy as np

import novikoff as nk
from benchmarks.timing import alternated, line, ratio


def main():
    batch_of_scores()
    unknown_names()


def batch_of_scores():
    """Time decision_function of a fitted classifier relative to the product of matrix and weights."""
    from novikoff.integrations.sklearn import NovikoffClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 50))
    model = NovikoffClassifier("perceptron:scale=none", shuffle=False).fit(X, X @ rng.normal(size=50) > 0)
    weights = model.ledger_.learner.weights
    assert np.allclose(model.decision_function(X), X @ weights)
    times = alternated({"product": lambda: X @ weights, "scores": lambda: model.decision_function(X)}, repeats=101)
    # The minimum of each: a product of 2 ms on all cores takes 10 ms or more whenever one of them is busy.
    line("X @ w, 100,000 x 50", "decision_function", min(times["product"]) / min(times["scores"]), 1 / 3)


def unknown_names():
    """Time a prediction with an unknown feature name after learning a thousand or a million names."""
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
