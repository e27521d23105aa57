"""A certified round in `novikoff.integrations.river`, relative to River's own models without certificates.

Phishing (1,250 rows of 9 numbers) is played twice, predict_one, then learn_one; keys are names or integers. CPU time,
the minimum of several alternated runs: other programs on the machine can only make a run slower.
"""

import time

from river import datasets, linear_model, preprocessing

from novikoff.integrations.river import NovikoffClassifier

TURNS = 5
MOST = 3.0
"""Largest allowed time of a certified round, relative to River's."""
PEERS = {
    "perceptron": linear_model.Perceptron,
    "scaled logistic": lambda: preprocessing.StandardScaler() | linear_model.LogisticRegression(),
}
OURS = {
    "perceptron": "perceptron",
    "logistic": "scaled logistic",
    "ftrl": "scaled logistic",
    "auto:fast=true": "scaled logistic",
}
"""Each learner, and the River model it is compared with."""


def main():
    named = [(dict(x), y) for _ in range(2) for x, y in datasets.Phishing()]
    places = {name: place for place, name in enumerate(named[0][0])}
    numbered = [({places[name]: value for name, value in x.items()}, y) for x, y in named]
    for keys, rows in (("names", named), ("integers", numbered)):
        makers = {**PEERS, **{f"our {spec}": lambda spec=spec: NovikoffClassifier(spec) for spec in OURS}}
        actions = {name: playing(make, rows) for name, make in makers.items()}
        for act in actions.values():
            act()  # compile
        turns = [{name: processor_time(act) / len(rows) * 1e6 for name, act in actions.items()} for _ in range(TURNS)]
        best = {name: min(turn[name] for turn in turns) for name in actions}
        for spec, peer in OURS.items():
            ours, theirs = best[f"our {spec}"], best[peer]
            mark = "" if ours <= MOST * theirs else "   ABOVE"
            print(f"{spec:<15} {keys:<14} {ours:6.1f} us   River's {peer:<16} {theirs:5.1f} us"
                  f" {ours / theirs:6.2f}x the time (at most {MOST:g}x){mark}", flush=True)  # fmt: skip


def processor_time(act):
    start = time.process_time()
    act()
    return time.process_time() - start


def playing(make, rows):
    """Return a function that plays all rows as River does."""

    def act():
        model = make()
        for x, y in rows:
            model.predict_one(x)
            model.learn_one(x, y)

    return act


if __name__ == "__main__":
    main()
