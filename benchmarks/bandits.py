"""Bandits: true regret, its bound from observed losses and in advance, and rounds per second.

Run: python -m benchmarks bandits
"""

import statistics
import time

import novikoff as nk

ROUNDS, SEEDS, LONG = 100_000, 5, 10_000_000
LEARNERS = {
    "exp3-ix": lambda seed: nk.Exp3IX(10, seed=seed),
    "exp3-ix:horizon=100000": lambda seed: nk.Exp3IX(10, horizon=ROUNDS, seed=seed),
    "tsallis-inf": lambda seed: nk.TsallisINF(10, seed=seed),
}


def play(make, gap, switches, seed):
    ledger = nk.play(make(seed), nk.synthetic.bandit_losses(gap=gap, rounds=ROUNDS, switches=switches, seed=seed))
    found = {one.theorem: one for one in ledger.certify()}
    advance = found.get("ix_regret") or found["tsallis_regret"]
    seen = found["observable_regret"]
    return seen.observed, seen.bound, advance.bound


def main():
    print(f"K = 10, {ROUNDS:,} rounds, means of {SEEDS} seeds")
    print(f"{'learner':<24} {'gap':>5} {'switches':>8} {'true regret':>12} {'observable bound':>19} {'in advance':>11}")
    for name, make in LEARNERS.items():
        for gap, switches in ((0.1, 0), (0.3, 0), (0.02, 0), (0.3, 4)):
            games = [play(make, gap, switches, seed) for seed in range(SEEDS)]
            true, seen, advance = (statistics.mean(some) for some in zip(*games, strict=True))
            told = f"{true:>12,.0f} {seen:>19,.0f} {advance:>11,.0f}"
            ratio = "" if gap != 0.1 or name == "tsallis-inf" else f"   {seen / true:.2f}x (at most 2.5x)"
            print(f"{name:<24} {gap:>5g} {switches:>8} {told}{ratio}", flush=True)
    for name in ("exp3-ix", "tsallis-inf"):
        stream = nk.synthetic.bandit_losses(rounds=LONG)
        start = time.process_time()
        nk.play(LEARNERS[name](0), stream)
        rate = LONG / (time.process_time() - start)
        mark = "" if rate >= LONG / 60 else "   BELOW"
        print(f"{name:<24} {rate:>12,.0f} rounds per CPU second (at least {LONG / 60:,.0f}){mark}")


if __name__ == "__main__":
    main()
