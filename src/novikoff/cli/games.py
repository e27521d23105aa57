"""`run` and `duel`: build the players, play, tell."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from novikoff import catalog, model
from novikoff.errors import ModelFileError
from novikoff.game import play
from novikoff.ledger import Ledger
from novikoff.report import plain, terminal
from novikoff.report.progress import Progress
from novikoff.sources.reader import read
from novikoff.types import Labels

VIOLATED = 4
INTERRUPTED = 130


class InterruptedGame(Exception):  # noqa: N818 - not an error: the player asked for it
    """Ctrl-C, noticed between two rounds."""


def run_source(
    learner: str, source: str, options: dict[str, Any], passes: int, rounds: int | None, seed: int | None,
    save: str | None, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """`novikoff run`; returns the exit code."""
    if save and not Path(save).absolute().parent.is_dir():
        raise ModelFileError(f"a model file must go into a folder that exists: {Path(save).parent} does not.")
    stream = read(source, **{key: value for key, value in options.items() if value is not None})
    player = catalog.make(learner, "learner", domain=stream.domain, seed=seed)
    ledger = Ledger(player, source=stream.name)
    length = len(stream) * passes if hasattr(stream, "__len__") else None
    if not as_json and stream.labels not in (None, Labels()):
        print(f"labels: {stream.labels}", file=sys.stderr)

    def game(look: Callable[[Ledger], None]) -> None:
        play(player, stream, rounds=rounds, passes=passes, progress=look, ledger=ledger)

    stopped = _watched(game, rounds or length, quiet)
    if save:
        model.save(ledger, save)
    return _tell(ledger, learner, as_json, stopped)


def run_duel(learner: str, adversary: str, rounds: int, seed: int | None, as_json: bool, quiet: bool) -> int:
    """`novikoff duel`; returns the exit code."""
    player = catalog.make(learner, "learner", seed=seed)
    opponent = catalog.make(adversary, "adversary", domain=player.domain, seed=seed)
    opponent.name = adversary
    ledger = Ledger(player, opponent, source=adversary, passes=1)

    def game(look: Callable[[Ledger], None]) -> None:
        play(player, opponent, rounds=rounds, progress=look, ledger=ledger)

    return _tell(ledger, learner, as_json, _watched(game, rounds, quiet))


def _watched(game: Callable[[Callable[[Ledger], None]], None], rounds: int | None, quiet: bool) -> bool:
    """Play with progress shown; True if Ctrl-C ended the game early (a second Ctrl-C ends at once)."""
    progress = Progress(rounds)
    with _noting_interrupts() as interrupted:

        def look(ledger: Ledger) -> None:
            if not quiet:
                progress(ledger)
            if interrupted():
                raise InterruptedGame

        try:
            game(look)
        except InterruptedGame:
            return True
        finally:
            progress.done()
    return False


@contextmanager
def _noting_interrupts() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C wait for the end of the round, so that learner and ledger agree."""
    noted = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal noted
        if noted:
            raise KeyboardInterrupt
        noted = True

    old = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: noted
    finally:
        signal.signal(signal.SIGINT, old)


def _tell(ledger: Ledger, learner: str, as_json: bool, stopped: bool) -> int:
    """Print what happened and what was promised; the exit code."""
    certificates = ledger.certify()
    if as_json:
        print(json.dumps({**plain.game(ledger, certificates, learner), "interrupted": stopped}))
    else:
        terminal.game(terminal.console(), ledger, certificates, learner)
        if stopped:
            print(f"stopped by Ctrl-C after round {ledger.rounds:,}; this is what was done until then", file=sys.stderr)
    if any(certificate.status == "violated" for certificate in certificates):
        return VIOLATED
    return INTERRUPTED if stopped else 0
