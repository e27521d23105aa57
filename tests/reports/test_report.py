"""Charts and tiles of a report: what is drawn, read back from SVG and PNG, is what the ledger has."""

import json
import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

import novikoff as nk
from novikoff.cli.main import main
from novikoff.game.course import MOST_ROWS, Recorder, Sample
from novikoff.reports import charts, game_chart, page, png, quality, segments, svg, tiles
from novikoff.reports.bound_curve import Bounds

PAIR = r"(-?[\d.]+) (-?[\d.]+)"


def read_back(panel, size):
    """Points of every curve of a panel, by colour, from its SVG and the numbers at its axes."""
    root = ElementTree.fromstring(svg.panel(panel, size).replace(' xmlns="http://www.w3.org/2000/svg"', ""))
    up, along = [], []
    for text in root.find("g").iter("text"):
        number = text.text.replace(",", "").removesuffix(" %")
        if text.get("text-anchor") == "end":
            up.append((float(text.get("y")) - 4, float(number)))
        elif text.get("text-anchor") == "middle" and re.fullmatch(r"[\d.]+", number):
            along.append((float(text.get("x")), float(number)))

    def value(pairs, place):
        (a, one), (b, two) = pairs[0], pairs[-1]
        return one + (place - a) * (two - one) / (b - a)

    found = {}
    for path in root.iter("path"):
        pairs = re.findall(PAIR, path.get("d"))
        found.setdefault(path.get("stroke"), []).append(
            [(value(along, float(x)), value(up, float(y))) for x, y in pairs]
        )
    return found


def on_curve(point, points, tolerance):
    """Whether a point lies on a curve through points, within a tolerance relative to the axes."""
    wide, tall = tolerance
    for (a, one), (b, two) in pairwise([*points, points[-1]]):
        low, high = min(a, b) - wide, max(a, b) + wide
        if low <= point[0] <= high and min(one, two) - tall <= point[1] <= max(one, two) + tall:
            return True
    return False


@pytest.fixture(scope="module")
def ledger():
    coins = np.random.default_rng(5)
    x = coins.normal(size=(900, 3))
    y = np.where(x @ [2.0, -1.0, 0.0] + coins.logistic(size=900) > 0.5, 1, -1)
    return nk.play("logistic", (x, y), observers=[Recorder(), Bounds()])


@pytest.fixture(scope="module")
def panels(ledger):
    certificates = ledger.certify()
    found = [*game_chart.panels(ledger, certificates), *game_chart.promised(ledger, certificates)]
    return [*found, quality.roc(ledger), quality.precision_recall(ledger), *quality.calibration(ledger)[:1]]


@pytest.mark.parametrize("size", [svg.WIDE, svg.NARROW], ids=["wide", "narrow"])
def test_svg_curves_are_those_of_the_charts(panels, size):
    for panel in panels:
        found = read_back(panel, size)
        (first, last), (low, high) = panel.across_range(), panel.up_range()
        close = 0.006 * (last - first), 0.008 * (high - low)
        for line in panel.lines:
            corners = charts.stairs(line.points) if line.steps else list(line.points)
            drawn = [point for part in found[line.colour] for point in part]
            inside = [point for point in drawn if low <= point[1] <= high]
            others = [one for one in panel.lines if one.colour == line.colour and one is not line]
            curves = [corners, *(list(one.points) for one in others)]
            assert inside
            assert all(any(on_curve(point, curve, close) for curve in curves) for point in inside), panel.heading


def test_png_curves_are_those_of_the_charts(panels):
    figure = png.figure(charts.Chart("all", panels))
    for axes, panel in zip(figure.axes, panels, strict=True):
        drawn = [np.column_stack(line.get_data()).tolist() for line in axes.get_lines()]
        for line in panel.lines:
            corners = charts.stairs(line.points) if line.steps else line.points
            assert [list(map(float, point)) for point in corners] in drawn, panel.heading


def test_log_loss_chart_ends_at_the_ledger_and_stays_below_its_guarantee(ledger):
    certificate = next(one for one in ledger.certify() if one.quantity == "log loss")
    loss, bound, constant = quality.log_loss(ledger, [certificate]).lines
    assert loss.points[-1] == (900, ledger.log_loss / 900)
    assert bound.points[-1] == (900, pytest.approx(certificate.bound / 900))
    p = ledger.positives / 900
    assert constant.points[-1][1] == pytest.approx(-p * math.log(p) - (1 - p) * math.log(1 - p))
    for t, mean in loss.points:
        allowed = [value for at, value in bound.points if at <= t]
        assert not allowed or mean <= allowed[-1] * 1.2


def test_bounds_on_the_log_loss_along_a_game_are_those_of_games_that_end_there():
    ledger = nk.play("auto", "demo:breast-cancer", rounds=60, observers=[Recorder(), Bounds()])
    totals, bounds = dict(ledger.course.log_loss), ledger.course.log_bounds
    assert len(bounds) > 10
    assert all(totals[t] <= most for t, most in bounds if t in totals)
    rounds, bound = bounds[-1]
    shorter = nk.play("auto", "demo:breast-cancer", rounds=rounds)
    assert bound == min(one.bound for one in shorter.certify() if one.quantity == "log loss" and one.status == "valid")


def test_a_saved_game_still_shows_its_guarantee(ledger, tmp_path):
    nk.save(ledger, tmp_path / "m.nk")
    again = nk.load(tmp_path / "m.nk")
    assert again.course is None
    (loss, bound, _) = quality.log_loss(again, again.certify()).lines
    assert loss.points == [(900, ledger.log_loss / 900)]
    assert bound.points[-1][1] == pytest.approx(next(one.bound for one in ledger.certify()) / 900)


def test_a_guarantee_in_another_quantity_is_drawn_as_bars():
    ledger = nk.play("exponential-weights:experts=4,loss=table", np.random.default_rng(0).uniform(size=(50, 4)))
    certificates = ledger.certify()
    bars = quality.promise(ledger, certificates)
    best = next(one for one in certificates if one.status == "valid")
    assert [bar.high for bar in bars.bars] == [best.observed, best.bound]


def test_roc_has_the_area_of_the_ledger(ledger):
    points = quality.roc(ledger).lines[0].points
    area = sum((x2 - x1) * (y1 + y2) / 2 for (x1, y1), (x2, y2) in pairwise(points))
    assert area == pytest.approx(ledger.auc.value, abs=0.005)
    assert (points[0], points[-1]) == ((0.0, 0.0), (1.0, 1.0))
    assert quality.roc(ledger).lines[0].name == f"AUC {ledger.auc.value:.3f}"


def test_precision_recall_passes_through_the_default_threshold(ledger):
    curve, chance, default = quality.precision_recall(ledger).lines
    assert default.points == [(ledger.recall, ledger.precision)]
    assert chance.points[0][1] == ledger.positives / 900
    assert len(curve.points) <= quality.POINTS + 2
    sklearn = pytest.importorskip("sklearn.metrics")
    coins = np.random.default_rng(1)
    scores, y = coins.normal(size=200), coins.integers(0, 2, size=200)
    ranking = nk.Ledger(nk.Logistic(2)).ranking
    ranking.add(scores, np.where(y == 1, 1, -1))
    from novikoff.game.thresholds import table_of

    found = quality.average_precision(table_of(ranking, False))
    assert found == pytest.approx(sklearn.average_precision_score(y, scores), abs=0.01)


def test_calibration_chart_has_the_bins_of_the_ledger(ledger):
    observed, counts = quality.calibration(ledger)
    bins = ledger.calibration.table()
    assert observed.lines[0].points == [(one.predicted, one.observed) for one in bins]
    assert [region.points[0][2] for region in counts.regions] == [one.rounds for one in bins]
    assert sum(one.rounds for one in bins) == 900


def test_segments_of_every_column_add_up_to_the_mistakes(ledger):
    found = segments.of(ledger)
    assert (found.rows, found.seen, found.note) == (900, 900, "Counted on all 900 rows.")
    assert len(found.columns) == 3
    for column in found.columns:
        assert sum(one.rows for one in column.segments) == 900
        assert sum(one.error for one in column.segments) == ledger.mistakes
        assert all(220 <= one.rows <= 230 for one in column.segments)
    for drawn, column in zip(segments.bars(ledger, found), found.columns, strict=True):
        assert [bar.high for bar in drawn.bars] == [100 * one.error / one.rows for one in column.segments]
        assert drawn.level == pytest.approx(100 * ledger.mistake_rate)


def test_level_of_one_wrong_row_does_not_lead_the_columns():
    errors = np.repeat([1.0, 0.0], [20, 380])
    rare = [segments.Segment("0", 399, 19.0), segments.Segment("1", 1, 1.0)]
    even = [segments.Segment("up to 1", 200, 18.0), segments.Segment("above 1", 200, 2.0)]
    assert segments._spread(rare, errors) == 0.0 < 1.0 < segments._spread(even, errors)


def test_segments_of_a_table_are_its_levels_and_missing_values(tmp_path):
    coins = np.random.default_rng(2)
    city, age = coins.choice(["Rome", "Oslo"], 400), coins.integers(20, 60, 400)
    label = np.where((city == "Rome") ^ (coins.random(400) < 0.1), "stay", "leave")
    shown = np.where(coins.random(400) < 0.2, "", age.astype(str))
    lines = [",".join(row) for row in zip(city, shown, label, strict=True)]
    (tmp_path / "t.csv").write_text("city,age,label\n" + "\n".join(lines) + "\n")
    ledger = nk.play("logistic", str(tmp_path / "t.csv"), observers=[Recorder()], record=True)
    wrong = ledger.recorded() != np.where(label == str(ledger.label(1)), 1, -1)
    found = {one.name: {part.name: part for part in one.segments} for one in segments.of(ledger).columns}
    for name in ("Rome", "Oslo"):
        assert found["city"][name] == (name, (city == name).sum(), wrong[city == name].sum())
    missing = shown == ""
    assert found["age"]["missing"] == ("missing", missing.sum(), wrong[missing].sum())
    low = next(part for name, part in found["age"].items() if name.startswith("up to "))
    cut = np.quantile(age[~missing], 0.25)
    assert low.rows == (age[~missing] <= cut).sum()
    assert low.error == wrong[~missing][age[~missing] <= cut].sum()


def test_sample_of_a_long_game_is_bounded_and_fair():
    sample, total = Sample(), 5 * MOST_ROWS
    for first in range(1, total, MOST_ROWS // 2):
        count = MOST_ROWS // 2
        sample.add(first, np.zeros((count, 1)), (np.arange(first, first + count) % 10 == 0).astype(float))
    assert sample.seen == total
    assert MOST_ROWS / 2.2 < sample.rows <= MOST_ROWS
    assert not sample.whole
    assert sample.errors().mean() == pytest.approx(0.1, abs=0.01)
    assert len(sample.errors()) == sample.rows


@pytest.mark.parametrize("batch", [1, 7, 900])
def test_sample_does_not_depend_on_batches(batch):
    whole, parts = Sample(), Sample()
    x = np.arange(900.0)[:, None]
    whole.limit = parts.limit = 2**62
    whole.add(1, x, x[:, 0])
    for start in range(0, 900, batch):
        parts.add(1 + start, x[start : start + batch], x[start : start + batch, 0])
    assert whole.errors().tolist() == parts.errors().tolist()


def test_tiles_show_error_baseline_guarantee_and_verdict(ledger):
    error, baseline, promise, verdict = tiles.of_game(ledger, ledger.certify())
    assert error[:3] == ("Error", f"{100 * ledger.mistake_rate:.3g} %", f"{ledger.mistakes} mistakes in 900 rows")
    costs = min(ledger.best_constant.costs, ledger.last_label)
    assert baseline.value == f"{100 * costs / 900:.3g} %"
    best = next(one for one in ledger.certify() if one.quantity == "log loss")
    assert float(promise.value.removeprefix("≤ ")) >= best.bound / 900
    assert (verdict.value, verdict.mood) == ("✓ Guaranteed", "good")
    text = page.document(ledger)
    for one in (error, baseline, promise, verdict):
        assert f"<dt>{one.name}</dt>" in text
        assert f">{one.value}</dd>" in text


def test_tiles_warn_of_a_learner_worse_than_its_baseline():
    coins = np.random.default_rng(3)
    noise = nk.play("perceptron", (coins.normal(size=(200, 3)), np.where(coins.random(200) < 0.9, 1, -1)))
    *_, verdict = tiles.of_game(noise, noise.certify())
    assert verdict.mood in ("doubt", "bad")
    assert verdict.note.startswith("worse than the baseline by ")


def test_a_fraction_of_fewer_errors_is_rounded_down():
    assert tiles._compared(0.1, 0.2999, True) == "2.9 times fewer errors than the baseline"
    assert tiles._compared(0.0, 0.5, True) == "no errors; the baseline makes 50 %"
    assert tiles._compared(0.5, 0.5, True) == "as good as the baseline"


@pytest.mark.parametrize(
    ("learner", "source"),
    [
        ("none", None),
        ("logistic", ([[1.0]], [1])),
        ("perceptron", ([[1.0], [2.0]], [1, 1])),
        ("perceptron", ([[1.0, 2.0], [0.0, 1.0], [2.0, 1.0]], ["a", "b", "c"])),
        ("online-gradient", ([[0.5], [0.1]], [0.5, 1.5])),
    ],
)
def test_tiny_games_have_reports(learner, source):
    if source is None:
        ledger = nk.Ledger(nk.Perceptron())
    else:
        x, y = source
        ledger = nk.play(learner, (np.array(x), np.array(y)), observers=[Recorder(), Bounds()])
    assert page.document(ledger).count("<h1>") == 1
    assert "<table" in page.fragment(ledger)


def test_report_of_a_long_game_is_small():
    coins = np.random.default_rng(4)
    x = coins.normal(size=(300_000, 3)).astype(np.float32)
    ledger = nk.play("logistic", (x, np.where(x[:, 0] > 0, 1, -1)), track=False, observers=[Recorder()])
    text = page.document(ledger)
    assert len(text) < 200_000
    assert ledger.course.sample.rows <= MOST_ROWS
    assert "Counted on a random sample: " in text


def test_json_of_a_report_has_the_segments(tmp_path, capsys):
    out = tmp_path / "r.html"
    assert main(["run", "logistic", "demo:breast-cancer", "--report", str(out), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["segments"]["rows"] == printed["segments"]["of"] == 569
    for column in printed["segments"]["columns"]:
        assert sum(one["error"] for one in column["segments"]) == printed["mistakes"]


def test_provenance_has_the_hash_of_the_file(tmp_path, capsys):
    import hashlib

    file, out = tmp_path / "d.csv", tmp_path / "r.html"
    file.write_text("x,label\n" + "".join(f"{k},{'ab'[k % 2]}\n" for k in range(40)))
    assert main(["run", "perceptron", str(file), "--report", str(out), "-q"]) == 0
    capsys.readouterr()
    assert f"SHA-256 {hashlib.sha256(file.read_bytes()).hexdigest()}" in out.read_text()
    assert "Source: d.csv" in out.read_text()


def test_confusion_matrix_is_shaded_by_share_of_the_row(ledger):
    (right, wrong), _ = ledger.confusion.table
    shades = re.findall(r"rgba\(0,114,178,([\d.]+)\)", page.document(ledger))
    assert float(shades[0]) == pytest.approx(0.45 * right / (right + wrong), abs=0.001)
