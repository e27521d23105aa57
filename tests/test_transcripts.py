"""Whole sessions, to the letter: what is typed and all that is printed, as stored in tests/transcripts.

A session is a text: each line that begins with `$ novikoff` is run, in order, in a folder with the files of
tests/transcripts/files. Times are masked, and floats of JSON have six digits. When a change of what is printed is
meant, `make transcripts` (or `python tests/test_transcripts.py`) writes every session anew; read the difference
before you commit it. A new session is a file with its commands.
"""

import json
import math
import re
import shlex
import shutil
import tempfile
from pathlib import Path
from unittest.mock import patch

import pytest

from helpers import novikoff, without_times

HERE = Path(__file__).parent / "transcripts"
SESSIONS = sorted(HERE.glob("*.txt"))
TIMES = {"seconds", "rounds_per_second"}


def session(text, folder):
    """The commands of this text, each with all that it prints now in this folder."""
    shutil.copytree(HERE / "files", folder, dirs_exist_ok=True)
    return "\n".join(told(line, folder) for line in text.splitlines() if line.startswith("$ "))


def told(line, folder):
    with patch("novikoff.reports.progress.QUIET", math.inf):  # rows of progress come by the clock
        code, out, error = novikoff(*shlex.split(line.removeprefix("$ novikoff ")), cwd=folder)
    parts = [line, plain(out)]
    parts += [f"(on standard error)\n{without_times(error)}"] if error else []
    parts += [f"(exit code {code})\n"] if code else []
    return "\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def plain(out):
    return indented(json.loads(out)) if out.startswith("{") else without_times(out)


def indented(told, margin="", key=None):
    """JSON on lines of their own, without times and with floats of six digits."""
    if key in TIMES:
        return '"TIME"'
    inner = margin + "  "
    if isinstance(told, dict):
        fields = [f'"{name}": {indented(value, inner, name)}' for name, value in told.items()]
        within, (left, right) = told.values(), "{}"
    elif isinstance(told, list):
        fields = [indented(value, inner) for value in told]
        within, (left, right) = told, "[]"
    else:
        return json.dumps(float(f"{told:.6g}") if isinstance(told, float) else told, ensure_ascii=False)
    if any(isinstance(value, (dict, list)) for value in within):
        return f"{left}\n{inner}" + f",\n{inner}".join(fields) + f"\n{margin}{right}"
    return left + ", ".join(fields) + right


@pytest.mark.parametrize("path", SESSIONS, ids=[path.stem for path in SESSIONS])
def test_session_reproduces_its_transcript(path, tmp_path, nothing_else_registered):
    text = path.read_text(encoding="utf-8")
    assert session(text, tmp_path) == text


def test_there_are_sessions_of_every_verb_and_of_errors():
    typed = [line for path in SESSIONS for line in path.read_text(encoding="utf-8").splitlines() if line[:1] == "$"]
    verbs = {line.split()[2] for line in typed}
    assert {"run", "compare", "predict", "convert", "duel", "experts", "explain"} <= verbs
    assert sum("(exit code 2)" in path.read_text(encoding="utf-8") for path in SESSIONS) >= 2


def test_every_first_try_ends_in_a_result_or_in_a_sentence_that_suggests_a_fix():
    text = (HERE / "first_tries.txt").read_text(encoding="utf-8")
    for part in text.split("\n\n"):
        errors = [line for line in part.splitlines() if line.startswith("novikoff: ")]
        assert len(errors) == ("(exit code 2)" in part), part
        assert all(re.search(r": .+[.] [A-Z].+[.]$", error) for error in errors), part  # what was. What to do.


if __name__ == "__main__":
    for path in SESSIONS:
        with tempfile.TemporaryDirectory() as folder:
            path.write_text(session(path.read_text(encoding="utf-8"), folder), encoding="utf-8")
        print(path)
