"""A game that goes on knows its source by place and bytes, and asks where only one of them is as it was."""

import gzip
import json
import os

import pytest

import novikoff as nk
from helpers import novikoff

LINES = [f"{'+1' if (7 * i) % 11 > 4 else '-1'} {i % 13}:1.5 {13 + i % 17}:-0.5\n" for i in range(500)]


def run(*arguments, **options):
    return novikoff("run", "perceptron", *arguments, "-q", **options)


def told(*arguments, **options):
    done = run(*arguments, "--json", **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(*arguments, **options):
    done = run(*arguments, **options)
    assert done.returncode == 2, done.stdout
    assert done.stdout == ""
    assert "--same" in done.stderr
    assert "--again" in done.stderr
    return done.stderr


@pytest.fixture
def stopped(tmp_path):
    """A file, and a game that was stopped after 100 of its 500 rounds."""
    (tmp_path / "rows.svm").write_text("".join(LINES))
    run(tmp_path / "rows.svm", "--save", tmp_path / "m.nk", "--rounds", 100)
    return tmp_path


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory):
    """Of the whole game."""
    path = tmp_path_factory.mktemp("whole") / "rows.svm"
    path.write_text("".join(LINES))
    return told(path)["mistakes"]


def test_a_file_is_the_same_however_its_path_is_spelled(stopped, mistakes):
    (stopped / "link.svm").symlink_to(stopped / "rows.svm")
    (stopped / "sub").mkdir()
    for path in ("rows.svm", "./rows.svm", "sub/../rows.svm", "link.svm"):
        found = told(path, "--resume", "m.nk", cwd=stopped)
        assert (found["rounds"], found["mistakes"]) == (500, mistakes), path


def test_a_file_that_was_only_touched_is_the_same(stopped, mistakes):
    os.utime(stopped / "rows.svm", (1, 1))
    assert told(stopped / "rows.svm", "--resume", stopped / "m.nk")["mistakes"] == mistakes


def test_the_same_bytes_at_another_place_need_a_choice(stopped, mistakes):
    (stopped / "rows.svm").rename(stopped / "moved.svm")
    arguments = (stopped / "moved.svm", "--resume", stopped / "m.nk")
    assert "moved.svm has the same bytes" in refused(*arguments)
    same = told(*arguments, "--same")
    assert (same["rounds"], same["mistakes"]) == (500, mistakes)
    assert told(*arguments, "--again")["rounds"] == 600


def test_other_bytes_at_the_same_place_need_a_choice(stopped):
    (stopped / "rows.svm").write_text("".join(reversed(LINES)))
    arguments = (stopped / "rows.svm", "--resume", stopped / "m.nk")
    assert "its content differs" in refused(*arguments)
    assert told(*arguments, "--same")["rounds"] == 500
    assert told(*arguments, "--again")["rounds"] == 600


def test_other_bytes_at_another_place_follow(stopped):
    (stopped / "next.svm").write_text("".join(reversed(LINES)))
    assert told(stopped / "next.svm", "--resume", stopped / "m.nk")["rounds"] == 600


@pytest.mark.parametrize("rounds", [100, None], ids=["in the middle", "at its end"])
@pytest.mark.parametrize("packed", [False, True], ids=["text", "packed"])
def test_lines_that_were_added_are_played(tmp_path, mistakes, rounds, packed):
    path, model = tmp_path / "rows.svm", tmp_path / "m.nk"
    pack = gzip.compress if packed else bytes
    path.write_bytes(pack("".join(LINES[:200]).encode()))
    run(path, "--save", model, *(() if rounds is None else ("--rounds", rounds)))
    with open(path, "ab") as file:
        file.write(pack("".join(LINES[200:]).encode()))
    found = told(path, "--resume", model, "--save", model)
    assert (found["rounds"], found["mistakes"], found["passes"]) == (500, mistakes, 1)
    assert told(path, "--resume", model)["rounds"] == 500  # all of it was played


def test_a_line_that_was_completed_is_no_line_that_was_added(tmp_path):
    path, model = tmp_path / "rows.svm", tmp_path / "m.nk"
    path.write_text("".join(LINES)[:-1])
    run(path, "--save", model)
    with open(path, "a") as file:
        file.write("5 3:1\n+1 2:1\n")
    assert "its content differs" in refused(path, "--resume", model)


def test_lines_that_were_added_after_two_passes_need_a_choice(tmp_path):
    path, model = tmp_path / "rows.svm", tmp_path / "m.nk"
    path.write_text("".join(LINES[:200]))
    run(path, "--save", model, "--passes", 2)
    path.write_text("".join(LINES))
    assert "after several passes" in refused(path, "--resume", model)
    assert told(path, "--resume", model, "--again")["rounds"] == 900


def test_a_game_of_several_passes_resumes_in_its_pass(stopped):
    model = stopped / "two.nk"
    run(stopped / "rows.svm", "--save", model, "--passes", 3, "--rounds", 700)
    found = told("rows.svm", "--resume", model, "--passes", 3, cwd=stopped)
    assert (found["rounds"], found["passes"]) == (1500, 3)
    assert found["mistakes"] == told(stopped / "rows.svm", "--passes", 3)["mistakes"]


def test_a_pipe_that_was_left_in_the_middle_needs_a_choice(stopped, mistakes):
    model, text = stopped / "pipe.nk", "".join(LINES)
    run("-", "--save", model, "--rounds", 100, input=text)
    assert "it is unclear whether the pipe continues or starts again" in refused("-", "--resume", model, input=text)
    same = told("-", "--resume", model, "--same", input=text)
    assert (same["rounds"], same["mistakes"]) == (500, mistakes)
    rest = told("-", "--resume", model, "--again", input="".join(LINES[100:]))
    assert (rest["rounds"], rest["mistakes"]) == (500, mistakes)


def test_a_pipe_that_came_to_its_end_is_followed_by_the_next(stopped, mistakes):
    model = stopped / "pipe.nk"
    run("-", "--save", model, input="".join(LINES[:300]))
    found = told("-", "--resume", model, input="".join(LINES[300:]))
    assert (found["rounds"], found["mistakes"]) == (500, mistakes)


def test_a_demo_is_known_by_its_name(tmp_path):
    model = tmp_path / "m.nk"
    run("demo:breast-cancer", "--save", model, "--rounds", 100)
    assert told("demo:breast-cancer", "--resume", model, "--save", model)["rounds"] == 569
    assert told("demo:breast-cancer", "--resume", model)["rounds"] == 569
    assert told("demo:breast-cancer", "--resume", model, "--again")["rounds"] == 1138


def test_a_source_before_the_last_one_is_not_played_again_by_mistake(stopped):
    model = stopped / "m.nk"
    (stopped / "next.svm").write_text("".join(LINES[::2]))
    told(stopped / "next.svm", "--resume", model, "--save", model)
    done = run(stopped / "rows.svm", "--resume", model)
    assert done.returncode == 2
    assert "was used before in this game" in done.stderr
    assert told(stopped / "rows.svm", "--resume", model, "--again")["rounds"] == 850


def test_rows_that_are_played_again_are_no_independent_draws(stopped):
    model = stopped / "again.nk"
    told(stopped / "rows.svm", "--resume", stopped / "m.nk", "--again", "--save", model)
    assert nk.load(model).repeated
    (stopped / "next.svm").write_text("".join(LINES[::2]))
    told(stopped / "next.svm", "--resume", stopped / "m.nk", "--save", model)
    assert not nk.load(model).repeated


def test_model_file_contains_no_paths(tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "rows.svm").write_text("".join(LINES))
    run("rows.svm", "--save", "m.nk", cwd=tmp_path / "secret")
    assert b"secret" not in (tmp_path / "secret" / "m.nk").read_bytes()


@pytest.mark.parametrize("options", [("--same",), ("--again",), ("--same", "--again", "--resume", "m.nk")])
def test_same_and_again_are_for_a_resumed_game(stopped, options):
    done = run("rows.svm", *options, cwd=stopped)
    assert done.returncode == 2
    assert "--same" in done.stderr or "--again" in done.stderr


def test_table_of_experts_is_recognised_on_resume(tmp_path):
    path, model = tmp_path / "table.csv", tmp_path / "m.nk"
    path.write_text("anna,ben,y\n" + "0.5,0.25,1\n0.125,0.75,0\n" * 50)
    assert novikoff("experts", "-q", path, "--save", model, "--rounds", "30").returncode == 0
    for more, rounds in ((("--json",), 100), (("--json", "--again"), 130)):
        done = novikoff("experts", "-q", "table.csv", "--resume", model, *more, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["rounds"] == rounds
    path.rename(tmp_path / "moved.csv")
    done = novikoff("experts", "-q", tmp_path / "moved.csv", "--resume", model)
    assert done.returncode == 2
    assert "--same" in done.stderr
