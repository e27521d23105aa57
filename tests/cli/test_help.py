"""What a shell can find out without reading the manual: examples in every --help, and completion."""

import shlex
import shutil
import subprocess

import pytest

from helpers import novikoff
from novikoff.cli.parser import EXAMPLES, parser

VERBS = parser()._subparsers._group_actions[0].choices

DRIVER = """
source /dev/stdin <<< "$SCRIPT"
ask() {
  COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _shtab_novikoff
  echo "${COMPREPLY[@]}"
}
ask novikoff ""
ask novikoff run perc
ask novikoff run auto --fin
ask novikoff run --finalize b
ask novikoff run auto demo:br
ask novikoff run demo:ir
[[ $COMP_WORDBREAKS == *:* ]] && echo "a colon ends a word"
ask novikoff duel midpoint grid
ask novikoff predict mod
"""


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_shows_examples_that_it_understands(name):
    told = novikoff(name, "--help").stdout
    assert EXAMPLES[name]
    for example in EXAMPLES[name]:
        assert f"  novikoff {example}\n" in told
        words = shlex.split(example.partition(" > ")[0], comments=True)
        assert words[0] == name
        _, unknown = parser().parse_known_args(words)
        assert not [word for word in unknown if word.startswith("-")]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_verbs_names_options_values_and_files(tmp_path):
    (tmp_path / "model.nk").touch()
    script = novikoff("completion", "bash").stdout
    done = subprocess.run(["bash", "--norc", "-c", DRIVER], capture_output=True, text=True, cwd=tmp_path,
                          env={"SCRIPT": script, "PATH": "/usr/bin:/bin"}, timeout=60)  # fmt: skip
    verbs, *others = done.stdout.splitlines()
    assert done.stderr == ""
    assert set(VERBS) <= set(verbs.split())
    assert others == [
        "perceptron",
        "--finalize",
        "best",
        "demo:breast-cancer",
        "demo:iris",
        "grid-bisection",
        "model.nk",
    ]


def test_zsh_script_is_printed():
    assert novikoff("completion", "zsh").stdout.startswith("#compdef novikoff")
