"""Plots: the right lines with the right labels, nothing on top of anything else, and files that can be read."""

import re
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.core.errors import InputError
from novikoff.evaluation.compare import Compared, Comparison, Finished, compare
from novikoff.reports import charts, comparisons, game_chart, plot_file, png, svg
from novikoff.reports.bound_curve import Bounds


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 5))
    return x, np.where(x[:, 0] + x[:, 1] + 0.6 * rng.normal(size=600) >= 0, 1, -1)


@pytest.fixture(scope="module")
def ledger(data):
    return nk.play(nk.Perceptron(), data)


def made_up(learners, rounds=5000, shuffles=4, rate=0.2):
    """A comparison with these learners, whose rates end close together."""
    marks = [t for t in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000) if t < rounds] + [rounds]

    def game(number, shuffle):
        curve = tuple((t, int(t * (rate + 0.0003 * number + 0.001 * shuffle))) for t in marks)
        return Finished(rounds, curve[-1][1], None, curve[-1][1], 0.1, curve, ())

    each = [Compared(name, tuple(game(k, s) for s in range(max(shuffles, 1)))) for k, name in enumerate(learners)]
    return Comparison("made-up.svm", rounds, 1, shuffles, 0, tuple(each))


def curves(chart):
    """The names of the curves of the first panel."""
    return [line.name for line in chart.panels[0].lines]


def ends(chart):
    """The texts at the ends of the curves of the first panel."""
    return [text for _, text, _ in chart.panels[0].ends()]


def boxes(figure):
    """Where the labels at the ends of the lines are, in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    right = figure.axes[0].get_window_extent().x1
    found = [text.get_window_extent(canvas.get_renderer()) for text in figure.axes[0].texts]
    return [box for box in found if box.x0 > right]


def legend(chart):
    return [name for name, _ in chart.panels[0].names()]


@pytest.mark.parametrize("count", [1, 2, 5, 8, 20])
def test_every_learner_has_a_line_and_a_label_that_overlaps_no_other(count):
    names = [f"perceptron:bias={k}" for k in range(count)]
    chart = comparisons.chart(made_up(names))
    assert curves(chart) == names
    assert [text.partition("  ")[2] for text in ends(chart)] == names
    figure = png.figure(chart)
    placed = sorted(boxes(figure), key=lambda box: box.y0)
    assert len(placed) == count
    assert all(below.y1 <= above.y0 for below, above in pairwise(placed))
    assert all(box.x1 <= figure.bbox.width and box.y0 >= 0 and box.y1 <= figure.bbox.height for box in placed)


def test_lines_show_the_mean_rate_in_percent_and_bands_the_deviation(data):
    comparison = compare(["perceptron", "constant"], data, shuffles=3)
    (panel,) = comparisons.chart(comparison).panels
    for learner, line in zip(comparison.learners, panel.lines[:2], strict=True):
        rounds, mean, deviation = learner.curve()
        shown = rounds >= line.points[0][0]
        assert [t for t, _ in line.points] == rounds[shown].tolist()
        assert [rate for _, rate in line.points] == pytest.approx(100 * mean[shown])
        assert line.around == pytest.approx(100 * deviation[shown])


def test_single_order_has_no_band_and_reports_it():
    chart = comparisons.chart(made_up(["a", "b"], shuffles=0))
    assert all(line.around == () for line in chart.panels[0].lines)
    assert chart.note == "5,000 rows; in the given order"
    assert "mean over 4 shuffles" in comparisons.chart(made_up(["a", "b"])).note


def test_many_rounds_are_shown_on_a_logarithmic_axis():
    assert comparisons.chart(made_up(["a"], rounds=1001)).panels[0].log
    assert not comparisons.chart(made_up(["a"], rounds=1000)).panels[0].log


def test_axes_have_names_and_numbers_their_separators():
    chart = comparisons.chart(made_up(["a", "b"], rounds=20_000))
    (panel,) = chart.panels
    assert (panel.across, panel.up) == ("rounds", "error rate up to this row, %")
    assert chart.title == "Error rate on made-up.svm"
    assert ">10,000<" in svg.panel(panel)
    figure = png.figure(chart)
    assert "10,000" in [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert figure.axes[0].get_xlabel() == "rounds"


def test_game_without_mistakes_is_plotted(tmp_path):
    right = nk.play(nk.Constant(), [(0, 1)])
    for number, chart in enumerate(
        (
            comparisons.chart(made_up(["a", "b"], rate=0.0, shuffles=1)),
            game_chart.chart(right, [], "constant"),
            comparisons.chart(compare(["constant"], [(0, 1)])),
        )
    ):
        for ending in ("png", "svg"):
            plot_file.save(chart, str(tmp_path / f"{number}.{ending}"))
        low, high = chart.panels[0].up_range()
        assert low <= 0.0 < high
        assert charts.top(chart.panels[0].lines[0].points) == 0


def test_the_lines_of_a_game_are_mistakes_bound_and_hindsight(ledger):
    certificates = ledger.certify()
    best = certificates[0]
    assert best.status == "valid"
    chart = game_chart.chart(ledger, certificates, "perceptron", [("best linear classifier", 80.0), ("another", 90)])
    constant = ledger.best_constant.costs
    names = [
        "mistakes",
        f"guaranteed at most ({best.theorem}), at the end",
        f"always {ledger.best_constant.says:+d}: {constant}",
        "best linear classifier, in hindsight",
        "another, in hindsight",
    ]
    assert curves(chart) == legend(chart) == names
    assert ends(chart) == [f"{ledger.mistakes:,}", f"{best.bound:,}", f"{constant}", "80", "90"]
    assert chart.title == "perceptron on arrays"
    mistakes, bound, always, *_ = chart.panels[0].lines
    assert dict(mistakes.points) == {0: 0, **dict(ledger.curve)}
    assert mistakes.points[-1][1] == ledger.mistakes
    assert {value for _, value in bound.points} == {best.bound}
    assert [value for _, value in always.points] == [0, constant]
    shown = [text.get_text() for text in png.figure(chart).axes[0].get_legend().get_texts()]
    assert shown == names


@pytest.mark.parametrize("learner", ["perceptron", "constant", "ftrl"])
def test_png_and_svg_contain_the_numbers_of_the_ledger(data, learner):
    ledger = nk.play(learner, data, observers=[Bounds()])
    chart = game_chart.chart(ledger, ledger.certify(), learner)
    made = {0: 0, **dict(ledger.curve), ledger.rounds: ledger.mistakes}
    (x, y), *_ = [line.get_data() for line in png.figure(chart).axes[0].get_lines()]
    assert all(made[int(t)] == height or made.get(int(t) - 1, 0) <= height <= made[int(t)]
               for t, height in zip(x, y, strict=True) if int(t) in made)  # fmt: skip
    assert (x[-1], y[-1]) == (ledger.rounds, ledger.mistakes)
    picture, panel = svg.panel(chart.panels[0]), chart.panels[0]
    for line in panel.lines:
        assert f'stroke="{line.colour}"' in picture
    for _, text, _ in panel.ends():
        assert f"</tspan>{text}</text>" in picture
    assert f"mistakes {ledger.mistakes}" in picture  # for screen readers


def test_comparison_plots_best_constant_unless_it_crowds_out_learners(data):
    comparison = compare(["perceptron"], data)
    level = 100 * comparison.constant.costs / 600
    line = comparisons.chart(comparison).panels[0].lines[1]
    assert (line.name, {value for _, value in line.points}) == (f"always {comparison.constant.says}", {level})
    easy = compare(
        ["perceptron"], (np.ones((3000, 1)) * np.resize([1.0, -1.0], 3000)[:, None], np.resize([1, -1], 3000))
    )
    chart = comparisons.chart(easy)
    assert curves(chart) == ["perceptron:bias=1,scale=standard"]
    assert "; always 1 50.0 %" in chart.note


def test_lower_panel_shows_rates_and_the_bound_per_round(ledger):
    best = ledger.certify()[0]
    below = game_chart.chart(ledger, [best], "perceptron").panels[1]
    rate, bound, constant, recent = below.lines
    made = dict([(0, 0), *ledger.curve])
    assert recent.name == "last 30 rows"
    assert all(value == pytest.approx(100 * (made[t] - made[t - 30]) / 30) for t, value in recent.points)
    assert [t for t, _ in recent.points][-1] == 600
    assert dict(rate.points) == {t: 100 * made / t for t, made in ledger.curve if t >= 12}
    assert all(value == pytest.approx(100 * best.bound / t) for t, value in bound.points)
    assert all(100 * made / at <= 100 * best.bound / at for at, made in ledger.curve)
    assert {value for _, value in constant.points} == {100 * ledger.best_constant.costs / 600}
    promised = float(bound.end.removesuffix(" %"))
    assert promised >= 100 * best.bound / 600 > promised - 0.1  # a promise is rounded up
    assert below.up == "rate, %"


def test_regression_plots_the_loss():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2)) / 8
    ledger = nk.play(nk.OnlineGradient(), (x, x @ [0.5, -0.5] + 0.2))
    (best, *_) = ledger.certify()
    above, below = game_chart.chart(ledger, [best], "online-gradient").panels
    assert (above.up, below.up) == ("squared loss", "loss per row")
    ours, bound, constant = above.lines
    assert ours.points[-1][1] == ledger.loss
    allowed = best.bound + best.quantities["comparator_loss"]
    assert [value for _, value in bound.points] == pytest.approx([allowed, allowed])
    assert ledger.loss <= allowed
    assert constant.points[-1][1] == ledger.best_constant.costs
    assert not any("mistakes" in line.name for line in above.lines)


def test_game_of_no_rounds_is_plotted(tmp_path):
    ledger = nk.play(nk.Perceptron(), (np.ones((3, 2)), np.array([1, -1, 1])), rounds=0)
    for ending in ("png", "svg"):
        plot_file.save(game_chart.chart(ledger, ledger.certify(), "perceptron"), str(tmp_path / f"none.{ending}"))


def test_vacuous_bound_is_reported_and_not_drawn():
    x = np.random.default_rng(1).normal(size=(50, 3))
    noise = nk.play(nk.Perceptron(), (x, np.where(np.arange(50) % 2 == 0, 1, -1)))
    certificates = noise.certify()
    assert certificates[0].status == "vacuous"
    chart = game_chart.chart(noise, certificates, "perceptron")
    assert len(ends(chart)) == 2  # mistakes, and the best constant
    reason = f"no bound to draw: {certificates[0].theorem} is vacuous (no better than the trivial bound 50)"
    assert legend(chart)[-1] == reason
    assert reason in svg.panel(chart.panels[0])
    assert png.figure(chart).axes[0].get_legend().get_texts()[-1].get_text() == reason
    assert chart.panels[0].up_range()[1] < 50


def test_learners_that_differ_by_their_budget_only_are_drawn_by_it():
    names = [f"{name}:budget={b}" for name in ("rbp", "forgetron") for b in (50, 200, 100)]
    comparison = made_up(names)
    points = comparisons.budget_points(comparison)
    assert [(point.learner, point.budget) for point in points[:3]] == [("rbp", 50), ("rbp", 200), ("rbp", 100)]
    assert points[4].rate == comparison.learners[4].rate.mean
    chart = comparisons.chart(comparison)
    (panel,) = chart.panels
    assert (panel.log, panel.across) == (True, "budget (stored examples)")
    assert curves(chart) == ["rbp", "forgetron"]
    assert [at for at, _ in panel.lines[0].points] == [50, 100, 200]
    assert dict(panel.lines[0].points) == pytest.approx({point.budget: 100 * point.rate for point in points[:3]})
    assert all(line.marks and len(line.around) == 3 for line in panel.lines)
    figure = png.figure(chart)
    assert all(bar.has_yerr for bar in figure.axes[0].containers)
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["50", "100", "200"]
    assert len(boxes(figure)) == 2
    assert svg.panel(panel).count("<circle") == 6


@pytest.mark.parametrize(
    "names",
    [
        ["perceptron", "rbp:budget=50", "rbp:budget=100"],
        ["rbp:budget=50", "forgetron:budget=100"],
        ["rbp:budget=50,gamma=1", "rbp:budget=100,gamma=2"],
        ["rbp:budget=50", "rbp:budget=50"],
        ["rbp:budget=none", "rbp:budget=50"],
        ["a name of mine", "another!"],
    ],
)
def test_learners_without_comparable_budgets_are_drawn_by_rounds(names):
    assert comparisons.budget_points(made_up(names)) == []
    assert curves(comparisons.chart(made_up(names))) == names


def test_other_arguments_stay_in_the_name_of_a_budget_line():
    found = comparisons.budget_points(made_up(["rbp:budget=50,gamma=0.5", "rbp:gamma=0.5,budget=1e3"]))
    assert [(point.learner, point.budget) for point in found] == [("rbp:gamma=0.5", 50), ("rbp:gamma=0.5", 1000)]


def test_file_kind_follows_its_suffix(ledger, tmp_path):
    chart = game_chart.chart(ledger, ledger.certify(), "perceptron")
    plot_file.save(chart, str(tmp_path / "a.PNG"))
    assert (tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG")
    plot_file.save(chart, str(tmp_path / "a.svg"))
    text = (tmp_path / "a.svg").read_text()
    assert text.startswith("<svg")
    assert "perceptron on arrays" in text


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_same_game_makes_the_same_file(ledger, tmp_path, ending):
    for name in "ab":
        plot_file.save(game_chart.chart(ledger, ledger.certify(), "perceptron"), str(tmp_path / f"{name}.{ending}"))
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


@pytest.mark.parametrize("name", ["plot.jpg", "plot", "plot.png.gz", ".png"])
def test_other_endings_are_refused(name, tmp_path):
    with pytest.raises(InputError, match=r"PNG or an SVG file.*End its name"):
        plot_file.check(str(tmp_path / name))


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="Create it, or choose another"):
        plot_file.check(str(tmp_path / "no" / "plot.png"))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.08))
def test_labels_are_kept_apart_in_their_order_and_on_the_page(wanted, least):
    places = charts.spread(wanted, least)
    ranked = sorted(range(len(wanted)), key=lambda i: wanted[i])
    assert all(places[b] - places[a] >= least - 1e-9 for a, b in pairwise(ranked))
    assert -1e-9 <= min(places) <= max(places) <= 1 + 1e-9


def test_labels_that_are_far_apart_stay_where_they_are():
    assert charts.spread([0.9, 0.1, 0.5], 0.05) == pytest.approx([0.9, 0.1, 0.5])
    assert charts.spread([0.5, 0.5], 0.1) == pytest.approx([0.45, 0.55])


def test_matplotlib_is_imported_only_for_png():
    code = """
import sys, novikoff.cli.comparison
from novikoff.reports import comparisons, game_chart, plot_file, png, svg
chart = comparisons.budgets([comparisons.Point("a", 1, 0.5)])
svg.chart(chart)
assert "matplotlib" not in sys.modules
png.figure(chart)
assert "matplotlib" in sys.modules and "matplotlib.pyplot" not in sys.modules
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize(("length", "wanted"), [(70, 70), (71, 70), (500, 70)])
def test_a_long_reason_is_cut(length, wanted):
    said = charts.cut("r" * length, charts.LONGEST_REASON)
    assert len(said) == wanted
    assert said.endswith("…") == (length > 70)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_plot_replaces_a_plot_and_nothing_else(tmp_path, ending):
    chart, path = comparisons.chart(made_up(["a", "b"])), tmp_path / f"plot.{ending}"
    plot_file.save(chart, str(path))
    plot_file.check(str(path))
    plot_file.save(chart, str(path))
    photo = {"png": b"\x89PNG\r\n\x1a\n" + bytes(3000), "svg": b"<svg xmlns='http://www.w3.org/2000/svg'></svg>"}
    for content in (b"my thesis", photo[ending]):
        path.write_bytes(content)
        with pytest.raises(InputError, match="a plot must not replace a file of another kind"):
            plot_file.check(str(path))
        with pytest.raises(InputError, match="a plot must not replace a file of another kind"):
            plot_file.save(chart, str(path))
        assert path.read_bytes() == content
    plot_file.save(chart, str(path), force=True)
    plot_file.check(str(path))


def test_a_constant_that_is_far_worse_leaves_the_learner_its_room():
    x = np.random.default_rng(0).normal(size=(2000, 2))
    ledger = nk.play(nk.Perceptron(), (x, np.where(x[:, 0] > 0, 1, -1)))
    constant = ledger.best_constant.costs
    assert constant > 10 * ledger.mistakes
    chart = game_chart.chart(ledger, [], "perceptron")
    assert chart.panels[0].up_range()[1] < constant / 4
    assert legend(chart)[1] == f"always {ledger.best_constant.says:+d}: {constant:,} (continues above)"


def test_a_bound_on_another_quantity_than_mistakes_is_reported_as_such(data):
    ledger = nk.play("logistic", data)
    certificates = ledger.certify()
    assert certificates[0].status == "valid"
    chart = game_chart.chart(ledger, certificates, "logistic")
    note = legend(chart)[-1]
    assert note == "guarantee on log loss: see its own chart"
    bound = chart.panels[2].lines[1]
    assert bound.name == "guaranteed at most (logistic_regret, at the end)"
    assert bound.points[-1] == (600, pytest.approx(certificates[0].bound / 600))


def test_the_bound_on_the_loss_of_numbers_is_a_curve():
    x = np.random.default_rng(3).normal(size=(300, 3))
    y = 1e6 * (x[:, 0] + 5.0)
    ledger = nk.play("auto-regression", (x, y), observers=[Bounds()])
    assert len(ledger.bounds) > 5
    assert all(bound >= dict(ledger.curve)[t] for t, bound in ledger.bounds)
    panel = game_chart.chart(ledger, ledger.certify(), "auto-regression").panels[0]
    bound = next(line for line in panel.lines if line.colour == charts.BOUND)
    x, y = zip(*bound.points, strict=True)
    assert list(x[1::2]) == [*(t for t, _ in ledger.bounds if t < 300), 300]
    steps = list(zip(x[::2], x[1::2], y[::2], strict=True))
    assert all(paid <= high for t, paid in ledger.curve for first, last, high in steps if first < t <= last)
    assert all(len(charts.short(value)) < 12 for value in charts.ticks(*panel.up_range()))


def test_bars_are_drawn_by_both_renderers():
    bars = charts.Bars(
        "loss per round", [charts.Bar("a", 0.2, 0.5, 0.3), charts.Bar("b", -0.1, 0.1)], 0.4, "logged: 0.4"
    )
    picture = svg.panel(bars)
    assert picture.count("<rect") == 2
    assert picture.count("<circle") == 1
    assert "logged: 0.4" in picture
    axes = png.figure(charts.Chart("bars", [bars])).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b"]
    assert list(axes.get_lines()[0].get_xdata()) == [0.2, 0.5]


def test_a_value_is_at_the_same_fraction_of_the_axis_in_both_renderers():
    panel = charts.Panel("loss", "rounds", [charts.Line("a", [(10, 2.0), (1000, 4.0)])], low=1.0, high=5.0, first=10,
                         log=True)  # fmt: skip
    path = re.search(r'd="M([0-9.]+) ([0-9.]+)L([0-9.]+) ([0-9.]+)"', svg.panel(panel)).groups()
    left, first, right, last = map(float, path)
    assert left == svg.LEFT
    assert svg.WIDTH - svg.RIGHT < right < svg.WIDTH
    axes = png.figure(charts.Chart("one", [panel])).axes[0]
    low, high = axes.get_ylim()
    assert (low, high) == (1.0, 5.0)
    assert (first - last) / (svg.HEIGHT - svg.BELOW) == pytest.approx((4.0 - 2.0) / (high - low), abs=0.01)
