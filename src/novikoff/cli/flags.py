"""Options as flags: the library names parameters of Python, `skip_bad=N`, the command line `--skip-bad N`."""

from __future__ import annotations

import shlex

from novikoff.core.errors import Option

FLAGS = {"unlabelled": "no-label", "labelled": "label", "how": "keep"}


def flag(option: Option) -> str:
    """An option as it is typed."""
    name = FLAGS.get(option.name, option.name.replace("_", "-"))
    if option.value is False:
        return f"--no-{name}"
    value = option.letter or ("" if option.value is None or option.value is True else shlex.quote(str(option.value)))
    return f"--{name} {value}" if value else f"--{name}"
