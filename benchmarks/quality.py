"""Quality board: progressive error, log loss, AUC or RMSE and MAE, CPU time and bound of `auto` and its peers.

Each row is predicted, then learned, in one pass. benchmarks/quality_streams.py lists the streams,
benchmarks/quality_peers.py the peers with their settings. Results are stored per stream, order and learner in a file
(benchmarks/quality.jsonl), and not computed again; `--page` writes docs/quality.md from that file and plays nothing.

    python -m benchmarks quality --learners "River ARF(10)" LightGBM --streams iris,adult
    python -m benchmarks quality --learners auto --again --jobs 2
    python -m benchmarks quality --page docs/quality.md

A round in which a label occurs for the first time is not counted in the log loss: River's learners cannot predict such
a label. For numbers the first row is not counted: the prediction before it is 0 for most learners.
"""

import argparse
import functools
import importlib.metadata
import json
import multiprocessing
import pathlib
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np

from benchmarks import quality_page, quality_peers, quality_streams

HERE = pathlib.Path(__file__).parent
RESULTS = HERE / "quality.jsonl"
OURS = ("auto",)
ORDERS = 5
BLOCKS = 20
"""Parts of a stream whose mean losses are stored, for the standard error on streams with one order."""
PACKAGES = {"River": "river", "VW": "vowpalwabbit", "MOA": "capymoa", "LightGBM": "lightgbm"}
"""Package of a peer, by the first word of its name."""


@functools.lru_cache(maxsize=64)
def rows(stream: str, order: int) -> quality_streams.Rows:
    return quality_streams.rows(stream, order)


def figures(found: quality_streams.Rows, played: quality_peers.Played) -> dict[str, Any]:
    """Return the measures of one pass."""
    result: dict[str, Any] = {"rows": len(found.y), "seconds": short(played.seconds, 4)}
    if found.labels:
        wrong = (played.predictions != found.y).astype(float)
        result |= {"error": short(wrong.mean(), 8)}
        losses = [wrong]
        if played.chances is not None:
            new = np.zeros(len(found.y), bool)
            new[np.unique(found.y, return_index=True)[1]] = True
            lost = np.where(new, np.nan, -np.log(np.maximum(played.chances, 1e-300)))
            result["log_loss"] = short(np.nanmean(lost), 8)
            losses.append(lost)
        if played.scores is not None:
            result["auc"] = short(area(played.scores, found.y), 8)
    else:
        off = (played.predictions - found.y)[1:]
        result |= {"rmse": short(np.sqrt(np.mean(off**2)), 8), "mae": short(np.mean(np.abs(off)), 8)}
        losses = [off**2, np.abs(off)]
    if played.bound is not None:
        result |= {"bound": short(played.bound, 10), "loss": short(played.loss, 10)}
        if not found.labels:  # the first row is not counted: neither are its loss and its part of the bound
            result["first"] = short(float((played.predictions[0] - found.y[0]) ** 2), 10)
    names = ("error", "log_loss") if found.labels else ("rmse", "mae")
    result["blocks"] = {name: blocks(some) for name, some in zip(names, losses, strict=False)}
    return result


def blocks(losses: Any) -> list[float]:
    """Return the mean loss of each of the parts of a stream."""
    return [short(np.nanmean(part), 5) for part in np.array_split(losses, BLOCKS)]


def short(value: Any, digits: int) -> float:
    return float(f"{float(value):.{digits}g}")


def area(scores: Any, y: Any) -> float:
    """Return the probability that a random 1 has a higher score than a random 0, ties by half."""
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[places]
    positive = int(np.sum(y == 1))
    return float((ranks[y == 1].sum() - positive * (positive + 1) / 2.0) / (positive * (len(y) - positive)))


def play(stream: str, order: int, learner: str) -> dict[str, Any]:
    """Play one pass and return its line of the results."""
    found = rows(stream, order)
    peer = quality_peers.PEERS.get(learner)
    result = peer.play(found) if peer else quality_peers.ours(learner, found)
    package = PACKAGES.get(learner.split()[0], "scikit-learn" if peer else "novikoff")
    version = f"{package} {importlib.metadata.version(package)}"
    line = {"stream": stream, "order": order, "learner": learner, "version": version, **figures(found, result)}
    if order and not found.ordered:
        del line["blocks"]
    return line


class Results:
    """Lines by stream, order and learner, stored in a file."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path, self.lines = path, {}
        if path.exists():
            for text in path.read_text(encoding="utf-8").splitlines():
                line = json.loads(text)
                self.lines[line["stream"], line["order"], line["learner"]] = line

    def add(self, line: dict[str, Any]) -> None:
        """Store a line; a later one of the same pass replaces it."""
        self.lines[line["stream"], line["order"], line["learner"]] = line
        with self.path.open("a", encoding="utf-8") as file:
            print(json.dumps(line), file=file)

    def tidy(self) -> None:
        """Write the file again, sorted and without replaced lines."""
        lines = [json.dumps(self.lines[key]) for key in sorted(self.lines, key=lambda key: (key[0], key[2], key[1]))]
        self.path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def tasks(chosen: argparse.Namespace, results: Results) -> list[tuple[float, str, int, str]]:
    """Return (estimated seconds, stream, order, learner) of missing passes, the first order and quick ones first."""
    found = []
    for stream in chosen.streams:
        try:
            some = rows(stream, 0)
        except (FileNotFoundError, ModuleNotFoundError) as error:
            print(f"({stream} is left out: {error})", file=sys.stderr)
            continue
        for learner in chosen.learners:
            peer = quality_peers.PEERS.get(learner)
            ours = 1 if some.ordered else chosen.orders
            seconds = len(some.y) * cost(learner, results) / 1e6
            wanted = range(peer.orders(some, chosen.orders) if peer else ours)
            missing = [n for n in wanted if chosen.again or (stream, n, learner) not in results.lines]
            found += [(seconds, stream, order, learner) for order in missing]
    return sorted(found, key=lambda task: (task[2] > 0, task[0]))


def cost(learner: str, results: Results) -> float:
    """Return microseconds per row: those of the results, or an estimate."""
    lines = [line for (_, _, name), line in results.lines.items() if name == learner]
    if lines:
        return 1e6 * sum(line["seconds"] for line in lines) / sum(line["rows"] for line in lines)
    return quality_peers.PEERS[learner].cost if learner in quality_peers.PEERS else 300.0


def run(chosen: argparse.Namespace, results: Results) -> None:
    """Play what is missing and store it."""
    todo = tasks(chosen, results)
    left, began, done = sum(task[0] for task in todo), time.monotonic(), 0.0
    for number, (task, answer) in enumerate(answers(todo, chosen.jobs), 1):
        estimate, stream, order, learner = task
        try:
            line = answer()
        except Exception as error:
            said = f"failed: {error!r:.200}"
        else:
            results.add(line)
            names = ("error", "log_loss", "auc", "rmse", "mae", "seconds")
            said = ", ".join(f"{name} {line[name]:.4g}" for name in names if name in line)
        left, done = left - estimate, done + estimate
        minutes = left * (time.monotonic() - began + 10.0) / (done + 10.0) / 60.0
        told = f"[{number}/{len(todo)}, {minutes:.0f} min left] {stream}, order {order}, {learner}: {said}"
        print(told, file=sys.stderr, flush=True)
    results.tidy()


def answers(todo: list[Any], jobs: int) -> Any:
    """Yield each task and the function that returns its line, as soon as it is done; in this process if `jobs` is 1."""
    if jobs == 1:
        yield from ((task, functools.partial(play, *task[1:])) for task in todo)
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        asked = {pool.submit(play, *task[1:]): task for task in todo}
        yield from ((asked[answer], answer.result) for answer in as_completed(asked))


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks quality", description=__doc__.splitlines()[0])
    streams, learners = quality_streams.STREAMS, [*OURS, *quality_peers.PEERS]
    parser.add_argument("--streams", metavar="A,B", help=f"of {', '.join(streams)}; all by default")
    parser.add_argument(
        "--learners", nargs="+", metavar="NAME", help=f"specs of novikoff, or of {', '.join(learners)}; all by default"
    )
    parser.add_argument("--orders", type=int, default=ORDERS, metavar="N", help=f"orders of the rows ({ORDERS})")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (1)")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS, metavar="FILE", help="file of the results")
    parser.add_argument("--again", action="store_true", help="play what is in the file again")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE", help="play nothing, write the page")
    chosen = parser.parse_args()
    chosen.streams = chosen.streams.split(",") if chosen.streams else list(streams)
    chosen.learners = chosen.learners or learners
    if unknown := [name for name in chosen.streams if name not in streams]:
        parser.error(f"a stream must be one of {', '.join(streams)}: got {unknown[0]}")
    return chosen


def main() -> None:
    chosen = options()
    results = Results(chosen.results)
    if chosen.page is None:
        run(chosen, results)
        print(quality_page.summary(results.lines))
    else:
        chosen.page.write_text(quality_page.page(results.lines), encoding="utf-8")


if __name__ == "__main__":
    main()
