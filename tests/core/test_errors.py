"""Errors are data: what must be, what was, where, what to do; and the command line names its own flags."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from pathlib import Path

import pytest

import novikoff
from novikoff.cli.output import flag
from novikoff.cli.parser import parser
from novikoff.core import errors
from novikoff.core.errors import (
    Advice,
    InputError,
    LabelError,
    NovikoffError,
    Option,
    SourceError,
    counted,
    place,
    with_options,
)

FLAG = re.compile(r"(?<![;{(\n])--[a-z]")  # names in a style sheet are none: ;--ink:, var(--ink)
COMMANDS = {"cli", "lectures", "glossary.py"}  # commands to type are their subject
LIBRARY = [
    path
    for path in sorted(Path(novikoff.__file__).parent.rglob("*.py"))
    if not COMMANDS.intersection(path.relative_to(Path(novikoff.__file__).parent).parts)
]
KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, NovikoffError)]


def trees(word):
    """The parsed modules of the library with this word in their source, by file name: parsing all takes a second."""
    sources = [(path.name, path.read_text()) for path in LIBRARY]
    return [(name, ast.parse(source)) for name, source in sources if word in source]


def texts(tree):
    """Every text of a module that is no docstring."""
    said = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def named_options():
    """The options that the library names in its advice."""
    for _, tree in trees("Option"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Option":
                yield ast.literal_eval(node.args[0])


def test_no_text_of_the_library_names_a_flag():
    found = [(name, text) for name, tree in trees("--") for text in texts(tree) if FLAG.search(text)]
    assert found == []
    assert list(texts(ast.parse('"""--a"""\nf(f"pass --b {x}")'))) == ["pass --b "]  # it would be found


def test_every_option_that_the_library_names_has_a_flag():
    verbs = parser()._subparsers._group_actions[0].choices.values()
    flags = {name for verb in verbs for action in verb._actions for name in action.option_strings}
    options = set(named_options())
    assert {"skip_bad", "loss", "unlabelled", "force"} <= options
    assert {flag(Option(name)) for name in options} <= flags


@pytest.mark.parametrize(
    ("option", "python", "typed"),
    [
        (Option("loss"), "loss", "--loss"),
        (Option("loss", "zero-one"), 'loss="zero-one"', "--loss zero-one"),
        (Option("positive", "not spam"), 'positive="not spam"', "--positive 'not spam'"),
        (Option("positive", 1), "positive=1", "--positive 1"),
        (Option("positive", 0), "positive=0", "--positive 0"),
        (Option("skip_bad", letter="N"), "skip_bad=N", "--skip-bad N"),
        (Option("force", True), "force=True", "--force"),
        (Option("header", False), "header=False", "--no-header"),
        (Option("unlabelled"), "unlabelled", "--no-label"),
    ],
)
def test_an_option_in_python_and_as_a_flag(option, python, typed):
    assert str(option) == python
    assert flag(option) == typed
    told = Advice("Pass ", Advice(option, ", or"), " not.")
    assert told == f"Pass {python}, or not."
    assert with_options(told, flag) == f"Pass {typed}, or not."
    assert with_options("Pass it.", flag) == "Pass it."


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ({}, ""),
        ({"source": "mail.svm"}, "mail.svm"),
        ({"source": "mail.svm", "line": 1234}, "line 1234 of mail.svm"),
        ({"source": "mail.svm", "character": 3, "line": 7}, "line 7, column 3 of mail.svm"),
        ({"line": 7, "column": "age", "source": "mail.csv"}, 'line 7, column "age" of mail.csv'),
        ({"row": 1234, "column": 0, "source": "a.parquet"}, "row 1,234, column 0 (from 0) of a.parquet"),
        ({"line": 7, "key": "a{b}", "source": "a.jsonl"}, 'line 7, key "a{b}" of a.jsonl'),
        ({"item": 3, "source": "pairs"}, "item 3 of pairs"),
        ({"expert": 0}, "expert 0"),
        ({"expert": "ben"}, 'expert "ben"'),
        ({"up_to": True, "line": 9, "source": "-"}, "up to line 9 of -"),
    ],
)
def test_a_place_in_words(where, words):
    assert place(where) == words


def test_error_states_requirement_value_place_and_remedy():
    error = InputError("advice must be from 0 to 1", "has 1.5", Advice("Pass another ", Option("loss"), "."), expert=1)
    assert str(error) == "advice must be from 0 to 1: expert 1 has 1.5. Pass another loss."
    assert error.at(round=1234) is error
    assert str(error) == "advice must be from 0 to 1: expert 1 has 1.5 in round 1,234. Pass another loss."
    assert error.told(flag).endswith("Pass another --loss.")
    assert error.what == "advice must be from 0 to 1: expert 1 has 1.5 in round 1,234"
    assert error.where == {"expert": 1, "round": 1234}


def test_plain_error_is_printed_after_its_location():
    error = InputError("x must be liked: got 7. Like it.")
    assert str(error) == "x must be liked: got 7. Like it."
    assert str(error.at(round=3)) == "round 3: x must be liked: got 7. Like it."
    assert str(error.advise("Or go.")) == "round 3: x must be liked: got 7. Like it. Or go."


def test_innermost_location_of_an_error_wins():
    error = SourceError("a line must be short", "is not", line=3)
    error.at(line=99, source="mail.svm").at(source="another", column="b")
    assert error.where == {"line": 3, "source": "mail.svm", "column": "b"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("again", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
def test_an_error_can_be_sent_to_another_process(kind, again):
    error = (
        kind("a must be b", "has c", Advice("Pass ", Option("label", "d"), "."), line=1).at(round=2).advise("Or go.")
    )
    found = again(error)
    assert type(found) is kind
    assert str(found) == str(error) == 'a must be b: line 1 has c in round 2. Pass label="d". Or go.'
    assert found.told(flag) == error.told(flag)
    assert found.where == error.where


def test_an_error_that_passes_by_keeps_its_cause_and_its_class():
    class PickyError(InputError):
        """A learner's own."""

    class Learner(novikoff.Constant):
        def learn_one(self, x, y):
            try:
                raise KeyError("deep")
            except KeyError as cause:
                raise PickyError("an example must be liked: it is not.") from cause

    with pytest.raises(PickyError, match="^round 1: an example must be liked") as caught:
        novikoff.play(Learner(), [([1.0], 1)])
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.where == {"round": 1}


def test_kinds_of_invalid_labels_are_distinguished(tmp_path):
    path = tmp_path / "mail.svm"
    path.write_text("1 1:1\n2 1:1\n3 1:1\n")
    with pytest.raises(LabelError) as caught:
        list(novikoff.read(path).batches())
    assert caught.value.where == {"line": 3, "source": str(path)}
    assert caught.value.told(flag).endswith(
        "Pass --positive 2 to treat every other value as -1, or --labels multiclass if there are more than two."
    )


def test_one_is_not_many():
    assert counted(1, "row") == "1 row"
    assert counted(0, "row") == "0 rows"
    assert counted(2000, "hypothesis", "hypotheses") == "2,000 hypotheses"
