"""`demo`: a tour on built-in data: a real table first, then games, each followed by its certificate."""

from __future__ import annotations

import os
import tempfile
import time

from novikoff import adversaries
from novikoff.data.demo import demo as embedded
from novikoff.finite import classes
from novikoff.finite.halving import Halving
from novikoff.finite.midpoint import Midpoint
from novikoff.finite.rectangle_halving import RectangleHalving
from novikoff.finite.threshold_halving import ThresholdHalving
from novikoff.game.ledger import Ledger
from novikoff.game.play import play
from novikoff.linear.perceptron import Perceptron
from novikoff.reports.page import report
from novikoff.reports.terminal import Out, game, happened, promised, show, speed

VIOLATED = 4
"""Exit code for a violated certificate."""


def tour() -> int:
    """Play the games and return the exit code."""
    out, start = Out(), time.perf_counter()
    out.line("novikoff: online learning with certificates.", "bold")
    out.line("Each round: see x, predict, see the label, learn. Each game ends with a certificate: the result, and the")
    out.line("bound that a theorem guarantees on this very sequence of rows.")
    games = (_table, _perceptron, _programs, _papayas, _thresholds, _grid_duel, _real_duel, _noise)
    ledgers = [one(out, number) for number, one in enumerate(games, start=1)]
    out.line(f"\nEight games in {time.perf_counter() - start:.1f} s.", "bold")
    page = os.path.join(tempfile.mkdtemp(prefix="novikoff-"), "first-game.html")
    report(ledgers[0], page)
    out.line(f"Report of the first game: python -m webbrowser {page}")
    out.line("Play against a learner in the browser: pip install 'novikoff[arena]', then novikoff arena")
    out.line("Your own table: novikoff run FILE.csv · all names: novikoff list · proofs: novikoff explain NAME")
    broken = any(certificate.status == "violated" for ledger in ledgers for certificate in ledger.certify())
    return VIOLATED if broken else 0


def write_files(folder: str) -> int:
    """Write the demo tables to a folder, and print what to do with them."""
    from novikoff.data.demo_files import write

    found = write(folder)
    width = max(map(len, found))
    for path, about in found.items():
        print(f"{path:<{width}}  {about}")
    mail, new, *_ = found
    print(f"Next: novikoff run {mail} --drop id --save mail.nk")
    print(f"then: novikoff predict mail.nk {new} --no-label --id id --probabilities")
    return 0


def _table(out: Out, number: int) -> Ledger:
    _title(out, number, "A table in, a classifier and a certificate out: one pass, nothing to tune.")
    ledger = play("auto", embedded("breast-cancer"))
    game(out, ledger, ledger.certify(), "auto")
    return ledger


def _perceptron(out: Out, number: int) -> Ledger:
    _title(out, number, "The Perceptron, and Novikoff's theorem of 1962.")
    ledger = play(Perceptron(bias=1.0, normalize=True), embedded("breast-cancer"))
    out.line(f"perceptron on 569 biopsies, rows scaled to length 1: {happened(ledger)}")
    _certified(out, ledger)
    out.line("  The bound comes from a linear classifier fitted in hindsight, which the learner never saw.")
    return ledger


def _programs(out: Out, number: int) -> Ledger:
    stream = embedded("iris")
    hypotheses = classes.programs(bits=24, width=4)
    _title(out, number, "Which flowers are setosa? A vote of all Python programs of at most 24 bits.")
    learner = Halving(hypotheses, prior="length")
    ledger = play(learner, stream)
    out.line(f"halving over {hypotheses.size:,} programs on the iris data: {happened(ledger)}")
    out.line(f"the shortest program that is always right: {learner.survivor()}", "bold cyan")
    names = {f"x[{i}]": name for i, name in enumerate(stream.features or ())}
    survivor = learner.survivor()
    for short, name in names.items():
        survivor = survivor.replace(short, name)
    out.line(f"that is: {survivor}")
    return _certified(out, ledger)


def _papayas(out: Out, number: int) -> Ledger:
    _title(out, number, "Which papayas are tasty? Those in some rectangle of colour and softness.")
    ledger = play(RectangleHalving(m=101, dim=2), embedded("papayas"))
    boxes = classes.rectangles(101, 2).size
    out.line(f"rectangle-halving over {boxes:,} rectangles, without listing them: {happened(ledger)}")
    return _certified(out, ledger)


def _thresholds(out: Out, number: int) -> Ledger:
    _title(out, number, "A million rounds on a grid of a million points: constant time and memory per round.")
    ledger = play(ThresholdHalving(10**6), embedded("thresholds"))
    out.line(f"threshold-halving: {happened(ledger)}{speed(ledger)}")
    return _certified(out, ledger)


def _grid_duel(out: Out, number: int) -> Ledger:
    _title(out, number, "The same game against an adaptive adversary: no learner can guarantee fewer mistakes.")
    opponent = adversaries.GridBisection(10**6)
    ledger = play(ThresholdHalving(10**6), opponent, rounds=40)
    out.line(f"threshold-halving against grid-bisection: {happened(ledger)}")
    out.line(f"all labels agree with one threshold: {opponent.witness():,}")
    return _certified(out, ledger)


def _real_duel(out: Out, number: int) -> Ledger:
    _title(out, number, "Without the grid, learning is impossible: a mistake in every round, forever.")
    opponent = adversaries.Bisection()
    ledger = play(Midpoint(), opponent, rounds=2000)
    out.line(f"midpoint against bisection on the real line: {happened(ledger)}")
    out.line("the thresholds that agree with all labels still fill an interval of length 2^-2000 (exact arithmetic)")
    return _certified(out, ledger)


def _noise(out: Out, number: int) -> Ledger:
    _title(out, number, "When a theorem does not apply, its certificate is void: 3 of 1,000 labels are wrong here.")
    noisy = [(i, (1 if i >= 37 else -1) * (-1 if t % 333 == 100 else 1)) for t, i in enumerate(_points(1000, 100))]
    ledger = play(Halving(classes.thresholds(100)), noisy)
    out.line(f"halving on thresholds: {happened(ledger)}")
    show(out, ledger.certify())
    return ledger


def _points(rounds: int, n: int) -> list[int]:
    from novikoff.numerics.coins import coin

    return [coin(0, "demo", t) % (n + 1) for t in range(rounds)]


def _title(out: Out, number: int, text: str) -> None:
    out.line()
    out.line(f"{number}. {text}", "bold")


def _certified(out: Out, ledger: Ledger) -> Ledger:
    promised(out, ledger.certify(), ledger=ledger)
    return ledger
