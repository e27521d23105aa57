"""Raw tables: `auto` with its defaults against the online learners of River and LightGBM, on 53 tables in file order.

Each row is predicted, then learned, in one pass over the file as it lies there; tables with more rows are cut. The loss
is the log loss of labels, without the rounds in which a label occurs for the first time, and the absolute error of
numbers, without the first. Settings of the peers are those of the quality board (benchmarks/quality_peers.py); River's
linear model for numbers is also played with a standardised target. River's learners cannot have missing values: numbers
are replaced by the mean of the past, categories by a category of their own. LightGBM is refitted on the whole past.

Two learners tie if their mean difference per row is at most one standard error, computed from the means of 20 parts of
the table. "Best online peer" is the one of River with the lowest loss, chosen in hindsight.

    python -m benchmarks tables --only iris,titanic --peers "River linear" LightGBM
    python -m benchmarks tables --results tables.jsonl     # stores each line, and plays only missing ones

The tables were chosen before any learner was run on them: those of scikit-learn and River with at least 100 rows, and
tables of pydataset with a natural target, some with missing values, dates, or columns that name the row.
"""

import argparse
import datetime
import json
import pathlib
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks import quality_peers
from benchmarks.quality_peers import Played, ours, part, river, river_forest, river_linear, river_tree
from benchmarks.quality_streams import Rows, numbered, packaged

ROWS = 2_000
"""Most rows of a table: its first."""
PARTS = 20


class Raw(NamedTuple):
    """A table: its source ("sklearn", "river", or a folder of pydataset), target, task, and columns to leave out."""

    source: str
    target: str
    task: str
    drop: tuple[str, ...] = ()


B, M, R = "binary", "multiclass", "regression"
TABLES = {
    "breast_cancer": Raw("sklearn", "target", B), "iris": Raw("sklearn", "target", M),
    "wine": Raw("sklearn", "target", M), "digits": Raw("sklearn", "target", M),
    "diabetes": Raw("sklearn", "target", R),
    "Bananas": Raw("river", "", B), "Phishing": Raw("river", "", B), "ImageSegments": Raw("river", "", M),
    "Shuttle": Raw("river", "", B), "AirlinePassengers": Raw("river", "", R), "ChickWeights": Raw("river", "", R),
    "TrumpApproval": Raw("river", "", R), "WaterFlow": Raw("river", "", R),
    "Mroz": Raw("Ecdat", "work", B), "titanic": Raw("COUNT", "survived", B), "birthwt": Raw("MASS", "low", B, ("bwt",)),
    "Pima.tr2": Raw("MASS", "type", B), "biopsy": Raw("MASS", "class", B), "crabs": Raw("MASS", "sp", B),
    "survey": Raw("MASS", "Sex", B), "bacteria": Raw("MASS", "y", B), "infert": Raw("datasets", "case", B),
    "channing": Raw("boot", "death", B), "Hdma": Raw("Ecdat", "deny", B), "Participation": Raw("Ecdat", "lfp", B),
    "Train": Raw("Ecdat", "choice", B), "turnout": Raw("Zelig", "vote", B), "colon": Raw("survival", "status", B),
    "sat.act": Raw("psych", "gender", B),
    "fgl": Raw("MASS", "type", M), "Chile": Raw("car", "vote", M), "Womenlf": Raw("car", "partic", M),
    "Catsup": Raw("Ecdat", "choice", M), "Heating": Raw("Ecdat", "depvar", M), "Yogurt": Raw("Ecdat", "choice", M),
    "Mathlevel": Raw("Ecdat", "mathlevel", M), "vote92": Raw("pscl", "vote", M),
    "tips": Raw("reshape2", "tip", R), "mpg": Raw("ggplot2", "hwy", R), "economics": Raw("ggplot2", "unemploy", R),
    "Boston": Raw("MASS", "medv", R), "cpus": Raw("MASS", "perf", R, ("estperf",)),
    "nlschools": Raw("MASS", "lang", R), "airquality": Raw("datasets", "Ozone", R), "quakes": Raw("datasets", "mag", R),
    "Salaries": Raw("car", "salary", R), "SLID": Raw("car", "wages", R), "Computers": Raw("Ecdat", "price", R),
    "Caschool": Raw("Ecdat", "testscr", R), "Housing": Raw("Ecdat", "price", R), "Wages": Raw("Ecdat", "lwage", R),
    "Forbes2000": Raw("HSAUR", "marketvalue", R), "dietox": Raw("geepack", "Weight", R),
}  # fmt: skip


def loaded(name: str) -> Rows:
    """Return the first rows of a table, with its missing values."""
    raw = TABLES[name]
    if raw.source == "sklearn":
        import sklearn.datasets

        x, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True, as_frame=True)
    elif raw.source == "river":
        import river.datasets

        some = [(dict(x), y) for x, y in getattr(river.datasets, name)().take(ROWS)]
        x, y = pd.DataFrame([x for x, _ in some]), pd.Series([y for _, y in some])
        for name in [name for name in x if isinstance(x[name].iloc[0], datetime.datetime)]:
            x[name] = pd.to_datetime(x[name], utc=True).dt.tz_localize(None)
    else:
        x = packaged("pydataset", f"{raw.source}/{name}")
        y = x.pop(raw.target)
    there = y.notna().to_numpy()
    x, y = x[there][:ROWS].reset_index(drop=True).drop(columns=list(raw.drop)), y[there][:ROWS]
    return Rows(raw.task, x, y.to_numpy(float) if raw.task == R else numbered(y.astype(str)), True)


def filled(rows: Rows) -> Rows:
    """Return the rows without missing values; dates are days and months, as numbers and categories."""
    x = pd.DataFrame(index=rows.x.index)
    for name, column in rows.x.items():
        if pd.api.types.is_datetime64_any_dtype(column):
            x[f"{name}: days"] = (column - column.iloc[0]).dt.days.astype(float)
            x[f"{name}: month"] = column.dt.month_name()
        elif pd.api.types.is_numeric_dtype(column):
            past = column.expanding().mean().shift(1).fillna(0.0)
            x[name] = column.astype(float).fillna(past)
        else:
            x[name] = column.astype(str)
    return Rows(rows.task, x, rows.y, True)


def standardised(rows: Rows) -> Any:
    from river import preprocessing

    return preprocessing.TargetStandardScaler(regressor=river_linear(rows))


def plain(rows: Rows) -> Rows:
    """Return the rows with dates as in `filled`, and missing values as they are."""
    dates = [name for name in rows.x if pd.api.types.is_datetime64_any_dtype(rows.x[name])]
    return Rows(
        rows.task, rows.x.drop(columns=dates).join(filled(rows).x.filter(regex=": (days|month)$")), rows.y, True
    )


ONLINE = {
    "River linear": part(river, river_linear),
    "River linear, target scaled": part(river, standardised),
    "River HAT": part(river, river_tree),
    "River ARF(10)": part(river, river_forest),
}
BATCH = "LightGBM"


def played(name: str, learner: str, rows: Rows) -> Played | None:
    """Return the pass of a learner; None if it does not play this task."""
    if learner == BATCH:
        return quality_peers.lightgbm(False, plain(rows))
    if learner not in ONLINE:
        return ours(learner, rows)
    if "target" in learner and rows.labels:
        return None
    known = filled(rows)
    if "target" in learner:
        known = Rows(rows.task, quality_peers.frame(known), rows.y, True)
    return ONLINE[learner](known)


def losses(rows: Rows, result: Played) -> Any:
    """Return the loss of each counted round; NaN for the others."""
    if not rows.labels:
        found = np.abs(result.predictions - rows.y)
        found[0] = np.nan
        return found
    found = -np.log(np.maximum(result.chances, 1e-300))
    found[np.unique(rows.y, return_index=True)[1]] = np.nan
    return found


def verdict(mine: Any, other: Any) -> tuple[float, float]:
    """Return the mean difference per row, negative if `mine` is better, and its standard error."""
    gap = mine - other
    means = [np.nanmean(one) for one in np.array_split(gap, PARTS) if np.isfinite(one).any()]
    return float(np.nanmean(gap)), float(np.std(means, ddof=1) / np.sqrt(len(means)))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", type=lambda text: text.split(","), default=list(TABLES), help="names of tables")
    options.add_argument("--peers", nargs="+", default=[*ONLINE, BATCH], choices=[*ONLINE, BATCH])
    options.add_argument("--learner", default="auto")
    options.add_argument("--results", type=pathlib.Path, help="file of results, one line per table and learner")
    options.add_argument("--again", action="store_true", help="play --learner again")
    chosen = options.parse_args()
    stored: dict[tuple[str, str], Any] = {}
    if chosen.results and chosen.results.exists():
        for line in map(json.loads, chosen.results.read_text().splitlines()):
            stored[line["table"], line["learner"]] = line["losses"]
    if chosen.again:
        stored = {key: one for key, one in stored.items() if key[1] != chosen.learner}
    counts = {"online": [0, 0, 0], BATCH: [0, 0, 0]}
    for name in chosen.only:
        rows = loaded(name)
        found = {}
        for learner in (chosen.learner, *chosen.peers):
            if (name, learner) not in stored:
                result = played(name, learner, rows)
                each = None if result is None else losses(rows, result)
                stored[name, learner] = None if each is None else [float(f"{one:.6g}") for one in each]
                if chosen.results:
                    with chosen.results.open("a") as file:
                        line = {"table": name, "learner": learner, "losses": stored[name, learner]}
                        print(json.dumps(line), file=file)
            if stored[name, learner] is not None:
                found[learner] = np.array(stored[name, learner], float)
        mine, means = found[chosen.learner], {one: float(np.nanmean(each)) for one, each in found.items()}
        text = [f"{name:18} {rows.task:10} {len(rows.y):5} rows  {chosen.learner} {means[chosen.learner]:.4g}"]
        online = [one for one in found if one in ONLINE]
        rivals = {
            "online": min(online, key=lambda one: means[one], default=None),
            BATCH: BATCH if BATCH in found else None,
        }
        for kind, rival in rivals.items():
            if rival is None:
                continue
            gap, error = verdict(mine, found[rival])
            place = 1 if abs(gap) <= error else 0 if gap < 0 else 2
            counts[kind][place] += 1
            text.append(f"{rival} {means[rival]:.4g} ({('better', 'tie', 'WORSE')[place]}, {gap:+.3g} ± {error:.2g})")
        print("  ".join(text), flush=True)
    for kind, (better, ties, worse) in counts.items():
        against = "the best online peer" if kind == "online" else f"{kind}, refitted on the past"
        of = better + ties + worse
        print(f"{chosen.learner} against {against}: better {better}, ties {ties}, worse {worse} of {of}")


if __name__ == "__main__":
    main()
