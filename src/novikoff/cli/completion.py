"""`completion`: a shell script generated from the parser, so that completing starts no Python."""

from __future__ import annotations

from argparse import Action
from collections.abc import Iterator

from novikoff.cli.parser import Parser, parser
from novikoff.core.registry import CATALOG, names
from novikoff.data.demo import DEMOS

FILES = {"SOURCE", "FILE", "TABLE", "MODEL", "DEST"}
"""Metavariables that are, or may be, file names."""


def script(shell: str) -> str:
    """Return the completion script of a shell."""
    import shtab

    whole, words = parser(), _words()
    for action in _actions(whole):
        named = str(action.metavar).partition(" ")[0]
        named = "FIRST" if (named, action.nargs) == ("LEARNER", "?") else named
        if named in words:
            action.complete = {one: f"_novikoff_{named.lower()}" for one in ("bash", "zsh")}  # type: ignore[attr-defined]
        elif named in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    write = _bash if shell == "bash" else _zsh
    preamble = "\n".join(write(f"_novikoff_{named.lower()}", each) for named, each in words.items())
    if shell == "bash":  # else bash splits demo:iris into three words
        preamble = f"COMP_WORDBREAKS=${{COMP_WORDBREAKS//:}}\n{preamble}"
    made: str = shtab.complete(whole, shell, preamble=preamble)
    return made


def _words() -> dict[str, list[str]]:
    """Return the names that can replace each metavariable."""
    demos = [f"demo:{name}" for name in DEMOS]
    return {
        "LEARNER": names("learner"),
        "FIRST": [*names("learner"), *demos],  # a learner, or the source if no learner is given
        "LOG": names("learner"),
        "ADVERSARY": names("adversary"),
        "SOURCE": demos,
        "NAME": [*CATALOG],
    }


def _actions(one: Parser) -> Iterator[Action]:
    for action in one._actions:
        yield action
        if isinstance(action.choices, dict):
            for below in action.choices.values():
                yield from _actions(below)


def _bash(function: str, words: list[str]) -> str:
    return f'{function}() {{\n  compgen -W "{" ".join(words)}" -- "$1"\n  compgen -f -- "$1"\n}}'


def _zsh(function: str, words: list[str]) -> str:
    return f"{function}() {{\n  compadd -- {' '.join(words)}\n  _files\n}}"
