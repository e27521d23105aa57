"""`demo`: a tour with no files: a real table first, then games, each followed by its certificate."""

from __future__ import annotations

import math
import os
import tempfile
import time

from novikoff import adversaries
from novikoff.core.certificate import number as told
from novikoff.data.demo import demo as embedded
from novikoff.finite import classes
from novikoff.finite.halving import Halving
from novikoff.finite.midpoint import Midpoint
from novikoff.finite.rectangle_halving import RectangleHalving
from novikoff.finite.threshold_halving import ThresholdHalving
from novikoff.game.ledger import Ledger
from novikoff.game.play import play
from novikoff.linear.perceptron import Perceptron
from novikoff.reports import summary
from novikoff.reports.page import report
from novikoff.reports.terminal import Out, happened, say, show, speed

VIOLATED = 4


def tour() -> int:
    """Play the games; the exit code."""
    out, start = Out(), time.perf_counter()
    out.line("novikoff: learn one example at a time, and be told what was promised.", "bold")
    out.line("Each game: see x, predict, see the label, pay 1 for a mistake, learn. Then the certificate: what the")
    out.line("theorem promises on this very stream, beside what happened.")
    games = (_table, _perceptron, _programs, _papayas, _thresholds, _grid_duel, _real_duel, _noise)
    ledgers = [game(out, number) for number, game in enumerate(games, start=1)]
    out.line(f"\neight games in {time.perf_counter() - start:.1f} s.", "bold")
    page = os.path.join(tempfile.mkdtemp(prefix="novikoff-"), "first-game.html")
    report(ledgers[0], page)
    out.line(f"The first game as a page: python -m webbrowser {page}")
    out.line("Play yourself, against a learner, in the browser: pip install 'novikoff[arena]', then novikoff arena")
    out.line("Your own table: novikoff run FILE.csv · all names: novikoff list · proofs: novikoff explain NAME")
    broken = any(certificate.status == "violated" for ledger in ledgers for certificate in ledger.certify())
    return VIOLATED if broken else 0


def _table(out: Out, number: int) -> Ledger:
    _title(out, number, "The main job: a table in, a classifier and a certificate out, in one pass, nothing to set.")
    ledger = play("auto", embedded("breast-cancer"))
    (best, *_), constant = ledger.certify(), ledger.best_constant
    wrong = 0 if constant is None else constant.costs
    bound = math.inf if best.bound is None else best.bound
    say(
        out,
        f"Of {ledger.rounds:,} tumours, each judged before its label was told, auto got {ledger.mistakes:,} wrong; "
        f"{summary.always(ledger)} gets {wrong:,} wrong; and its {best.quantity} was {told(best.observed)}, where the "
        f"theorem allows at most {told(bound)} on exactly these rows.",
    )
    show(out, [best])
    return ledger


def _perceptron(out: Out, number: int) -> Ledger:
    _title(out, number, "The oldest of them: the Perceptron, and the theorem that this is named after.")
    ledger = play(Perceptron(bias=1.0, normalize=True), embedded("breast-cancer"))
    out.line(f"the Perceptron on 569 biopsies, rows of length 1 and a constant: {happened(ledger)}")
    _certified(out, ledger)
    out.line("  A linear classifier that watched, and was never shown to the learner, proves the first bound.")
    return ledger


def _programs(out: Out, number: int) -> Ledger:
    stream = embedded("iris")
    hypotheses = classes.programs(bits=24, width=4)
    _title(out, number, "Which flowers are setosa? Every Python program of at most 24 bits has a vote.")
    learner = Halving(hypotheses, prior="length")
    ledger = play(learner, stream)
    out.line(f"halving on {hypotheses.size:,} programs, the iris data (150 real flowers): {happened(ledger)}")
    out.line(f"the shortest program still right: {learner.survivor()}", "bold cyan")
    names = {f"x[{i}]": name for i, name in enumerate(stream.features or ())}
    said = learner.survivor()
    for short, name in names.items():
        said = said.replace(short, name)
    out.line(f"that is: {said}")
    return _certified(out, ledger)


def _papayas(out: Out, number: int) -> Ledger:
    _title(out, number, "Which papayas are tasty? Somewhere in colour x softness there is a rectangle.")
    ledger = play(RectangleHalving(m=101, dim=2), embedded("papayas"))
    boxes = classes.rectangles(101, 2).size
    out.line(f"rectangle-halving, {boxes:,} rectangles counted without listing them: {happened(ledger)}")
    return _certified(out, ledger)


def _thresholds(out: Out, number: int) -> Ledger:
    _title(out, number, "A million rounds on a grid of a million points: constant time, constant memory.")
    ledger = play(ThresholdHalving(10**6), embedded("thresholds"))
    out.line(f"threshold-halving: {happened(ledger)}{speed(ledger)}")
    return _certified(out, ledger)


def _grid_duel(out: Out, number: int) -> Ledger:
    _title(out, number, "The same game against an adversary that answers back: no learner can promise less.")
    opponent = adversaries.GridBisection(10**6)
    ledger = play(ThresholdHalving(10**6), opponent, rounds=40)
    out.line(f"threshold-halving against grid-bisection: {happened(ledger)}")
    out.line(f"the adversary was honest: its threshold is {opponent.witness():,}")
    return _certified(out, ledger)


def _real_duel(out: Out, number: int) -> Ledger:
    _title(out, number, "Without the grid nobody can learn: a mistake in every round, for ever.")
    opponent = adversaries.Bisection()
    ledger = play(Midpoint(), opponent, rounds=2000)
    out.line(f"midpoint against bisection on the real line: {happened(ledger)}")
    out.line("the thresholds that fit all it said still fill an interval of length 2^-2000; doubles run out at 53")
    return _certified(out, ledger)


def _noise(out: Out, number: int) -> Ledger:
    _title(out, number, "And when the promise does not apply, it says so: 3 labels in 1,000 are wrong here.")
    noisy = [(i, (1 if i >= 37 else -1) * (-1 if t % 333 == 100 else 1)) for t, i in enumerate(_points(1000, 100))]
    ledger = play(Halving(classes.thresholds(100)), noisy)
    out.line(f"halving on thresholds: {happened(ledger)}")
    return _certified(out, ledger)


def _points(rounds: int, n: int) -> list[int]:
    from novikoff.numerics.coins import coin

    return [coin(0, "demo", t) % (n + 1) for t in range(rounds)]


def _title(out: Out, number: int, text: str) -> None:
    out.line()
    out.line(f"{number}. {text}", "bold")


def _certified(out: Out, ledger: Ledger) -> Ledger:
    show(out, ledger.certify())
    return ledger
