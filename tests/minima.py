"""Print the oldest packages that pyproject.toml allows, as pip installs them: `make test-minima` does."""

import re
import tomllib
from pathlib import Path

EXTRAS = ("plot", "sklearn", "river", "serve", "urls")
TOOLS = ("packaging", "pytest", "hypothesis", "pandas", "polars", "httpx")
"""Packages of the extra `test` that the short list needs."""
LINE = re.compile(r"([a-zA-Z0-9_-]+)>=([0-9.]+)")


def minima(text):
    """Requirements of exactly the least versions, by the text of pyproject.toml."""
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(one for name in EXTRAS for one in extras[name])]
    asked += [one for one in extras["test"] if LINE.match(one) and LINE.match(one)[1] in TOOLS]
    return sorted({f"{name}=={least}" for one in asked for name, least in [LINE.match(one).groups()]})


if __name__ == "__main__":
    print("\n".join(minima((Path(__file__).parent.parent / "pyproject.toml").read_text())))
