"""Late labels: mistakes of the served predictions and the bounds B + F and (G + 1) B, at growing delays.

Each round is served at once; its label arrives after a random delay (geometric, with the mean in the table), so labels
arrive out of order; one in fifty never arrives, one in twenty arrives twice. A round expires after ten times the mean
delay. M is the number of mistakes served, U that of the game in order of arrival, B the bound of its theorem, F the
number of predictions that changed before their label arrived, G the largest number of other rounds pending when a label
arrived. M and F are counted here independently of the ledger: if they differ, or a bound is below M, the benchmark
fails.
"""

import argparse

import numpy as np

import novikoff as nk
from novikoff.core.errors import LateError

DELAYS = (0, 10, 100, 1000)
LEARNERS = ("perceptron:bias=1", "second-order-perceptron", "auto:fast=true")


def events(rng, rounds, delay):
    """Return the events ("predict", t, time) and ("label", t, time) in order of time."""
    delays = rng.geometric(1.0 / (delay + 1.0), rounds) - 1
    found = [(t, 0, t, "predict") for t in range(rounds)]
    for t in np.flatnonzero(rng.random(rounds) >= 0.02).tolist():
        found += [(t + int(delays[t]), 1, t, "label")] * (1 + (rng.random() < 0.05))
    return [(what, t, at) for at, _, t, what in sorted(found)]


def played(learner, x, y, order, waits):
    """Play the game; return its ledger, M and F."""
    game, served, wrong, changed = nk.Game(learner, expire_seconds=waits), {}, 0, 0
    for what, t, at in order:
        if what == "predict":
            served[t] = game.predict_one(x[t], t, at=at)
            continue
        now = game.predict_one(x[t])
        try:
            game.learn_one(t, y[t], at=at)
        except LateError:  # too late
            served.pop(t, None)
        if t in served:  # otherwise a repeated label, which counts once
            said = served.pop(t)
            wrong, changed = wrong + (said != y[t]), changed + (said != now)
    return game.ledger, wrong, changed


def main():
    parser = argparse.ArgumentParser("python -m benchmarks late", description=__doc__.splitlines()[0])
    parser.add_argument("--learners", nargs="+", default=LEARNERS)
    parser.add_argument("--rounds", type=int, default=6000)
    parser.add_argument("--width", type=int, default=20)
    chosen = parser.parse_args()
    rng = np.random.default_rng(19)
    x = rng.normal(size=(chosen.rounds, chosen.width))
    y = np.where(x @ rng.normal(size=chosen.width) + rng.normal(size=chosen.rounds) > 0, 1, -1).tolist()
    print(f"{chosen.rounds:,} rounds, {chosen.width} features, noise\n")
    print("| learner | mean delay | labelled | M | U | B | F | B + F | G | (G+1) B |")
    print(f"|{'---|' * 10}")
    broken = False
    for spec in chosen.learners:
        for delay in DELAYS:
            order = events(np.random.default_rng(delay), chosen.rounds, delay)
            ledger, wrong, changed = played(nk.make(spec, "learner"), x, y, order, 10 * delay + 0.5)
            found = {one.theorem: one for one in ledger.certify()}
            first, second, late = found["delayed_mistakes"], found.get("delayed_conservative"), ledger.late
            folded = "" if second is None else f"{second.bound:,}"
            told = [f"{late.labelled:,}", wrong, late.arrival_mistakes, first.quantities["its_bound"], changed]
            cells = " | ".join(f"{n:,}" if isinstance(n, int) else n for n in told)
            print(f"| {spec} | {delay:,} | {cells} | {first.bound:,} | {late.others:,} | {folded} |", flush=True)
            broken |= (wrong, changed) != (late.mistakes, late.changed)
            broken |= any(one is not None and (one.bound < wrong or not one.holds) for one in (first, second))
    if broken:
        raise SystemExit("a bound is below the observed mistakes, or the ledger's counts differ")
