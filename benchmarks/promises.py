"""Guarantees on real data, in one pass: observed and guaranteed loss per round, and their ratio.

Rows are shuffled with seed 0; time series are played in their own order. Comparators:

    in hindsight     the best for all rows; a run reports it while its rows fit into the 16 MB it keeps
    in one pass      fitted to the first tenth of the rows, then evaluated on the rest, as in a stream too long to keep
    its own weights  the weights of the learner, or of a member, after 2^k rounds, also in one pass. For
                     `linear-mixture` (`linear_mixture_frozen`) at most the first eighth of the rounds is observed
                     rather than guaranteed; for `ftrl` (`ftrl_suffix`) the bound is on the loss since that round

The best constant, in hindsight, is for the same loss; a guarantee above it is worth little. The benchmark fails if a
guarantee is below the observed value. Streams are those of benchmarks/quality.py with two labels.
"""

import argparse
import sys

import numpy as np
from scipy.sparse import issparse

import novikoff as nk
from benchmarks.real import DENSE, NARROW, STREAMS, Data
from novikoff.core.types import Sparse
from novikoff.game.specs import make

LEARNERS = (
    "linear-mixture", "linear-mixture:fast=true", "logistic", "ftrl", "vaw:probabilities=true", "arow",
    "second-order-perceptron",
)  # fmt: skip
SHARE = 0.1


def promised(spec, data, share):
    """Return the certificates of a game whose tracker keeps this share of the rows."""
    learner, x = make(spec, "learner"), data.x
    ledger = nk.Ledger(learner)
    ledger.tracker = learner.tracker() if hasattr(learner, "tracker") else None
    if issparse(x):
        entries = x.nnz
        x = Sparse(x.indptr.astype(np.uint64), x.indices.astype(np.uint32), x.data, x.shape[1])
    else:
        entries = int(np.count_nonzero(x))
    if ledger.tracker is not None:
        scores = 9 + 8 * (learner.members + 1 if hasattr(learner, "members") else 1)
        ledger.tracker.keep = 10**12 if share == 1.0 else int(share * (12 * (entries + len(x)) + scores * len(x)))
    nk.Game(learner, ledger).learn_batch(nk.Batch(x, data.y, 1))
    return ledger.certify()


def best_constant(quantity, y):
    share = np.mean(y == 1)
    if "log loss" in quantity:
        return -sum(part * np.log(part) for part in (share, 1.0 - share) if part)
    return share * (1.0 - share) if "Brier" in quantity else min(share, 1.0 - share)


def line(stream, spec, how, found, rounds, y):
    since = rounds - found.quantities.get("after", 0) if found.theorem == "ftrl_suffix" else rounds
    if found.bound is None:
        print(f"| {stream} | {spec} | {how} | {found.quantity} | {found.reason} | | | |", flush=True)
        return False
    constant = best_constant(found.quantity, y)
    ratio = found.bound / found.observed if found.observed else np.inf
    member = found.quantities.get("member", "")
    cells = (f"{value / since:.4f}" for value in (found.observed, found.bound))
    told = [stream, spec, how, found.quantity, *cells, f"{ratio:.2f}", f"{constant:.4f}", found.status, member]
    print(f"| {' | '.join(told)} |", flush=True)
    return found.status == "violated" or found.bound < found.observed


def main():
    parser = argparse.ArgumentParser("python -m benchmarks promises", description=__doc__.splitlines()[0])
    parser.add_argument("--streams", metavar="A,B", help=f"of {', '.join(STREAMS)}; all by default")
    parser.add_argument("--learners", nargs="+", metavar="SPEC", default=LEARNERS)
    chosen = parser.parse_args()
    broken = False
    print(
        "| stream | learner | comparator | quantity | observed | guaranteed | ratio | best constant | status | member |"
    )
    print(f"|{'---|' * 10}")
    for stream in chosen.streams.split(",") if chosen.streams else STREAMS:
        try:
            data = STREAMS[stream]()
        except FileNotFoundError:
            print(f"({stream} is skipped: set NOVIKOFF_DATA to the folder of the data)", file=sys.stderr)
            continue
        if data.numbers:
            continue
        order = np.random.default_rng(0).permutation(len(data.y)) if data.shuffled else np.arange(len(data.y))
        mixed = Data(data.x[order], data.y[order])
        for spec in chosen.learners:
            if spec.partition(":")[0] in NARROW and data.x.shape[1] > DENSE:
                continue
            for share, how in ((1.0, "in hindsight"), (SHARE, "in one pass")):
                for found in promised(spec, mixed, share):
                    own = found.theorem in ("ftrl_suffix", "linear_mixture_frozen")
                    if (share == 1.0 and not own) or (share != 1.0 and "vaw" not in spec):
                        broken |= line(stream, spec, "its own weights" if own else how, found, len(mixed.y), mixed.y)
    if broken:
        sys.exit("a guarantee was violated")


if __name__ == "__main__":
    main()
