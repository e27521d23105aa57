"""Tables to begin with, as files: `novikoff demo --write FOLDER`.

Mails are generated from the raw bits of PCG64, so that every machine writes the same file. Like tables of practice they
have numbers, categories, dates, texts, missing values, and a label that no rule predicts without errors.
"""

from __future__ import annotations

import csv
import datetime
import io
import os
from pathlib import Path

import numpy as np

from novikoff.core.errors import InputError
from novikoff.data.demo import integers, shuffled, table

MAILS, NEW = 1000, 100
"""Rows of mail.csv, and of new.csv, the mails after them without labels."""
FIRST_DAY = datetime.date(2025, 1, 6)
"""Date of the first mail."""
A_DAY = 40
"""Mails per day."""
WORDS = 5
"""Words of a subject."""
SENDERS = ("example.org", "example.com", "example.net", "list.example.org", "shop.example.com")
"""Domains of the senders; the last two send more spam."""
PLAIN = ("meeting", "report", "minutes", "question", "invoice", "travel", "review", "draft", "lunch", "release")
"""Words of subjects, usual ones."""
LOUD = ("free", "winner", "offer", "urgent", "prize", "discount", "click", "limited")
"""Words of subjects that spam uses more often."""


def mails() -> tuple[list[str], list[list[str]]]:
    """Return the columns and rows of all mails, the label last."""
    count = MAILS + NEW
    draws = integers((9 + WORDS) * count, 1000, seed=11).reshape(count, 9 + WORDS)
    rows = []
    for number, (kind, sender, links, length, files, hour, noise, gap, known, *subject) in enumerate(draws.tolist()):
        spam = kind < 300
        day = FIRST_DAY + datetime.timedelta(days=number // A_DAY)
        at = hour * 24 // 1000 if spam else 7 + hour * 12 // 1000
        domain = SENDERS[sender % 5 if spam or sender >= 800 else sender % 3]
        count_links = (2 + links % 9 if links < 700 else links % 3) if spam else (0 if links < 600 else links % 4)
        size = str(200 + length * (2 if spam else 5)) if gap >= 60 else ""
        attached = files < (80 if spam else 350)
        label = spam if noise >= 40 else not spam  # some labels are wrong
        rows.append([
            str(number + 1), day.isoformat(), f"{at:02d}", domain, " ".join(_word(draw, spam) for draw in subject),
            str(count_links), size, "yes" if attached else "no", str(known % 30) if known >= 500 else "",
            "spam" if label else "ham",
        ])  # fmt: skip
    names = ["id", "date", "hour", "sender", "subject", "links", "length", "attachment", "known for days", "label"]
    return names, rows


def _word(draw: int, spam: bool) -> str:
    loud = draw < (450 if spam else 60)
    return LOUD[draw % len(LOUD)] if loud else PLAIN[draw % len(PLAIN)]


def files() -> dict[str, tuple[str, str]]:
    """Return the text and the description of each file, by name."""
    names, rows = mails()
    features, x, diagnosis = table("breast_cancer")
    tumours = shuffled(x, diagnosis, seed=5)
    flowers, lengths, species = table("iris")
    irises = shuffled(lengths, species, seed=4)
    return {
        "mail.csv": (_csv(names, rows[:MAILS]), f"{MAILS:,} mails with numbers, categories, dates, texts: spam or ham"),
        "new.csv": (_csv(names[:-1], [row[:-1] for row in rows[MAILS:]]), f"the {NEW} mails after them, to predict"),
        "tumours.csv": (_table(features, tumours, "diagnosis"), "569 tumours, 30 measurements: malignant or benign"),
        "flowers.csv": (_table(flowers, irises, "species"), "150 irises, four lengths: three species"),
    }


def _table(features: list[str], rows: tuple[np.ndarray, np.ndarray], target: str) -> str:
    x, y = rows
    cells = [[*(f"{value:g}" for value in row), str(label)] for row, label in zip(x.tolist(), y.tolist(), strict=True)]
    return _csv([*features, target], cells)


def _csv(names: list[str], rows: list[list[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()


def write(folder: str | os.PathLike[str]) -> dict[str, str]:
    """Write the files to a folder, created if missing; return the description of each by path.

    Files that are there already are kept if they are the same, and never replaced.
    """
    place = Path(folder)
    found = {place / name: about for name, about in files().items()}
    try:
        place.mkdir(parents=True, exist_ok=True)
        for path, (text, _) in found.items():
            if path.exists() and path.read_bytes() != text.encode():
                raise InputError(f"{path} is there already, with other content. Choose another folder.")
        for path, (text, _) in found.items():
            path.write_bytes(text.encode())
    except OSError as error:
        raise InputError(f"the folder {place} must be writable: {error.strerror or error}.") from None
    return {str(path): about for path, (_, about) in found.items()}
