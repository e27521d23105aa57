"""Ray relative to threads: an epoch of mixing, compare on one and two workers, and the loss of a node.

Ray has two workers on this machine; the last part simulates three nodes. `python -m benchmarks ray --no-faults` skips
that part, --faults runs only that part.

The time of an epoch on a larger cluster is computed, not measured: the assumptions about its machines (`THERE`) are
printed with it; t0, t1 and the rate at which a core plays mapped rows are measured here.
"""

import argparse
import os
import statistics
import tempfile
import threading
import time
import warnings

import numpy as np

import novikoff as nk
from benchmarks.timing import alternated, line, ratio, seconds
from novikoff.comparators.linear import LinearScorer
from novikoff.core.executors import Executor, Ray, Threads
from novikoff.distributed import parallel_perceptron as mixing
from novikoff.distributed.mixed import unseen

ROWS, WIDTH = 600_000, 32
SMALL = {"object_store_memory": 300_000_000, "include_dashboard": False, "log_to_driver": False}
FAST = {"health_check_period_ms": 500, "health_check_timeout_ms": 500, "health_check_failure_threshold": 2}
THERE = {"bytes": 10e12, "machines": 100, "cores": 16, "shards": 1_600, "features": 100_000,
         "disk": 2e9, "storage": 1e9, "network": 1.25e9}  # fmt: skip
"""Assumed cluster: `disk` and `storage` in bytes per second and machine, `network` of the driver in bytes/s."""
CONFIGURATIONS = [f"rbp:budget=100,gamma={2.0**-k}" for k in range(16)]


def main():
    parser = argparse.ArgumentParser("python -m benchmarks ray", description=__doc__.splitlines()[0])
    parser.add_argument("--faults", action="store_true", help="run only the loss of a node")
    parser.add_argument("--no-faults", action="store_true", help="skip the loss of a node")
    asked = parser.parse_args()
    try:
        import ray
    except ImportError:
        print('Ray is not installed: pip install "novikoff[ray]"')
        return
    warnings.simplefilter("ignore")
    os.environ.setdefault(
        "RAY_worker_niceness", "0"
    )  # by default Ray's workers have a lower priority than all other processes
    with tempfile.TemporaryDirectory() as folder:
        path = written(os.path.join(folder, "rows.arrow"))
        began = time.perf_counter()
        ray.init("local", num_cpus=2, **SMALL)
        print(f"Ray started in {time.perf_counter() - began:.1f} s")
        on_ray = Ray()
        if not asked.faults:
            _epochs(path, on_ray)
            _configurations(on_ray)
        ray.shutdown()
        if not asked.no_faults:
            _lost_node(path)


def written(path):
    """Write 600,000 dense rows with `convert`: 154 MB of doubles."""
    coins = np.random.default_rng(0)
    x = coins.normal(size=(ROWS, WIDTH))
    y = np.where(x @ coins.normal(size=WIDTH) + coins.normal(size=ROWS) > 0, 1, -1)
    nk.convert(nk.Arrays(x, y), path)
    return path


def _begun(path, shards):
    """Return the arguments of an epoch: shards, state of the learner, state of the comparators."""
    stream = nk.read(path)
    parts = stream.parts(shards)
    scorer = LinearScorer.restore(mixing._fit(lambda: False, parts, 0.0, False), 0.0, False)
    return parts, nk.Perceptron().state(), unseen(scorer).state()


def _epochs(path, on_ray):
    threads, size = Threads(2), os.path.getsize(path)
    counts = (1, 101)
    few, many = (statistics.median(alternated({"": lambda n=n: on_ray.map(_nothing, range(n))})[""]) for n in counts)
    a_task = (many - few) / 100
    print(f"Ray: {1e3 * few:.1f} ms until the first task is done, then {1e3 * a_task:.2f} ms per task")
    for shards in (1, 2, 4, 8):
        parts, state, scorer = _begun(path, shards)
        given = (parts, state, scorer, False)
        actions = {"ray": lambda g=given: on_ray.map(mixing._play, *g),
                   "threads": lambda g=given: threads.map(mixing._play, *g)}  # fmt: skip
        for action in actions.values():
            action()
        times = alternated(actions)
        took = {name: statistics.median(found) for name, found in times.items()}
        model = few + shards * a_task + took["threads"]  # the work itself takes as long as in threads
        print(
            f"{shards} shards: threads {1e3 * took['threads']:.0f} ms, Ray {1e3 * took['ray']:.0f} ms, formula "
            f"{1e3 * model:.0f} ms ({size / 1e6:.0f} MB read, {shards * (WIDTH + 1):,} weights mixed, {shards} tasks)"
        )
        if shards == 1:
            rate = size / took["threads"]
        if shards == 2:
            line("three times an epoch in threads", "an epoch on Ray, 600,000 rows", 3.0 / ratio(*_pair(times)), 1.0)
    for place in ("disk", "storage"):
        print(extrapolated(few, a_task, rate, place, **THERE))


def extrapolated(t0, t1, rate, place, **there):
    """Return the time of an epoch on a larger cluster, by the formula of docs/ray.md, with its assumptions."""
    read = there["bytes"] / there["machines"] / there[place]
    played = there["bytes"] / (there["machines"] * there["cores"]) / rate
    tasks, mixed = t0 + there["shards"] * t1, there["shards"] * there["features"] * 8.0 / there["network"]
    whole = max(read, played) + tasks + mixed
    assumed = ", ".join(f"{name} {value:,.0f}" for name, value in there.items())
    return (
        f"cluster, from {place}: {whole:.0f} s per epoch (reading {read:.0f} s, playing meanwhile {played:.0f} s, "
        f"tasks {tasks:.1f} s, mixing {mixed:.1f} s)\n  assumed: {assumed}; measured: t0 {1e3 * t0:.1f} ms, "
        f"t1 {1e3 * t1:.2f} ms, {rate / 1e9:.1f} GB/s per core"
    )


def _pair(times):
    return times["ray"], times["threads"]


def _nothing(over, item):
    return item


def _configurations(on_ray):
    coins = np.random.default_rng(1)
    x = coins.normal(size=(5_000, 20))
    y = np.where(x[:, 0] + coins.normal(size=len(x)) > 0, 1, -1)
    one = Ray(cores=2)  # a task takes both cores: one at a time
    actions = {"one": lambda: nk.compare(CONFIGURATIONS, (x, y), on=one),
               "two": lambda: nk.compare(CONFIGURATIONS, (x, y), on=on_ray)}  # fmt: skip
    times = {"one": [], "two": []}
    for _ in range(3):
        for name, action in actions.items():
            action()  # warm up: Ray stops idle workers, so the second has to start again
            times[name].append(seconds(action))
    line("compare, 16 configurations, one worker of Ray", "two workers", ratio(times["one"], times["two"]), 1.6)


class Slow(Executor):
    """Executor whose tasks take half a second longer, so that a lost node has work in progress."""

    def map(self, function, items, *shared, progress=None):
        def slowly(over, item, *shared):
            import time

            time.sleep(0.5)
            return function(over, item, *shared)

        return Ray().map(slowly, items, *shared, progress=progress)


def _lost_node(path):
    from ray.cluster_utils import Cluster

    import ray

    told, took = [], {}
    for lost in (False, True):
        nodes = Cluster(True, head_node_args={"num_cpus": 1, "_system_config": FAST, **_node()})
        extra = [nodes.add_node(num_cpus=1, object_store_memory=100_000_000) for _ in range(2)]
        ray.init(nodes.address, log_to_driver=False)
        nodes.wait_for_nodes()
        nk.parallel_perceptron(path, 6, 1, on=Slow())  # start the workers, load the compiled loops
        timer = threading.Timer(2.0, lambda: nodes.remove_node(extra[0], allow_graceful=False))  # noqa: B023
        if lost:
            timer.start()
        took[lost] = seconds(lambda: told.append(nk.parallel_perceptron(path, 6, 6, on=Slow())))
        ray.shutdown()
        nodes.shutdown()
    same = told[0].learner.weights.tobytes() == told[1].learner.weights.tobytes()
    fewer = took[False] * 0.5  # two workers instead of three take half as long again
    print(
        f"three nodes: {took[False]:.1f} s; with one lost during the run: {took[True]:.1f} s, of which at most "
        f"{fewer:.1f} s because fewer nodes are left; same weights: {same}"
    )


def _node():
    return {"object_store_memory": 100_000_000, "include_dashboard": False}
