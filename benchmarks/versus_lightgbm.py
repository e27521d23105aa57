"""`auto`, its linear mixture, and LightGBM refitted on the past: progressive log loss, errors, seconds and the bound.

Each row is predicted, then learned, in one pass. LightGBM has its defaults and is refitted from scratch when the rows
have grown by a quarter, from 32 on; before that it predicts the frequency of the label. Its probabilities are clipped
to 1e-6 .. 1 - 1e-6. It gets categorical columns as such. Rows are shuffled with seed 0; streams with a time order
(elec, weather, adult as distributed) keep it. Regression: root mean squared error, without the first row.

Breast cancer, digits and diabetes come with scikit-learn; Phishing, Bananas, ImageSegments and ChickWeights with River;
adult, elec, weather and spambase are read from the folder NOVIKOFF_DATA, and skipped without it.
"""

import argparse
import os
import pathlib
import time
import warnings

import numpy as np
import pandas as pd

import novikoff as nk

warnings.filterwarnings("ignore")


def shuffled(x, y):
    order = np.random.default_rng(0).permutation(len(y))
    return pd.DataFrame(np.asarray(x)[order]).add_prefix("x"), pd.Series(np.asarray(y)[order])


def bundled(name):
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    return shuffled(found.data, found.target)


def river(name, order=True):
    from river import datasets

    rows = list(getattr(datasets, name)())
    frame, y = pd.DataFrame([x for x, _ in rows]), pd.Series([label for _, label in rows])
    return shuffled(frame.to_numpy(float), y.to_numpy()) if order else (frame, y)


def table(path, label, **options):
    frame = pd.read_csv(pathlib.Path(os.environ.get("NOVIKOFF_DATA") or "data") / path, **options)
    return frame, frame.pop(label)


STREAMS = {
    "breast cancer": lambda: bundled("breast_cancer"),
    "digits": lambda: bundled("digits"),
    "Phishing": lambda: river("Phishing"),
    "Bananas": lambda: river("Bananas"),
    "ImageSegments": lambda: river("ImageSegments"),
    "spambase": lambda: shuffled(*(part.to_numpy() for part in table("spambase/spambase.data", 57, header=None))),
    "weather": lambda: table("weather_noaa/weather.csv", "target"),
    "adult": lambda: table("adult/adult.csv", "label"),
    "elec": lambda: table("elec/elec.csv", "label"),
    "diabetes": lambda: bundled("diabetes"),
    "ChickWeights": lambda: river("ChickWeights", order=False),
}
NUMBERS = ("diabetes", "ChickWeights")
OURS = ("linear-mixture", "auto")


def refits(rows):
    """Yield the number of rows that each refit learns from, and the end of the rows it predicts."""
    start = 32
    while start < rows:
        stop = min(rows, max(start + 1, int(1.25 * start)))
        yield start, stop
        start = stop


def lightgbm(frame, y, numbers):
    import lightgbm

    x = frame.apply(lambda column: column if pd.api.types.is_numeric_dtype(column) else column.astype("category"))
    codes = np.asarray(y, float) if numbers else pd.factorize(y)[0]
    start = time.process_time()
    if numbers:
        said = np.append(0.0, np.cumsum(codes)[:-1] / np.arange(1, len(codes)))
        for past, stop in refits(len(codes)):
            model = lightgbm.LGBMRegressor(verbose=-1, n_jobs=1).fit(x[:past], codes[:past])
            said[past:stop] = model.predict(x[past:stop])
        root = np.sqrt(np.mean((said[1:] - codes[1:]) ** 2))
        return root, np.mean(np.abs(said[1:] - codes[1:])), time.process_time() - start, None
    labels = int(codes.max()) + 1
    came = np.eye(labels)[codes]
    chances = (np.vstack([np.zeros(labels), np.cumsum(came, 0)[:-1]]) + 0.5) / (
        np.arange(len(codes)) + 0.5 * labels
    )[:, None]  # fmt: skip
    for past, stop in refits(len(codes)):
        if len(np.unique(codes[:past])) == 1:
            continue
        model = lightgbm.LGBMClassifier(verbose=-1, n_jobs=1).fit(x[:past], codes[:past])
        chances[past:stop] = 0.0
        chances[past:stop, model.classes_] = model.predict_proba(x[past:stop])
    chances = np.clip(chances, 1e-6, 1.0 - 1e-6)
    lost = -np.log(chances[np.arange(len(codes)), codes]).mean()
    return lost, np.mean(chances.argmax(1) != codes), time.process_time() - start, None


def ours(spec, frame, y, numbers):
    rows = frame.assign(label=np.asarray(y, float) if numbers else [f"label {one}" for one in y])
    start = time.process_time()
    ledger = nk.play(f"{spec}-regression" if numbers else spec, rows)
    bounds = [one.bound for one in ledger.certify() if one.status in ("valid", "conditional") and one.bound is not None]
    seconds = time.process_time() - start
    bound = min(bounds) if bounds else np.nan
    if numbers:  # the first prediction is 0, and left out
        first, rounds = float(y.iloc[0]), ledger.rounds - 1
        root, mean = np.sqrt((ledger.loss - first**2) / rounds), (ledger.mae * ledger.rounds - abs(first)) / rounds
        return root, mean, seconds, np.sqrt((bound - first**2) / rounds)
    return ledger.log_loss / ledger.rounds, ledger.mistakes / ledger.rounds, seconds, bound / ledger.rounds


def main():
    parser = argparse.ArgumentParser("python -m benchmarks versus_lightgbm", description=__doc__.splitlines()[0])
    parser.add_argument("--streams", metavar="A,B", help=f"of {', '.join(STREAMS)}; all by default")
    chosen = parser.parse_args().streams
    for spec in OURS:
        nk.play(spec, "demo:breast-cancer", rounds=100)  # kernels are compiled
    print("| stream | rows | `linear-mixture` | `auto` | guaranteed | LightGBM | seconds of each |")
    print("|---|---|---|---|---|---|---|")
    for name in chosen.split(",") if chosen else STREAMS:
        try:
            frame, y = STREAMS[name]()
        except FileNotFoundError:
            continue
        numbers = name in NUMBERS
        played = [*(ours(spec, frame, y, numbers) for spec in OURS), lightgbm(frame, y, numbers)]
        cells = [f"{loss:.4g} / {error:.4g}" for loss, error, *_ in played]
        seconds = ", ".join(f"{one[2]:.1f}" for one in played)
        print(
            f"| {name} | {len(y):,} | {cells[0]} | {cells[1]} | {played[1][3]:.4g} | {cells[2]} | {seconds} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
