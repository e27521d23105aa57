"""Chart of forecasts of several steps: coverage next to its target, and error, by number of steps."""

from __future__ import annotations

from novikoff.game.forecasting import Forecast
from novikoff.reports.charts import BOUND, COLOURS, CONSTANT, DOTTED, Chart, Line, Panel, Region


def chart(forecast: Forecast) -> Chart:
    """Return the chart; `reports/plot_file.py` writes it."""
    found, across, last = forecast.steps(), "steps ahead", float(max(forecast.horizon, 2))
    target = 100.0 * found[0].target
    held = [(float(one.steps), 100.0 * one.coverage) for one in found]
    off = [(float(one.steps), 100.0 * one.guaranteed) for one in found]
    edges = [(steps, max(target - far, 0.0), min(target + far, 100.0)) for steps, far in off]
    aim = [(1.0, target), (last, target)]
    coverage = Panel(
        "coverage, %", across,
        [Line("coverage", held, marks=True, end=""), Line("target", aim, CONSTANT, DOTTED, end=f"{target:g} %")],
        [Region("guaranteed", edges, BOUND, 0.13)], low=max(min(low for _, low, _ in edges) - 3.0, 0.0), high=100.5,
        first=1.0, last=last,
    )  # fmt: skip
    errors = Panel(
        "error", across,
        [Line("RMSE", [(float(one.steps), one.rmse) for one in found], marks=True),
         Line("mean absolute error", [(float(one.steps), one.mae) for one in found], COLOURS[2], marks=True)],
        first=1.0, last=last,
    )  # fmt: skip
    return Chart(f"forecasts by {forecast.ledgers[0].spec}", [coverage, errors])
