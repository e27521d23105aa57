"""On Ray everything is as on threads, to the bit: whoever does a task, and however often it had to be done again.

Ray is not installed by `make test`; `make test-ray` installs it and runs this file. One test is short, the others slow.
"""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import novikoff as nk
from novikoff.core.errors import InputError, MismatchError, SourceError
from novikoff.core.executors import Executor, executor
from novikoff.distributed.mixed import weights_of

ray = pytest.importorskip("ray", reason='Ray is not installed: pip install "novikoff[ray]"')
pytestmark = pytest.mark.filterwarnings("ignore")
SMALL = {"object_store_memory": 100_000_000, "include_dashboard": False}
FAST = {"health_check_period_ms": 500, "health_check_timeout_ms": 500, "health_check_failure_threshold": 2}


@pytest.fixture(scope="module")
def here():
    """Ray on this machine, with two workers."""
    ray.init("local", num_cpus=2, log_to_driver=False, **SMALL)
    yield
    ray.shutdown()


@pytest.fixture
def cluster():
    """Three nodes, a worker each."""
    from ray.cluster_utils import Cluster

    ray.shutdown()
    nodes = Cluster(True, head_node_args={"num_cpus": 1, "_system_config": FAST, **SMALL})
    for _ in range(2):
        nodes.add_node(num_cpus=1, object_store_memory=100_000_000)
    ray.init(nodes.address, log_to_driver=False)
    nodes.wait_for_nodes()
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, (4000, 8))
    y = np.where((x[:, 0] > x[:, 1]) ^ (rng.random(4000) < 0.05), 1, -1)
    path = tmp_path / "rows.svm"
    path.write_text(
        "".join(f"{b} " + " ".join(f"{i}:{v}" for i, v in enumerate(a) if v) + "\n" for a, b in zip(x, y, strict=True))
    )
    return str(path)


def mixed(file, on, epochs=4, **options):
    return nk.parallel_perceptron(file, 6, epochs, "mistakes", bias=1.0, held=1, on=on, **options)


def told(mixed):
    learners = (mixed.learner, mixed.averaged, mixed.kept.classifier)
    bits = [weights_of(one).tobytes() for one in learners]
    return [*bits, repr(mixed.epochs), repr(mixed.certify()), repr(mixed.facts())]


def games(compared):
    """All but the times."""
    return repr([(game.mistakes, game.expected, game.updates, game.curve, game.certificates)
                 for learner in compared.learners for game in learner.games])  # fmt: skip


class Through(Executor):
    """Does what another does, but calls `change` with each item first, in the worker."""

    def __init__(self, within, change):
        self._within, self._change = within, change

    def map(self, function, items, *shared, progress=None):
        change = self._change

        def changed(over, item, *shared):
            change(item)
            return function(over, item, *shared)

        return self._within.map(changed, items, *shared, progress=progress)


def test_ray_changes_no_bit(here, file):
    alone = mixed(file, executor("threads", 1))
    assert told(mixed(file, "threads")) == told(alone)
    assert told(mixed(file, "ray")) == told(alone)
    specs = ["perceptron:bias=1", "rbp:budget=20,gamma=0.1"]
    assert games(nk.compare(specs, file, shuffles=2, on="ray")) == games(nk.compare(specs, file, shuffles=2))
    repeated = [nk.repeat("consistent:[thresholds:n=9],random=true", [(3, 1), (2, -1)] * 9, range(3), on=on)
                for on in ("threads", "ray")]  # fmt: skip
    assert str(repeated[0]) == str(repeated[1])
    sums = [nk.comparator_losses(file, [np.arange(9.0)], on=on) for on in ("threads", "ray")]
    assert repr(sums[0].facts()) == repr(sums[1].facts())
    ledger = nk.play("perceptron", file, candidates=20)
    kept = [nk.finalize(ledger, "best", stream=file, on=on) for on in ("threads", "ray")]
    assert repr(kept[0].certificates) == repr(kept[1].certificates)
    means = [
        nk.parallel_gradient((np.eye(4), np.ones(4)), shards=2, on=on).classifier.weights for on in ("threads", "ray")
    ]
    assert means[0].tobytes() == means[1].tobytes()
    best = [nk.hindsight(nk.read(file), on=on) for on in ("threads", "ray")]
    assert repr((best[0].facts, best[0].hinge, best[0].margin)) == repr((best[1].facts, best[1].hinge, best[1].margin))
    with pytest.raises(MismatchError, match="needs examples of domain index"):
        nk.compare(["threshold-halving:n=10"], file, on="ray")


@pytest.mark.slow
def test_a_worker_that_is_killed_changes_no_bit(here, file, tmp_path):
    marker = str(tmp_path / "died")

    def dies_once(item):
        import os

        if not os.path.exists(marker):
            open(marker, "x").close()
            os.kill(os.getpid(), 9)

    assert told(mixed(file, Through(executor("ray"), dies_once))) == told(mixed(file, "threads"))
    assert os.path.exists(marker)


DRIVER = """
import sys, novikoff as nk
file, address, path = sys.argv[1:]
nk.parallel_perceptron(file, 6, 12, "mistakes", bias=1.0, held=1, on=address, save=path, resume=path)
"""


@pytest.mark.slow
def test_a_driver_that_is_killed_is_resumed_by_another(here, file, tmp_path):
    path = tmp_path / "mixed.nk"
    address = ray.get_runtime_context().gcs_address
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, file, address, str(path)])
    while driver.poll() is None and not path.exists():
        time.sleep(0.01)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert len(nk.load(path).epochs) < 12
    assert told(mixed(file, "ray", 12, save=path, resume=path)) == told(mixed(file, "threads", 12))


@pytest.mark.slow
def test_three_nodes_change_no_bit_nor_does_the_loss_of_one(cluster, file):
    alone = told(mixed(file, "threads"))
    assert told(mixed(file, "ray")) == alone

    def slowly(item):
        import time

        time.sleep(0.3)

    victim = next(iter(cluster.worker_nodes))
    killer = threading.Timer(1.5, lambda: cluster.remove_node(victim, allow_graceful=False))
    killer.start()
    assert told(mixed(file, Through(executor("ray"), slowly))) == alone
    killer.join()
    assert sum(node["Alive"] for node in ray.nodes()) == 2


@pytest.mark.slow
def test_a_failure_ends_the_other_tasks_and_nothing_else(here, tmp_path):
    """ray.cancel would end this process: sooner or later a task is done at the very moment at which it is cancelled."""
    marker = str(tmp_path / "ended")

    def until_over(over, item):
        import time

        if item == 0:
            raise ValueError("no")
        while not over():
            time.sleep(0.01)
        open(marker, "w").close()

    def quickly(over, item):
        if item % 3 == 0:
            raise ValueError("no")

    for _ in range(100):
        with pytest.raises(ValueError, match="no"):
            executor("ray").map(quickly, range(8))
    with pytest.raises(ValueError, match="no"):
        executor("ray").map(until_over, [0, 1])
    until = time.monotonic() + 30
    while not os.path.exists(marker) and time.monotonic() < until:
        time.sleep(0.05)
    assert os.path.exists(marker)


@pytest.mark.slow
def test_unsupported_remote_tasks_are_reported(here, tmp_path):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: pip install novikoff[urls]")
    fsspec.filesystem("memory").pipe_file("/here.csv", b"a,y\n" + b"1,0\n2,1\n" * 50)  # of this process alone
    with pytest.raises(SourceError, match="Every machine of the cluster must see it"):
        nk.parallel_perceptron("memory://here.csv", 2, 2, on="ray")
    lock = threading.Lock()
    with pytest.raises(InputError, match="only data and functions of data can be sent to other machines"):
        nk.compare({"mine": lambda seed: (lock, nk.Perceptron())[1]}, ([[1.0], [2.0]], [1, -1]), on="ray")
    with pytest.raises(InputError, match="a process can use one Ray cluster"):
        nk.parallel_perceptron("demo:iris", 2, 1, on="10.9.9.9:6379")


@pytest.mark.slow
def test_control_c_leaves_no_task_behind(here, file, tmp_path):
    path, address = tmp_path / "mixed.nk", ray.get_runtime_context().gcs_address
    asked = ["parallel-perceptron", file, "--epochs", "100000", "--on", address, "--save", str(path)]
    driver = subprocess.Popen(
        [sys.executable, "-m", "novikoff", *asked],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background job inherits that it is ignored
    )
    while driver.poll() is None and not path.exists():
        time.sleep(0.01)
    driver.send_signal(signal.SIGINT)
    _, said = driver.communicate(timeout=60)
    assert (driver.returncode, "Traceback" in said, "stopped by Ctrl-C" in said) == (130, False, True)
    until = time.monotonic() + 30
    while ray.available_resources().get("CPU") != 2.0 and time.monotonic() < until:
        time.sleep(0.05)
    assert ray.available_resources()["CPU"] == 2.0
