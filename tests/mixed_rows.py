"""Rows of mixed values, for tests of dicts, frames, files and the service."""

import csv
import datetime
import io
import random

import numpy as np

CITIES = ["Rome", "Oslo", "Paris", "Kyiv", "Lima", *(f"town{k}" for k in range(20))]


def mixed(rows=250, seed=1, text=False):
    """Return dicts with numbers, a category, a boolean, a date and gaps; the first row is complete."""
    draw = random.Random(seed)
    found = []
    for k in range(rows):
        age = None if k and draw.random() < 0.15 else round(draw.uniform(18, 80), 1)
        city = None if k and draw.random() < 0.05 else draw.choice(CITIES)
        vip, amount = draw.random() < 0.3, round(draw.expovariate(0.01), 2)
        day = (datetime.date(2024, 1, 1) + datetime.timedelta(days=k // 3)).isoformat()
        score = (age or 50) / 40 + 1.5 * (city in ("Rome", "Oslo")) + vip + amount / 200 + draw.gauss(0, 0.7)
        row = {"age": age, "city": city, "vip": vip, "day": day, "amount": amount}
        if text:
            row["note"] = " ".join(draw.choice(["late", "refund", "thanks", "again", "broken"]) for _ in range(5))
        found.append({**row, "outcome": "yes" if score > 2.6 else "no"})
    found[0]["outcome"] = "no"
    return found


def apart(row, label="outcome"):
    return {name: value for name, value in row.items() if name != label}, row[label]


def as_csv(rows):
    file = io.StringIO()
    writer = csv.DictWriter(file, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def bits_of(stream):
    """Return the features and labels of a stream, row by row, as bytes, however it is cut into batches."""
    found = []
    for batch in stream.batches():
        for k in range(len(batch)):
            x = batch.x
            if isinstance(x, np.ndarray):
                parts = [x[k]]
            else:
                parts = [part[x.indptr[k] : x.indptr[k + 1]] for part in (x.indices, x.values)]
            found.append((*(np.asarray(part, np.float64).tobytes() for part in parts), batch.y[k].item()))
    return found
