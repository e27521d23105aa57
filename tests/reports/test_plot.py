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
from novikoff.reports import comparisons, drawing, plot
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


def curves(figure):
    """The labels of the lines that show something."""
    return [line.get_label() for line in figure.axes[0].get_lines() if not line.get_label().startswith("_")]


def boxes(figure):
    """Where the labels at the ends of the lines are, in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    right = figure.axes[0].get_window_extent().x1
    found = [text.get_window_extent(canvas.get_renderer()) for text in figure.axes[0].texts]
    return [box for box in found if box.x0 > right]


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


@pytest.mark.parametrize("count", [1, 2, 5, 8, 20])
def test_every_learner_has_a_line_and_a_label_that_overlaps_no_other(count):
    names = [f"perceptron:bias={k}" for k in range(count)]
    figure = comparisons.compared(made_up(names))
    assert curves(figure) == names
    assert sum(name in text for name in names for text in texts(figure) if text.startswith(name + " ")) == count
    placed = sorted(boxes(figure), key=lambda box: box.y0)
    assert len(placed) == count
    assert all(below.y1 <= above.y0 for below, above in pairwise(placed))
    assert all(box.x1 <= figure.bbox.width and box.y0 >= 0 and box.y1 <= figure.bbox.height for box in placed)


def test_lines_show_the_mean_rate_in_percent_and_bands_the_deviation(data):
    comparison = compare(["perceptron", "constant"], data, shuffles=3)
    axes = comparisons.compared(comparison).axes[0]
    for learner, line in zip(comparison.learners, axes.get_lines()[:2], strict=True):
        rounds, mean, _ = learner.curve()
        t, rate = line.get_data()
        shown = rounds >= t[0]
        assert t.tolist() == rounds[shown].tolist()
        assert rate == pytest.approx(100 * mean[shown])
    assert len(axes.collections) == 2
    rounds, mean, deviation = comparison.learners[0].curve()
    edge = axes.collections[0].get_paths()[0].vertices
    at_end = edge[edge[:, 0] == rounds[-1]][:, 1]
    assert at_end.min() == pytest.approx(100 * (mean[-1] - deviation[-1]))
    assert at_end.max() == pytest.approx(100 * (mean[-1] + deviation[-1]))


def test_single_order_has_no_band_and_reports_it():
    figure = comparisons.compared(made_up(["a", "b"], shuffles=0))
    assert len(figure.axes[0].collections) == 0
    assert "5,000 rows; in the given order" in texts(figure)
    assert any("mean over 4 shuffles" in text for text in texts(comparisons.compared(made_up(["a", "b"]))))


def test_many_rounds_are_shown_in_powers_of_ten():
    assert comparisons.compared(made_up(["a"], rounds=1001)).axes[0].get_xscale() == "log"
    assert comparisons.compared(made_up(["a"], rounds=1000)).axes[0].get_xscale() == "linear"


def test_axes_have_names_and_numbers_their_separators():
    figure = comparisons.compared(made_up(["a", "b"], rounds=20_000))
    figure.canvas.draw()
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rounds", "error rate up to this row, %")
    assert axes.get_title(loc="left") == "Error rate on made-up.svm"
    assert "10,000" in [tick.get_text() for tick in axes.get_xticklabels()]


def test_game_without_mistakes_is_plotted(tmp_path):
    right = nk.play(nk.Constant(), [(0, 1)])
    for number, figure in enumerate(
        (
            comparisons.compared(made_up(["a", "b"], rate=0.0, shuffles=1)),
            plot.game(right, [], "constant"),
            comparisons.compared(compare(["constant"], [(0, 1)])),
        )
    ):
        drawing.save(figure, str(tmp_path / f"{number}.png"))
        low, high = figure.axes[0].get_ylim()
        assert low <= 0.0 < high
        assert np.max(figure.axes[0].lines[0].get_ydata()) == 0


def test_the_lines_of_a_game_are_mistakes_bound_and_hindsight(ledger):
    certificates = ledger.certify()
    best = certificates[0]
    assert best.status == "valid"
    figure = plot.game(ledger, certificates, "perceptron", [("best linear classifier", 80.0), ("another", 90)])
    bound = f"bound on mistakes after 600 rounds ({best.theorem}, valid)"
    always = f"always {ledger.best_constant.says:+d}, the best constant ({ledger.best_constant.costs} in all)"
    names = ["mistakes of perceptron", bound, always, "best linear classifier, in hindsight", "another, in hindsight"]
    assert curves(figure) == names
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == names
    constant = ledger.best_constant.costs
    assert texts(figure) == [f"{ledger.mistakes:,}", f"{best.bound:,}", f"{constant}", "80", "90"]
    assert figure.axes[0].get_title(loc="left") == "perceptron on arrays"
    lines = figure.axes[0].get_lines()
    assert lines[0].get_data()[1][-1] == ledger.mistakes
    assert dict(zip(*lines[0].get_data(), strict=True)) == {0: 0, **dict(ledger.curve)}
    assert set(lines[1].get_ydata()) == {best.bound}
    assert lines[1].get_linestyle() == "--"
    assert list(lines[2].get_ydata()) == [0, constant]


def test_comparison_plots_best_constant_unless_it_crowds_out_learners(data):
    comparison = compare(["perceptron"], data)
    level = 100 * comparison.constant.costs / 600
    line = comparisons.compared(comparison).axes[0].get_lines()[1]
    assert (line.get_label(), set(line.get_ydata())) == (f"always {comparison.constant.says}", {level})
    easy = compare(
        ["perceptron"], (np.ones((3000, 1)) * np.resize([1.0, -1.0], 3000)[:, None], np.resize([1, -1], 3000))
    )
    figure = comparisons.compared(easy)
    assert curves(figure) == ["perceptron:bias=1,scale=standard"]
    assert any("; always 1 50.0 %" in text for text in texts(figure))


def test_lower_panel_shows_rates_and_the_bound_per_round(ledger):
    best = ledger.certify()[0]
    below = plot.game(ledger, [best], "perceptron").axes[1]
    rate, bound, constant = below.get_lines()[:3]
    assert dict(zip(*rate.get_data(), strict=True)) == {t: 100 * made / t for t, made in ledger.curve if t >= 12}
    t, left = bound.get_data()
    assert left == pytest.approx(100 * best.bound / t)
    assert all(100 * made / at <= 100 * best.bound / at for at, made in ledger.curve)
    assert set(constant.get_ydata()) == {100 * ledger.best_constant.costs / 600}
    said = [float(text.get_text().removesuffix(" %")) for text in below.texts]
    assert said[1] >= 100 * best.bound / 600 > said[1] - 0.1  # a promise is rounded up
    assert below.get_ylabel() == "rate, %"


def test_regression_plots_the_loss():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2)) / 8
    ledger = nk.play(nk.OnlineGradient(), (x, x @ [0.5, -0.5] + 0.2))
    (best, *_) = ledger.certify()
    figure = plot.game(ledger, [best], "online-gradient")
    above, below = figure.axes
    assert (above.get_ylabel(), below.get_ylabel()) == ("squared loss", "loss per row")
    assert above.get_lines()[0].get_ydata()[-1] == ledger.loss
    allowed = best.bound + best.quantities["comparator_loss"]
    assert list(above.get_lines()[1].get_ydata()) == pytest.approx([allowed, allowed])
    assert ledger.loss <= allowed
    assert above.get_lines()[2].get_ydata()[-1] == ledger.best_constant.costs
    assert "mistakes" not in " ".join(curves(figure))


def test_game_of_no_rounds_is_plotted(tmp_path):
    ledger = nk.play(nk.Perceptron(), (np.ones((3, 2)), np.array([1, -1, 1])), rounds=0)
    drawing.save(plot.game(ledger, ledger.certify(), "perceptron"), str(tmp_path / "none.png"))


def test_vacuous_bound_is_reported_and_not_drawn():
    x = np.random.default_rng(1).normal(size=(50, 3))
    noise = nk.play(nk.Perceptron(), (x, np.where(np.arange(50) % 2 == 0, 1, -1)))
    certificates = noise.certify()
    assert certificates[0].status == "vacuous"
    figure = plot.game(noise, certificates, "perceptron")
    assert len(texts(figure)) == 2  # mistakes, and the best constant
    said = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert said[-1] == f"no bound to draw: {certificates[0].theorem} is vacuous (no better than the trivial bound 50)"
    assert figure.axes[0].get_ylim()[1] < 50


def test_learners_that_differ_by_their_budget_only_are_drawn_by_it():
    names = [f"{name}:budget={b}" for name in ("rbp", "forgetron") for b in (50, 200, 100)]
    comparison = made_up(names)
    points = comparisons.budget_points(comparison)
    assert [(point.learner, point.budget) for point in points[:3]] == [("rbp", 50), ("rbp", 200), ("rbp", 100)]
    assert points[4].rate == comparison.learners[4].rate.mean
    figure = comparisons.compared(comparison)
    axes = figure.axes[0]
    assert (axes.get_xscale(), axes.get_xlabel()) == ("log", "budget (stored examples)")
    bars = axes.containers
    assert [bar.get_label() for bar in bars] == ["rbp", "forgetron"]
    at, rates = bars[0].lines[0].get_data()
    assert at.tolist() == [50, 100, 200]
    wanted = {point.budget: 100 * point.rate for point in points[:3]}
    assert dict(zip(at, rates, strict=True)) == pytest.approx(wanted)
    assert all(bar.has_yerr for bar in bars)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["50", "100", "200"]
    assert len(boxes(figure)) == 2


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
def test_other_learners_are_drawn_by_rounds(names):
    assert comparisons.budget_points(made_up(names)) == []
    assert curves(comparisons.compared(made_up(names))) == names


def test_other_arguments_stay_in_the_name_of_a_budget_line():
    found = comparisons.budget_points(made_up(["rbp:budget=50,gamma=0.5", "rbp:gamma=0.5,budget=1e3"]))
    assert [(point.learner, point.budget) for point in found] == [("rbp:gamma=0.5", 50), ("rbp:gamma=0.5", 1000)]


def test_file_kind_follows_its_suffix(ledger, tmp_path):
    figure = plot.game(ledger, ledger.certify(), "perceptron")
    drawing.save(figure, str(tmp_path / "a.PNG"))
    assert (tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG")
    drawing.save(figure, str(tmp_path / "a.svg"))
    text = (tmp_path / "a.svg").read_text()
    assert text.startswith("<?xml")
    assert "perceptron on arrays" in text


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_same_game_makes_the_same_file(ledger, tmp_path, ending):
    for name in "ab":
        drawing.save(plot.game(ledger, ledger.certify(), "perceptron"), str(tmp_path / f"{name}.{ending}"))
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


@pytest.mark.parametrize("name", ["plot.jpg", "plot", "plot.png.gz", ".png"])
def test_other_endings_are_refused(name, tmp_path):
    with pytest.raises(InputError, match=r"PNG or an SVG file.*End its name"):
        drawing.check(str(tmp_path / name))


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="Create it, or choose another"):
        drawing.check(str(tmp_path / "no" / "plot.png"))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.08))
def test_labels_are_kept_apart_in_their_order_and_on_the_page(wanted, least):
    places = drawing.spread(wanted, least)
    ranked = sorted(range(len(wanted)), key=lambda i: wanted[i])
    assert all(places[b] - places[a] >= least - 1e-9 for a, b in pairwise(ranked))
    assert -1e-9 <= min(places) <= max(places) <= 1 + 1e-9


def test_labels_that_are_far_apart_stay_where_they_are():
    assert drawing.spread([0.9, 0.1, 0.5], 0.05) == pytest.approx([0.9, 0.1, 0.5])
    assert drawing.spread([0.5, 0.5], 0.1) == pytest.approx([0.45, 0.55])


def test_matplotlib_is_imported_only_to_draw():
    code = """
import sys, novikoff.cli.comparison
from novikoff.reports import comparisons, drawing, plot
from novikoff.reports.bound_curve import Bounds
assert "matplotlib" not in sys.modules
comparisons.budgets([comparisons.Point("a", 1, 0.5)])
assert "matplotlib" in sys.modules and "matplotlib.pyplot" not in sys.modules
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize(("length", "wanted"), [(70, 70), (71, 70), (500, 70)])
def test_a_long_reason_is_cut(length, wanted):
    said = drawing.cut("r" * length, drawing.LONGEST_REASON)
    assert len(said) == wanted
    assert said.endswith("…") == (length > 70)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_plot_replaces_a_plot_and_nothing_else(tmp_path, ending):
    figure, path = comparisons.compared(made_up(["a", "b"])), tmp_path / f"plot.{ending}"
    drawing.save(figure, str(path))
    drawing.check(str(path))
    drawing.save(figure, str(path))
    photo = {"png": b"\x89PNG\r\n\x1a\n" + bytes(3000), "svg": b"<svg xmlns='http://www.w3.org/2000/svg'></svg>"}
    for content in (b"my thesis", photo[ending]):
        path.write_bytes(content)
        with pytest.raises(InputError, match="a plot must not replace a file of another kind"):
            drawing.check(str(path))
        with pytest.raises(InputError, match="a plot must not replace a file of another kind"):
            drawing.save(figure, str(path))
        assert path.read_bytes() == content
    drawing.save(figure, str(path), force=True)
    drawing.check(str(path))


def test_a_constant_that_is_far_worse_leaves_the_learner_its_room():
    x = np.random.default_rng(0).normal(size=(2000, 2))
    ledger = nk.play(nk.Perceptron(), (x, np.where(x[:, 0] > 0, 1, -1)))
    constant = ledger.best_constant.costs
    assert constant > 10 * ledger.mistakes
    axes = plot.game(ledger, [], "perceptron").axes[0]
    assert axes.get_ylim()[1] < constant / 4
    assert f"({constant} in all)" in axes.get_legend_handles_labels()[1][1]


def test_a_bound_on_another_quantity_than_mistakes_is_reported_as_such(data):
    ledger = nk.play("logistic", data)
    certificates = ledger.certify()
    assert certificates[0].status == "valid"
    said = [text.get_text() for text in plot.game(ledger, certificates, "logistic").axes[0].get_legend().get_texts()]
    assert re.fullmatch(r"not drawn: logistic_regret, log loss at most [0-9.,]+", said[-1])


def test_the_bound_on_the_loss_of_numbers_is_a_curve():
    x = np.random.default_rng(3).normal(size=(300, 3))
    y = 1e6 * (x[:, 0] + 5.0)
    ledger = nk.play("auto-regression", (x, y), observers=[Bounds()])
    assert len(ledger.bounds) > 5
    assert all(bound >= dict(ledger.curve)[t] for t, bound in ledger.bounds)
    figure = plot.game(ledger, ledger.certify(), "auto-regression")
    bounds = next(
        line for line in figure.axes[0].lines if str(line.get_label()).startswith("bound on the squared loss")
    )
    assert list(bounds.get_xdata()[1::2]) == [*(t for t, _ in ledger.bounds if t < 300), 300]
    steps = list(zip(bounds.get_xdata()[::2], bounds.get_xdata()[1::2], bounds.get_ydata()[::2], strict=True))
    assert all(paid <= high for t, paid in ledger.curve for first, last, high in steps if first < t <= last)
    figure.canvas.draw()
    assert all(len(text.get_text()) < 8 for text in figure.axes[0].get_yticklabels())
