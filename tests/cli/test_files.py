"""Files that commands write: what they may replace, said before anything is played."""

import subprocess
import sys

import pytest

import novikoff as nk

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


def novikoff(*arguments, **options):
    return subprocess.run([*NOVIKOFF, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


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


def test_the_model_and_the_plot_are_two_files(tmp_path):
    path = tmp_path / "one.png"
    done = novikoff(*THRESHOLDS, "--save", path, "--plot", tmp_path / "." / "one.png")
    assert done.returncode == 2
    assert "must be two files" in done.stderr
    assert not path.exists()


def test_the_classifier_that_is_kept_replaces_the_game_that_was_saved_before_it(tmp_path):
    path = tmp_path / "kept.nk"
    done = novikoff(
        "run", "perceptron", "demo:breast-cancer", "--keep", "best", "--save", path, "--save-every", 100, "-q"
    )
    assert done.returncode == 0, done.stderr
    assert nk.load(path).how == "best"
