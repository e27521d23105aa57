"""`novikoff compile`: what it plays, what it prints, and a process that dies."""

from helpers import novikoff
from novikoff.cli import compiling


def test_learners_play_the_kinds_of_rows_that_they_take():
    assert compiling._played("perceptron") == ["two labels", "three labels", "sparse rows"]
    assert "numbers" in compiling._played("vaw")
    assert compiling._played("halving") == []


def test_compile_prints_what_was_compiled():
    done = novikoff("compile", "constant", "--jobs", "1")
    first, second, *last = done.stdout.splitlines()
    assert (done.returncode, first) == (0, "Compiling the loops of 1 learner with 1 process.")
    assert second == "  constant: two labels, sparse rows"
    assert last[0].startswith("Compiled ")


def test_compile_fails_for_a_learner_without_generated_rows(monkeypatch, capsys):
    answers = iter([("halving", {"kinds": [], "compiled": 0, "folders": []})])
    monkeypatch.setattr(compiling, "_in_processes", lambda tasks, count: answers)
    assert compiling.compile_learners(["halving"], 1) == 1
    assert "  halving: not compiled ahead" in capsys.readouterr().out


def test_parts_of_auto_are_compiled_apart_and_first(monkeypatch):
    given = []
    monkeypatch.setattr(compiling, "_in_processes", lambda tasks, count: given.extend(tasks) or ())
    assert compiling.compile_learners([], None) == 0
    assert given[0] == "novikoff.mixtures.rehearsals:boosted_trees"
    assert len(set(given)) == len(given)
    assert {"auto", "perceptron", "novikoff.mixtures.rehearsals:top_of_numbers"} <= set(given)


def test_unknown_learner_is_an_error():
    done = novikoff("compile", "percpetron")
    assert (done.returncode, done.stdout) == (2, "")
    assert "percpetron" in done.stderr


def test_other_tasks_are_done_if_a_process_dies(monkeypatch):
    program = """import sys
for line in sys.stdin:
    if line == "die\\n":
        sys.exit(1)
    print('"done"', flush=True)
"""
    monkeypatch.setattr(compiling, "PROGRAM", program)
    done = dict(compiling._in_processes(["a", "die", "b", "c"], 2))
    assert done == {"a": "done", "b": "done", "c": "done"}
