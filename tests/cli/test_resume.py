"""A game that is killed goes on from its last save as if nothing had happened, bit for bit."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import novikoff as nk
from helpers import first_of
from helpers import novikoff as run
from novikoff.data.formats.labelled_lines import CHUNK_BYTES

NOVIKOFF = [sys.executable, "-m", "novikoff"]
ROWS = 15_000


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    rng, rows = np.random.default_rng(0), ROWS
    target = rng.normal(size=300)
    places = np.arange(0, 296, 37) + rng.integers(0, 37, (rows, 8))
    values = rng.normal(size=(rows, 8)).round(3)
    above = (target[places] * values).sum(axis=1) + 0.3 * rng.normal(size=rows) > 0
    lines = [
        " ".join(["+1" if label else "-1", *(f"{i}:{v}" for i, v in zip(where, what, strict=True))])
        for label, where, what in zip(above, places.tolist(), values.tolist(), strict=True)
    ]
    path = tmp_path_factory.mktemp("text") / "stream.svm"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def whole(text, tmp_path_factory):
    """The game without a stop, and its file."""
    model = tmp_path_factory.mktemp("whole") / "whole.nk"
    done = run("run", "perceptron:bias=1", str(text), "--passes", "3", "--save", str(model), "--json", "-q")
    return json.loads(done.stdout), model


def same_game(told, model, whole):
    expected, saved = whole
    for key in ("rounds", "mistakes", "certificates", "size", "passes"):
        assert told[key] == expected[key], key
    one, two = nk.load(model), nk.load(saved)
    assert np.array_equal(one.learner.weights, two.learner.weights)
    assert one.learner.bias_weight == two.learner.bias_weight
    assert one.curve == two.curve


@pytest.mark.parametrize("seed", first_of(3))
def test_a_game_killed_at_any_moment_resumes_bit_exactly(text, whole, tmp_path, seed):
    model = tmp_path / "model.nk"
    command = [
        "run",
        "perceptron:bias=1",
        str(text),
        "--passes",
        "3",
        "--save",
        str(model),
        "--save-every",
        "500",
        "-q",
    ]
    pause, kills, end = random.Random(seed), 0, time.monotonic() + 60
    while kills < 3 and time.monotonic() < end:
        resume = ["--resume", str(model)] if model.exists() else []
        game = subprocess.Popen([*NOVIKOFF, *command, *resume], stdout=subprocess.DEVNULL)
        since = time.monotonic()
        before = os.stat(model).st_mtime_ns if model.exists() else 0
        while game.poll() is None and (not model.exists() or os.stat(model).st_mtime_ns == before):
            time.sleep(0.002)  # until it has saved once more
            assert time.monotonic() - since < 60
        time.sleep(pause.random() * 0.1)
        game.send_signal(signal.SIGKILL)
        game.wait()
        kills += 1
        assert nk.load(model).rounds > 0  # whole, whenever it was killed
    done = run(*command, "--resume", str(model), "--json")
    assert done.returncode == 0, done.stderr
    same_game(json.loads(done.stdout), model, whole)


def test_ctrl_c_saves_and_the_game_resumes(text, whole, tmp_path):
    model = tmp_path / "model.nk"
    command = ["run", "perceptron:bias=1", str(text), "--passes", "3", "--save", str(model), "-q"]
    game = subprocess.Popen(
        [*NOVIKOFF, *command, "--save-every", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 60
    while not model.exists():
        time.sleep(0.005)
        assert time.monotonic() < end
    game.send_signal(signal.SIGINT)
    _, err = game.communicate(timeout=60)
    if game.returncode == 130:  # else it had ended already
        assert "stopped by Ctrl-C" in err
    done = run(*command, "--resume", str(model), "--json")
    same_game(json.loads(done.stdout), model, whole)


def test_on_another_source_it_continues_as_one_longer_stream(text, tmp_path):
    lines = text.read_text().splitlines(keepends=True)[:3000]
    parts = [tmp_path / name for name in ("one.svm", "two.svm", "both.svm")]
    for path, content in zip(parts, (lines[:1000], lines[1000:], lines), strict=True):
        path.write_text("".join(content))
    model = tmp_path / "model.nk"
    run("run", "perceptron", str(parts[0]), "--save", str(model), "-q")
    told = json.loads(run("run", "perceptron", str(parts[1]), "--resume", str(model), "--json", "-q").stdout)
    both = json.loads(run("run", "perceptron", str(parts[2]), "--json", "-q").stdout)
    assert (told["rounds"], told["mistakes"], told["certificates"]) == (3000, both["mistakes"], both["certificates"])


def test_a_pipe_gives_the_same_predictions_and_certificate_as_the_file(text, tmp_path):
    packed = tmp_path / "stream.svm.gz"
    packed.write_bytes(gzip.compress(text.read_bytes(), 1))
    from_file = json.loads(run("run", "perceptron", str(text), "--json", "-q").stdout)
    from_gzip = json.loads(run("run", "perceptron", str(packed), "--json", "-q").stdout)
    piped = subprocess.run(
        f"zcat {packed} | {sys.executable} -m novikoff run perceptron - --json -q --save {tmp_path / 'pipe.nk'}",
        shell=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert piped.returncode == 0, piped.stderr
    for told in (json.loads(piped.stdout), from_gzip):
        for key in ("rounds", "mistakes", "certificates"):
            assert told[key] == from_file[key]


def test_threads_change_nothing(text, tmp_path):
    long = tmp_path / "long.svm"
    long.write_text(4 * text.read_text())
    assert long.stat().st_size > CHUNK_BYTES  # each thread has something to read
    told = [
        json.loads(run("run", "perceptron", str(long), "--json", "-q", "--threads", n).stdout) for n in ("1", "2", "5")
    ]
    for key in ("rounds", "mistakes", "certificates"):
        assert told[0][key] == told[1][key] == told[2][key], key


def test_predict_prints_the_learners_predictions(text, tmp_path):
    model = tmp_path / "model.nk"
    run("run", "perceptron", str(text), "--save", str(model), "-q", "--rounds", "5000")
    done = run("predict", str(model), str(text))
    assert done.returncode == 0, done.stderr
    said = done.stdout.split()
    assert len(said) == ROWS
    learner = nk.load(model).learner
    for batch in nk.read(str(text)).batches():
        rows = list(batch.rows())[:50]
        assert said[batch.first - 1 : batch.first + 49] == [f"{learner.predict_one(x)}" for x, _ in rows]
    told = json.loads(run("predict", str(model), str(text), "--json").stdout)
    assert told["rows"] == ROWS
    assert told["mistake_rate"] < 0.25


def test_the_labels_are_kept_with_the_model(tmp_path):
    files = {}
    for name, positive in (("train", "spam"), ("same", "spam"), ("other", "zebra")):
        files[name] = tmp_path / f"{name}.csv"
        rows = [f"{i % 5},{i % 3},{positive if i % 5 > 2 else 'ham'}" for i in range(200)]
        files[name].write_text("a,b,label\n" + "\n".join(rows) + "\n")
    model = str(tmp_path / "model.nk")
    run("run", "perceptron:bias=1", str(files["train"]), "--save", model, "-q")
    assert nk.load(model).labels == ["ham", "spam"]
    assert set(run("predict", model, str(files["same"])).stdout.split()) <= {"ham", "spam"}
    for command in (
        ("predict", model, str(files["other"])),
        ("run", "perceptron", str(files["other"]), "--resume", model),
    ):
        refused = run(*command)
        assert refused.returncode == 2
        assert "'spam'" in refused.stderr
        assert "'zebra'" in refused.stderr


def test_convert_gives_the_same_game(text, tmp_path):
    arrow = tmp_path / "stream.arrow"
    done = run("convert", str(text), str(arrow))
    assert done.stdout == f"{ROWS:,} rows written to {arrow}\n"
    one, two = (json.loads(run("run", "perceptron", str(path), "--json", "-q").stdout) for path in (text, arrow))
    assert (one["mistakes"], one["certificates"]) == (two["mistakes"], two["certificates"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--save-every", "10"), "--save FILE"),
        (("--resume", "nothing.nk"), "file not found"),
        (("--format", "nonsense"), "nonsense"),
        (("--bits", "10"), "bits"),
    ],
)
def test_bad_options_are_refused(text, arguments, says):
    done = run("run", "perceptron", str(text), *arguments)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_another_learner_cannot_resume(text, tmp_path):
    run("run", "perceptron", str(text), "--save", str(tmp_path / "m.nk"), "-q", "--rounds", "10")
    done = run("run", "cover-halving:dim=2", str(text), "--resume", str(tmp_path / "m.nk"))
    assert done.returncode == 2
    assert "has perceptron" in done.stderr


def test_same_learner_with_other_options_cannot_resume(text, tmp_path):
    """They would change nothing, without a word."""
    model, table = tmp_path / "m.nk", tmp_path / "table.csv"
    table.write_text("outcome,a,b\n" + "1,0,1\n" * 50)
    run("run", "rbp:budget=9", str(text), "--save", str(model), "-q", "--rounds", "10", "--seed", "3")
    assert run("run", "rbp", str(text), "--resume", str(model), "-q", "--rounds", "10", "--seed", "3").returncode == 0
    told = run("run", "rbp", str(text), "--resume", str(model), "--seed", "4").stderr
    assert f"that of {model} has seed 3, not 4. Leave out --seed." in told
    run("run", "perceptron", str(text), "--save", str(model), "-q", "--rounds", "10")
    told = run("run", "perceptron", str(text), "--resume", str(model), "--normalize").stderr
    assert f"that of {model} has normalize False, not True. Leave out --normalize." in told
    run("run", "perceptron", str(text), "--save", str(model), "-q", "--rounds", "10", "--normalize")
    options = ("run", "perceptron", str(text), "--resume", str(model), "-q", "--rounds", "10")
    assert run(*options).returncode == run(*options, "--normalize").returncode == 0
    named = run("run", "perceptron:normalize=true", *options[2:])
    assert (named.returncode, named.stdout.split()[0]) == (0, "perceptron:normalize=true")
    other = run("run", "perceptron:normalize=false", *options[2:])
    assert "has perceptron:normalize=true, not perceptron:normalize=false" in other.stderr
    run("experts", str(table), "--save", str(model), "-q", "--rounds", "10", "--horizon", "50")
    options = ("experts", str(table), "--resume", str(model), "-q")
    assert run(*options).returncode == run(*options, "--horizon", "50").returncode == 0
    assert "has horizon 50, not 60. Leave out --horizon." in run(*options, "--horizon", "60").stderr
