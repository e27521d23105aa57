"""Page of the quality board: comparisons, tables and summary, all computed from the stored results.

A learner is compared with another on the orders that both played. From three common orders on, the standard error is
that of the differences over the orders; else that of the differences over twenty consecutive parts of the stream. Two
learners tie if the mean difference is at most one standard error, and neither is worse than the frequencies.
"""

import collections
import pathlib
from typing import Any

import numpy as np

from benchmarks.quality_streams import STREAMS

Lines = dict[tuple[str, int, str], dict[str, Any]]
TEMPLATE = pathlib.Path(__file__).with_suffix(".md")
OWN = "auto"
PEERS = (
    "River linear", "River HAT", "River ARF(10)", "River AMF(10)", "VW", "VW -q ::", "MOA ARF(30)", "MOA SRP(10)",
    "MOA SGBT", "LightGBM", "LightGBM + lags", "scikit-learn SGD",
)  # fmt: skip
BASELINE = "frequencies"
LEAST_ORDERS = 3
TITLES = {"log_loss": "Log loss", "error": "Error rate in %", "auc": "AUC", "rmse": "RMSE", "mae": "MAE"}
LONG = 10_000


# Comparisons


def values(lines: Lines, stream: str, learner: str, measure: str) -> dict[int, float]:
    """Return the figures of a learner by order."""
    return {
        order: line[measure]
        for (at, order, name), line in lines.items()
        if at == stream and name == learner and measure in line
    }


def compare(lines: Lines, stream: str, one: str, other: str, measure: str) -> tuple[float, float] | None:
    """Return the mean difference of two learners on their common orders and its standard error; None without any.

    For the RMSE on fewer than three common orders, both are of squared errors.
    """
    a, b = (values(lines, stream, name, measure) for name in (one, other))
    common = sorted(set(a) & set(b))
    if not common:
        return None
    if len(common) >= LEAST_ORDERS:
        return spread(np.array([a[order] - b[order] for order in common]))
    parts = [np.array(lines[stream, common[0], name]["blocks"][measure]) for name in (one, other)]
    _, error = spread(parts[0] - parts[1])
    power = 2 if measure == "rmse" else 1
    return float(np.mean([a[order] ** power - b[order] ** power for order in common])), error


def spread(differences: Any) -> tuple[float, float]:
    """Return the mean and its standard error."""
    return float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(len(differences)))


def verdict(lines: Lines, stream: str, one: str, others: Any, measure: str) -> str | None:
    """Return "lower", "tie" or "higher" for a learner beside the others; None if nothing can be compared.

    A peer that is worse than the frequencies or the mean of the past does not tie: errors of learners that diverge
    have no useful standard error.
    """
    plain = mean(lines, stream, BASELINE, measure)
    tie, compared = False, False
    for other in others:
        pair = compare(lines, stream, one, other, measure)
        if pair is None:
            continue
        if pair[0] > pair[1]:
            return "higher"
        compared = True
        tie |= abs(pair[0]) <= pair[1] and (plain is None or (mean(lines, stream, other, measure) or 0.0) <= plain)
    return None if not compared else "tie" if tie else "lower"


def best(lines: Lines, stream: str, measure: str, sign: float = 1.0) -> str | None:
    """Return the peer that is lowest (highest for sign -1) relative to ours, on the orders that both played."""
    own = values(lines, stream, OWN, measure)
    found = {name: values(lines, stream, name, measure) for name in PEERS}
    off = {
        name: sign * float(np.mean([some[order] - own[order] for order in set(some) & set(own)]))
        for name, some in found.items()
        if set(some) & set(own)
    }
    return min(off, key=lambda name: off[name], default=None)


def mean(lines: Lines, stream: str, learner: str, measure: str) -> float | None:
    found = values(lines, stream, learner, measure)
    return float(np.mean(list(found.values()))) if found else None


# Groups of streams


def groups(lines: Lines) -> dict[str, list[str]]:
    """Return the streams with results of ours, by title."""
    played = {stream for stream, _, name in lines if name == OWN}
    titles = {"binary": "Two labels", "multiclass": "More labels", "regression": "Numbers"}
    found: dict[str, list[str]] = {}
    for held in (False, True):
        for task, title in titles.items():
            some = [n for n, s in STREAMS.items() if s.task == task and s.held_back == held and n in played]
            if some:
                found[f"{title}, held back" if held else title] = some
    return found


def of_task(streams: Any, *tasks: str) -> list[str]:
    return [name for name in streams if STREAMS[name].task in tasks]


# Text


def number(value: float | None, measure: str) -> str:
    if value is None or not np.isfinite(value):
        return "–"
    if measure == "error":
        return f"{100.0 * value:.2f}"
    if measure in ("log_loss", "auc"):
        return f"{value:.3f}".removeprefix("0")
    return f"{value:.4g}" if abs(value) < 1e5 else f"{value:.1e}"


def cell(lines: Lines, stream: str, learner: str, measure: str) -> str:
    """Return mean ± standard error over the orders."""
    found = np.array(list(values(lines, stream, learner, measure).values()))
    if not len(found):
        return "–"
    text = number(float(found.mean()), measure)
    if len(found) < LEAST_ORDERS:
        return text
    off = spread(found)[1]
    return f"{text} ±{number(off, measure)}"


def table(head: list[str], body: list[list[str]]) -> str:
    rows = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def guaranteed(lines: Lines, stream: str) -> tuple[str, float] | None:
    """Return the bound in the unit of the table, averaged over the orders, and bound / observed of all rounds."""
    found = [line for (at, _, name), line in lines.items() if at == stream and name == OWN and "bound" in line]
    if not found:
        return None
    ratio = float(np.mean([line["bound"] / line["loss"] for line in found]))
    if STREAMS[stream].task == "regression":
        bounds = [np.sqrt((line["bound"] - line["first"]) / (line["rows"] - 1)) for line in found]
        return number(float(np.mean(bounds)), "rmse"), ratio
    return number(float(np.mean([line["bound"] / line["rows"] for line in found])), "log_loss"), ratio


def overview(lines: Lines, streams: list[str]) -> str:
    """Return ours beside the best peer of each measure, with the bound."""
    numbers = STREAMS[streams[0]].task == "regression"
    measures = ("rmse", "mae") if numbers else ("log_loss", "error")
    head = ["stream", "rows"]
    for measure in measures:
        head += [f"{TITLES[measure]}: `{OWN}`", "best peer", "`auto` is"]
        head += ["guaranteed", "guaranteed / observed"] if measure == measures[0] else []
    two = not numbers and STREAMS[streams[0]].task == "binary"
    head += ["AUC: `auto`", "best peer"] if two else []
    body = []
    for stream in streams:
        rows = next(line["rows"] for (at, _, name), line in lines.items() if at == stream and name == OWN)
        row = [stream, f"{rows:,}"]
        for measure in measures:
            peer = best(lines, stream, measure)
            row += [
                cell(lines, stream, OWN, measure),
                "–" if peer is None else f"{cell(lines, stream, peer, measure)} {peer}",
                {"tie": "tied", None: "–"}.get(found := verdict(lines, stream, OWN, PEERS, measure), found),
            ]
            if measure == measures[0]:
                bound = guaranteed(lines, stream)
                row += ["–", "–"] if bound is None else [bound[0], f"{bound[1]:.4f}"]
        if two:
            peer = best(lines, stream, "auc", -1.0)
            row += [
                cell(lines, stream, OWN, "auc"),
                "–" if peer is None else f"{cell(lines, stream, peer, 'auc')} {peer}",
            ]
        body.append(row)
    return table(head, body)


def full(lines: Lines, streams: list[str], measure: str) -> str:
    """Return the means of all learners; the lowest of a row, or the highest AUC, is bold."""
    names = [name for name in (OWN, *PEERS, BASELINE) if any(values(lines, s, name, measure) for s in streams)]
    body = []
    for stream in streams:
        means = {name: mean(lines, stream, name, measure) for name in names}
        known = [value for value in means.values() if value is not None and np.isfinite(value)]
        least = max(known) if measure == "auc" else min(known)
        shown = [number(means[name], measure) for name in names]
        pairs = zip(shown, means.values(), strict=True)
        body.append([stream, *(f"**{text}**" if value == least else text for text, value in pairs)])
    return table([TITLES[measure], *(f"`{OWN}`" if name == OWN else name for name in names)], body)


def seconds(lines: Lines) -> str:
    """Return CPU time per row of each learner beside ours on the same streams."""
    body = []
    for name in (OWN, *PEERS):
        both = [s for s in STREAMS if (s, 0, name) in lines and (s, 0, OWN) in lines]
        if not both:
            continue
        time = {n: np.array([lines[s, 0, n]["seconds"] for s in both]) for n in (name, OWN)}
        rows = np.array([lines[s, 0, name]["rows"] for s in both])
        ratios = time[name] / time[OWN]
        body.append([
            f"`{OWN}`" if name == OWN else name, str(len(both)), f"{1e6 * time[name].sum() / rows.sum():.0f}",
            f"{1e6 * np.median(time[name] / rows):.0f}", f"{time[name].sum() / time[OWN].sum():.2g}",
            f"{ratios.min():.2g} to {ratios.max():.2g}", orders(lines, name),
        ])  # fmt: skip
    head = [
        "learner",
        "streams",
        "µs per row",
        "median",
        "times `auto`",
        "least and most",
        "orders of shuffled streams",
    ]
    return table(head, body)


def orders(lines: Lines, learner: str) -> str:
    """Return on how many shuffled streams a learner played how many orders."""
    found = collections.Counter(s for s, _, name in lines if name == learner and not STREAMS[s].ordered)
    counts = collections.Counter(found.values())
    return ", ".join(f"{n} on {counts[n]}" for n in sorted(counts, reverse=True)) or "–"


def tally(lines: Lines, streams: list[str], measure: str) -> tuple[int, list[str], list[str]]:
    """Return the number of streams where ours is lower than all peers, those of ties, and those where it is higher."""
    found = {stream: verdict(lines, stream, OWN, PEERS, measure) for stream in streams}
    return (
        sum(one == "lower" for one in found.values()),
        [stream for stream, one in found.items() if one == "tie"],
        [stream for stream, one in found.items() if one == "higher"],
    )


def sentence(lines: Lines, streams: list[str], measure: str) -> str:
    """Return the claim for one measure, with each exception."""
    title = {"log_loss": "log loss", "error": "error rate"}.get(measure, TITLES[measure])
    lower, ties, higher = tally(lines, streams, measure)
    text = f"lowest {title} on {lower} of {len(streams)} streams"
    if ties:
        text += f", a tie on {len(ties)} ({', '.join(ties)})"
    if higher:
        cases = []
        for stream in higher:
            peer = best(lines, stream, measure)
            pair = [number(mean(lines, stream, name, measure), measure) for name in (OWN, peer or OWN)]
            cases.append(f"{stream}, {pair[0]} against {pair[1]} of {peer}")
        text += f", a peer lower on {len(higher)} ({'; '.join(cases)})"
    return text


def at_most(lines: Lines, streams: list[str], measure: str) -> int:
    """Return on how many streams the mean of ours is at most that of each peer on their common orders."""
    count = 0
    for stream in streams:
        found = [compare(lines, stream, OWN, peer, measure) for peer in PEERS]
        pairs = [pair for pair in found if pair is not None]
        count += bool(pairs) and all(mean <= 0.0 for mean, _ in pairs)
    return count


def summary(lines: Lines) -> str:
    """Return the claims as a list."""
    parts = []
    found = groups(lines)
    for held, title in ((False, "Streams used in the design"), (True, "Streams held back")):
        streams = [s for names in found.values() for s in names if STREAMS[s].held_back == held]
        labels, numbers = of_task(streams, "binary", "multiclass"), of_task(streams, "regression")
        if labels:
            parts.append(f"- **{title}, labels.** `{OWN}` has the {sentence(lines, labels, 'log_loss')}.")
            errors = at_most(lines, labels, "error")
            parts.append(
                f"- **{title}, errors.** Its error rate is at most that of every peer on {errors} of {len(labels)} "
                f"streams: the {sentence(lines, labels, 'error')}."
            )
        if numbers:
            claims = " and the ".join(sentence(lines, numbers, measure) for measure in ("rmse", "mae"))
            parts.append(f"- **{title}, numbers.** `{OWN}` has the {claims}.")
    ratios = {s: bound[1] for names in found.values() for s in names if (bound := guaranteed(lines, s)) is not None}
    if ratios:
        long = {s: ratio for s, ratio in ratios.items() if lines[s, 0, OWN]["rows"] >= LONG}
        text = f"- **Guarantee.** At most {max(ratios.values()):.3f} times the observed loss on {len(ratios)} streams"
        if long:
            most = max(long, key=lambda s: long[s])
            text += f"; {long[most]:.4f} times at most ({most}) on the {len(long)} of at least {LONG:,} rows"
        parts.append(f"{text}.")
    times = []
    for peer in ("River ARF(10)", "MOA ARF(30)"):
        both = [s for s in STREAMS if (s, 0, peer) in lines and (s, 0, OWN) in lines]
        if both:
            spent = [sum(lines[s, 0, name]["seconds"] for s in both) for name in (peer, OWN)]
            times.append(f"{peer} takes {spent[0] / spent[1]:.1f} times as long on {len(both)} streams")
    if times:
        own = [line for (_, order, name), line in lines.items() if name == OWN and order == 0]
        each = 1e6 * sum(line["seconds"] for line in own) / sum(line["rows"] for line in own)
        parts.append(f"- **Cost.** {each:.0f} µs of CPU time per row over all streams; {'; '.join(times)}.")
    if parts:
        own = {stream for stream, _, name in lines if name == OWN}
        counts = {peer: len({s for s, _, name in lines if name == peer} & own) for peer in PEERS}
        parts.append(
            f"- **Peers.** {len(own)} streams; of these played "
            f"{', '.join(f'{peer} {count}' for peer, count in counts.items() if count)}."
        )
    return "\n".join(parts) or f"{len(lines)} results, none of `{OWN}`."


def page(lines: Lines) -> str:
    """Return the text of docs/quality.md."""
    tables = []
    for title, streams in groups(lines).items():
        measures = ["rmse", "mae"] if STREAMS[streams[0]].task == "regression" else ["log_loss", "error"]
        parts = [f"## {title}", overview(lines, streams)]
        parts += [full(lines, streams, measure) for measure in measures]
        tables.append("\n\n".join(parts))
    return TEMPLATE.read_text(encoding="utf-8").format(
        own=OWN, summary=summary(lines), tables="\n\n".join(tables), seconds=seconds(lines),
        versions=", ".join(sorted({line["version"] for line in lines.values()})) + ".",
    )  # fmt: skip
