"""Compile the Coq files, print what their main theorems rest on, and fail on anything outside the allowed axioms.

Run by `make proofs`. Needs Coq 8.16 or later (`coqc`) and only the standard library of Python. The files are compiled
in a temporary folder, in the order of _CoqProject.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ALLOWED = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
"""Axioms on which the real numbers of Coq's standard library rest."""

FORBIDDEN = re.compile(
    r"\b(Admitted|admit|Axioms?|Parameters?|Conjectures?|Declare|bypass_check|Unset\s+\w+\s+Checking|type-in-type)\b"
)
"""Words by which a file could assume what it should prove."""

CLOSED = "Closed under the global context"


def index() -> dict[str, dict[str, object]]:
    """Return the table of machine-checked theorems."""
    return tomllib.loads((HERE / "index.toml").read_text(encoding="utf-8"))


def files() -> list[str]:
    """Return the names of the Coq files in the order of their dependencies."""
    lines = (HERE / "_CoqProject").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.endswith(".v")]


def without_comments(text: str) -> str:
    """Return Coq source without its comments, which may be nested."""
    kept, depth = [], 0
    for part in re.split(r"(\(\*|\*\))", text):
        if part == "(*":
            depth += 1
        elif part == "*)":
            depth -= 1
        elif depth == 0:
            kept.append(part)
    return "".join(kept)


def assumed(text: str) -> list[str]:
    """Return the forbidden words of Coq source."""
    return [found.group() for found in FORBIDDEN.finditer(without_comments(text))]


def theorems() -> list[str]:
    """Return the main theorems as `File.name`, each once."""
    listed = [f"{Path(str(row['file'])).stem}.{name}" for row in index().values() for name in row["theorems"]]  # type: ignore[attr-defined]
    return list(dict.fromkeys(listed))


def assumptions() -> str:
    """Return the Coq file that prints what each main theorem rests on."""
    modules = dict.fromkeys(name.partition(".")[0] for name in theorems())
    lines = ["(** What each main theorem rests on. Made by `make names` from index.toml: do not edit. *)", ""]
    lines += [f"From Novikoff Require {module}." for module in modules]
    lines += ["", *(f"Print Assumptions {name}." for name in theorems())]
    return "\n".join(lines) + "\n"


def axioms(output: str) -> list[list[str]]:
    """Return the axioms of each theorem from what `Print Assumptions` printed."""
    found: list[list[str]] = []
    for line in output.splitlines():
        if line.strip() in (CLOSED, "Axioms:"):
            found.append([])
        elif line and not line[0].isspace():  # an indented line continues the type of an axiom
            if not found:
                raise ValueError(f"Print Assumptions printed {line!r} before any theorem")
            found[-1].append(line.split(":")[0].strip())
    return found


def problems(output: str, names: list[str]) -> list[str]:
    """Return what is wrong with the output of `Print Assumptions` for these theorems."""
    found = axioms(output)
    if len(found) != len(names):
        return [f"{len(names)} theorems were asked about, and {len(found)} answers came"]
    return [f"{name} rests on {axiom}" for name, rest in zip(names, found, strict=True) for axiom in rest
            if axiom not in ALLOWED]  # fmt: skip


def main() -> int:
    """Compile and check everything; return the exit code."""
    coqc = shutil.which("coqc")
    if coqc is None:
        print("Coq is not installed: install Coq 8.16 or later (Debian: apt-get install coq; opam install coq).")
        return 1
    print(subprocess.run([coqc, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0])
    wrong = [f"{name} contains {word!r}" for name in files() for word in assumed((HERE / name).read_text("utf-8"))]
    if (HERE / "Assumptions.v").read_text(encoding="utf-8") != assumptions():
        wrong.append("Assumptions.v does not match index.toml: run make names")
    printed = ""
    with tempfile.TemporaryDirectory() as folder:
        for name in [*files(), "Assumptions.v"]:
            shutil.copy(HERE / name, folder)
            start = time.monotonic()
            command = [coqc, "-q", "-R", ".", "Novikoff", name]
            done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                print(f"{name} does not compile:\n{done.stdout}")
                return 1
            print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)
            printed = done.stdout
    print(printed)
    wrong += problems(printed, theorems())
    for line in wrong:
        print(line)
    if not wrong:
        print(f"{len(theorems())} theorems checked; none rests on more than the real numbers of the standard library:")
        for line in sorted(ALLOWED):
            print(f"  {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
