"""Hedge over three River classifiers and two novikoff learners: mistakes of each, regret and its bound.

Phishing comes with River. The other stream is synthetic, similar to Elec2, the half-hourly prices of an electricity
market: prices follow the demand, which has a daily cycle, weather and a slow trend; the label is whether the price is
above its mean of the last day. Labels are correlated in time, and the best predictor changes.
"""

import math
import random
from collections import deque

import novikoff as nk

ROUNDS = 20_000
A_DAY = 48


def main():
    from river import datasets

    for name, stream in (("Phishing", list(datasets.Phishing())), ("Elec2-like", list(market(ROUNDS)))):
        play_team(name, stream)


def play_team(name, stream):
    from river import linear_model, naive_bayes, preprocessing, tree

    models = {
        "River logistic regression, scaled": preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        "River Gaussian naive Bayes": naive_bayes.GaussianNB(),
        "River Hoeffding tree": tree.HoeffdingTreeClassifier(),
    }
    team = [nk.wrap(model) for model in models.values()]
    ours = {"novikoff arow": "arow", "novikoff ftrl": "ftrl"}
    team += [nk.make(spec, "learner") for spec in ours.values()]
    ledger = nk.play(nk.Hedge(team, names=[*models, *ours]), [(x, 1 if y else -1) for x, y in stream])
    certificate = ledger.certify()[0]
    best = min(member.mistakes for member in ledger.members)
    print(
        f"\n{name}, {ledger.rounds:,} rounds; always the most frequent label: {ledger.best_constant.costs:,} mistakes"
    )
    for who, member, weight in zip([*models, *ours], ledger.members, ledger.learner.weights, strict=True):
        print(f"  {who:<36} {member.mistakes:>6,} mistakes   weight {weight:.4f}")
    print(f"  {'Hedge over the five':<36} {ledger.expected:>8,.1f} expected, {ledger.mistakes:,} made")
    regret = ledger.expected - best
    print(f"  regret {regret:.2f} <= {certificate.bound:.2f} ({certificate.theorem}, {certificate.status})")
    assert certificate.status == "valid"
    assert regret <= certificate.bound


def market(rounds, seed=0):
    """Yield rows (x, y) of a market: y is whether the price is above its mean of the last day."""
    coins = random.Random(seed)
    weather = swell = 0.0
    prices = deque([0.06] * A_DAY, maxlen=A_DAY)
    demand = other = 0.4
    for t in range(rounds):
        at, day = t % A_DAY / A_DAY, t // A_DAY
        weather = 0.995 * weather + 0.02 * coins.gauss(0, 1)
        swell = 0.9 * swell + 0.01 * coins.gauss(0, 1)
        x = {"period": at, "day": day % 7 / 7.0, "price before": prices[-1], "demand": demand, "other demand": other,
             "transfer": 0.5 + demand - other}  # fmt: skip
        cycle = math.sin(2 * math.pi * (at - 0.25)) + 0.4 * math.sin(4 * math.pi * at) * math.cos(day / 60)
        demand = 0.45 + 0.12 * cycle - 0.05 * (day % 7 >= 5) + 0.1 * weather
        other = 0.4 + 0.1 * cycle + 0.1 * weather + 0.02 * coins.gauss(0, 1)
        price = max(0.0, 0.06 + 0.1 * (demand - 0.45) * (1 + 0.5 * math.sin(day / 40)) + swell)
        mean = sum(prices) / A_DAY
        prices.append(price)
        yield x, price > mean


if __name__ == "__main__":
    main()
