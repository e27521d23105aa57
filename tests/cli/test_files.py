"""Files that commands write: what they may replace, said before anything is played."""

import dataclasses
import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

import novikoff as nk
from helpers import novikoff, some
from novikoff.cli.main import main
from novikoff.game.ledger import Ledger

NOVIKOFF = [sys.executable, "-m", "novikoff"]
THRESHOLDS = ("run", "threshold-halving:n=1000000", "demo:thresholds", "--rounds", "100", "-q")
EXPERTS = ("experts", "stream:random-losses:experts=3,rounds=200", "-q")
WRITERS = {
    "run --save": (*THRESHOLDS, "--save"),
    "run --plot": (*THRESHOLDS, "--plot"),
    "experts --save": (*EXPERTS, "--save"),
    "experts --plot": (*EXPERTS, "--plot"),
    "compare --plot": ("compare", "demo:iris", "-l", "constant", "-q", "--plot"),
    "convert": ("convert", "demo:iris"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_of_another_kind_is_replaced_only_by_force(tmp_path, name):
    path = tmp_path / "precious.png"
    path.write_text("my thesis")
    done = novikoff(*WRITERS[name], path)
    assert done.returncode == 2
    assert done.stdout == ""  # nothing was played
    assert "must not replace a file of another kind" in done.stderr
    assert "--force" in done.stderr
    assert path.read_text() == "my thesis"
    for more in (["--force"], []):  # the second time it is of its own kind
        done = novikoff(*WRITERS[name], path, *more)
        assert done.returncode == 0, done.stderr
        assert path.read_bytes() != b"my thesis"


def test_a_source_is_not_converted_onto_itself(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,label\n1,2,yes\n2,1,no\n")
    done = novikoff("convert", path, path)
    assert done.returncode == 2
    assert path.read_text().startswith("a,b,label")


def test_notes_of_a_source_are_printed_once(tmp_path):
    """Those known before the first row, and those of the pass."""
    path = tmp_path / "rows"
    path.write_text("1 1:1\n-1 2:1\n1 1:x\n" * 3)
    done = novikoff("run", "perceptron", path, "--skip-bad", "9", "--passes", "2")
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.startswith("format: ")] == ["format: svmlight"]
    skipped = [line for line in lines if "skipped" in line]
    assert len(skipped) == len(set(skipped)) > 0


def test_the_model_and_the_plot_are_two_files(tmp_path):
    path = tmp_path / "one.png"
    done = novikoff(*THRESHOLDS, "--save", path, "--plot", tmp_path / "." / "one.png")
    assert done.returncode == 2
    assert "must be different files" in done.stderr
    assert not path.exists()


def test_the_classifier_that_is_kept_replaces_the_game_that_was_saved_before_it(tmp_path):
    path = tmp_path / "kept.nk"
    done = novikoff(
        "run", "perceptron", "demo:breast-cancer", "--finalize", "best", "--save", path, "--save-every", 100, "-q"
    )
    assert done.returncode == 0, done.stderr
    assert nk.load(path).how == "best"


# files are written whether or not somebody reads what is printed

MODEL_OR_PLOT = {name: command for name, command in WRITERS.items() if name != "convert"}
HEDGE = ("run", "hedge:learners=[[perceptron:bias=1],[constant]]", "demo:breast-cancer", "-q", "--plot")


def pipe_without_a_reader():
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def unheard(command, unbuffered, which=("stdout",)):
    """A process with nobody reading its output: the exit code, and what it said otherwise."""
    writing = pipe_without_a_reader()
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    env |= {"PYTHONUNBUFFERED": "1"} if unbuffered else {}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **dict.fromkeys(which, writing)}
    done = subprocess.run([*NOVIKOFF, *map(str, command)], env=env, text=True, timeout=120, **pipes)
    os.close(writing)
    return done


def unheard_here(command, unbuffered):
    """The same without a process."""
    with open(pipe_without_a_reader(), "wb", buffering=0 if unbuffered else -1) as pipe:
        out = io.TextIOWrapper(pipe, write_through=unbuffered)
        with redirect_stdout(out), redirect_stderr(io.StringIO()) as error:
            code = main([*map(str, command)])
        out.detach()
    return code, error.getvalue()


@some(2, name=[*MODEL_OR_PLOT, "hedge --plot"], json=[False, True], unbuffered=[False, True])
def test_files_are_written_despite_closed_output(tmp_path, name, unbuffered, json):
    path = tmp_path / "asked-for.png"
    command = [*(HEDGE if name.startswith("hedge") else WRITERS[name]), path, *(["--json"] if json else [])]
    assert unheard_here(command, unbuffered) == (0, "")
    assert path.stat().st_size > 0


@pytest.mark.parametrize("unbuffered", [False, True], ids=["", "unbuffered"])
def test_process_with_closed_output_exits_cleanly(tmp_path, unbuffered):
    path = tmp_path / "m.nk"
    done = unheard([*THRESHOLDS, "--save", path], unbuffered)
    assert (done.returncode, done.stderr) == (0, "")
    assert nk.load(path).rounds == 100


def test_broken_standard_error_never_ends_a_game(tmp_path):
    path = tmp_path / "m.nk"
    source = tmp_path / "rows.csv"
    source.write_text("a,b,label\n" + "1,2,yes\n2,1,no\n" * 100)
    command = ["run", "perceptron", source, "--save", path, "--plot", tmp_path / "plot.png"]
    done = unheard(command, unbuffered=True, which=("stdout", "stderr"))
    assert done.returncode == 0
    assert nk.load(path).rounds == 200
    assert (tmp_path / "plot.png").stat().st_size > 0


@pytest.mark.parametrize("unbuffered", [False, True], ids=["", "unbuffered"])
def test_exit_code_does_not_depend_on_the_reader(monkeypatch, unbuffered):
    certify = Ledger.certify

    def broken(ledger, *more, **known):
        return [dataclasses.replace(one, status="violated") for one in certify(ledger, *more, **known)]

    monkeypatch.setattr(Ledger, "certify", broken)
    assert unheard_here(THRESHOLDS, unbuffered) == (4, "")
