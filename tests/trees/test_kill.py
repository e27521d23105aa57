"""Trees, forests and `auto` that are killed and resumed, and trees and forests in several threads: the same bits."""

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import novikoff as nk
from helpers import novikoff as run

SPECS = ["tree:threshold=3", "forest:trees=3"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12_000, 4)).round(3)
    kinds = rng.integers(0, 5, 12_000)
    above = (x[:, 0] > 0) ^ (kinds == 2) ^ (rng.random(12_000) < 0.1)
    cells = [[*("" if v > 2.0 else repr(v) for v in row), "abcde"[k], "yes" if y else "no"]
             for row, k, y in zip(x.tolist(), kinds, above, strict=True)]  # fmt: skip
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_text("a,b,c,d,kind,label\n" + "\n".join(map(",".join, cells)) + "\n")
    return path


@pytest.mark.parametrize(
    "spec", [SPECS[0], *(pytest.param(spec, marks=pytest.mark.slow) for spec in (SPECS[1], "auto"))]
)
def test_a_killed_game_resumes_to_the_same_bits(spec, path, tmp_path):
    model, whole, pause, kills = tmp_path / "model.nk", nk.play(spec, str(path)), random.Random(0), 0
    command = ["run", spec, str(path), "--save", str(model), "--save-every", "700", "-q"]
    while kills < 3:
        resume = ["--resume", str(model)] if model.exists() else []
        before, since = os.stat(model).st_mtime_ns if model.exists() else 0, time.monotonic()
        game = subprocess.Popen([sys.executable, "-m", "novikoff", *command, *resume], stdout=subprocess.DEVNULL)
        while game.poll() is None and (not model.exists() or os.stat(model).st_mtime_ns == before):
            time.sleep(0.002)  # until it has saved once more
            assert time.monotonic() - since < 120
        time.sleep(pause.random() * 0.05)
        game.send_signal(signal.SIGKILL)
        game.wait()
        kills += 1
    done = run(*command, "--resume", str(model))
    assert done.returncode == 0, done.stderr
    resumed = nk.load(model)
    assert resumed.rounds == whole.rounds == 12_000
    assert resumed.log_loss == whole.log_loss
    assert str(resumed.certify()[0]) == str(whole.certify()[0])


def test_games_in_several_threads_give_the_same_bits(path):
    specs = SPECS * 3
    alone = {spec: nk.play(spec, str(path)).log_loss for spec in SPECS}
    with ThreadPoolExecutor(len(specs)) as pool:
        losses = list(pool.map(lambda spec: nk.play(spec, str(path)).log_loss, specs))
    assert losses == [alone[spec] for spec in specs]
