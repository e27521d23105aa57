"""`forecast`: forecasts of several steps with intervals, in a table by number of steps."""

from __future__ import annotations

import json
import sys
from typing import Any

from novikoff.cli.games import Output
from novikoff.cli.output import until_closed
from novikoff.core.errors import InputError
from novikoff.game.forecasting import Forecast, Steps, forecast
from novikoff.reports.charts import short


def forecast_source(
    learner: str | None, source: str, options: dict[str, Any], coming: str | None,
    files: tuple[str | None, str | None], output: Output,
) -> int:  # fmt: skip
    """Run `novikoff forecast` and return the exit code.

    Args:
        learner: Spec of the learner; None for auto.
        source: Source, as on the command line.
        options: Arguments of `nk.forecast`.
        coming: File with the rows to come; None for none.
        files: Folder to resume, and folder to save.
        output: Output options.
    """
    output.check()
    resume, saved = files
    if source == "-":
        raise InputError("forecast reads its source once per step: save it to a file first.")
    begun = learner if resume is None else Forecast.load(resume)
    found = forecast(begun, source, **(options if resume is None else {"label": options["label"]}))
    rows = [] if coming is None else _rows(found, coming)
    ahead = found.predict(rows) if rows else []
    if saved is not None:
        found.save(saved)
    if output.plot is not None:
        from novikoff.reports import forecast_chart, plot_file

        plot_file.save(forecast_chart.chart(found), output.plot, output.force)
    with until_closed():
        if output.as_json:
            fields = {"steps": [one._asdict() for one in found.steps()], "next": [one._asdict() for one in ahead]}
            print(json.dumps({**fields, "spec": found.ledgers[0].spec, "rows": found.ledgers[0].rounds}))
            return 0
        for line in lines(found.steps()):
            print(line)
        for row, one in zip(rows, ahead, strict=True):
            shown = ", ".join(f"{name} {value}" for name, value in list(row.items())[:3])
            print(f"{shown}: {short(one.prediction)}  from {short(one.low)} to {short(one.high)}")
    if saved is not None and not output.quiet:
        print(f"{found.horizon} models written to {saved}", file=sys.stderr)
    return 0


def lines(steps: list[Steps]) -> list[str]:
    """Return a table of errors and coverage by number of steps."""
    found = [f"{'steps':>5}  {'MAE':>10}  {'RMSE':>10}  {'coverage':>8}  guaranteed"]
    for one in steps:
        low = max(one.target - one.guaranteed, 0.0)
        held = f"{100 * one.coverage:>7.1f}%  at least {100 * low:.1f}%"
        found.append(f"{one.steps:>5}  {one.mae:>10.4g}  {one.rmse:>10.4g}  {held}")
    return [*found, f"target {100 * steps[0].target:g} % on {steps[0].rows:,} rows"]


def _rows(found: Forecast, path: str) -> list[dict[str, Any]]:
    """Return the rows to come from a file, with the cells of its columns."""
    from novikoff.data.reader import read
    from novikoff.data.tables.table import Table

    stream = read(path, labelled=False)
    if not isinstance(stream, Table):
        raise InputError(f"the rows to come must be a table: {path} is not one.")
    cells = stream.reader.first_cells()
    rows = len(next(iter(cells.values())))
    label = found.ledgers[0].encoding and found.ledgers[0].encoding.label
    return [{name: values[t] for name, values in cells.items() if name != label} for t in range(rows)]
