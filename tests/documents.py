"""The code in documents: every block is run, in order, in one folder, and what it prints is written below it.

    ```console   lines that begin with `$ `: `novikoff …` is run here; what follows it is its output, if anything does
    ```python    run in one namespace for the page; what it prints must stand in a ```text block right below
    others       data: what a file holds, formulas

What cannot be run here is looked up: targets of make, benchmarks, extras to install. Verbs that wait for a browser or
need a cluster are parsed. `novikoff serve` is started, and stays until the end of the page, for what is sent to it.
A command whose output is `...` gets it when the documents are written anew (`make transcripts`).
"""

import io
import re
import shlex
from contextlib import ExitStack, chdir, redirect_stdout
from pathlib import Path

from helpers import novikoff
from novikoff.cli.parser import parser

ROOT = Path(__file__).parent.parent
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
DATA = {"text", "toml", "ini", "yaml", "json", "csv"}
"""Blocks that are not run."""
WAITING = {"arena", "--live", "--on"}
"""Verbs and options that wait for a browser, or need a cluster."""
MAKE = set(re.findall(r"^([\w-]+)(?: [\w-]+)*:", (ROOT / "Makefile").read_text(), re.MULTILINE))
EXTRAS = set(re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(), re.MULTILINE))


def pages():
    """Every document that people read."""
    above = (
        ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
    )
    return [*above, *sorted((ROOT / "docs").rglob("*.md"))]


class Service:
    """The service that a page starts: its names in the page, and the true ones."""

    def __init__(self, stack):
        self.stack, self.names = stack, {}

    def start(self, folder):
        import serving

        client = self.stack.enter_context(serving.opened(Path(folder)))
        Path(folder, "token").write_text(serving.TOKEN)
        self.names = {"http://127.0.0.1:1963": str(client.http.base_url).rstrip("/"), "the token": serving.TOKEN}

    def true(self, text):
        """What stands in the page, as it is here."""
        for name, true in self.names.items():
            text = text.replace(name, true)
        return text

    def told(self, text):
        """What was printed here, as it is in the page."""
        for name, true in self.names.items():
            text = text.replace(true, name)
        return text


def anew(text, folder):
    """The page with what its blocks print now, in this folder."""
    write_files(folder)
    scope, parts, end, printed = {"__name__": "document"}, [], 0, None
    with chdir(folder), ExitStack() as stack:
        service = Service(stack)
        for block in FENCED.finditer(text):
            language, body = block.groups()
            between = text[end : block.start()]
            if printed:  # of the python above
                assert (language, between.strip()) == ("text", ""), f"no ```text below what prints {printed!r}"
                body, printed = printed, None
            elif language == "console":
                body = console(body, service)
            elif language == "python":
                printed = service.told(run_python(service.true(body), scope))
            else:
                assert language in DATA, f"a block must say what it is: ```{language}\n{body}"
            parts += [between, f"```{language}\n{body}```"]
            end = block.end()
    assert not printed, f"no ```text below what prints {printed!r}"
    return "".join(parts) + text[end:]


def run_python(code, scope):
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(code, "document", "exec"), scope)
    return out.getvalue()


def console(body, service):
    """The commands, each with its output if it had one."""
    told = []
    for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
        printed = service.told(run_command(service.true(command), service))
        told.append(f"$ {command}\n" + (printed if output.strip() else ""))
    assert told, f"no line of a console begins with $: {body!r}"
    return "\n".join(told) if any("\n" in one.rstrip("\n") for one in told) else "".join(told)


def run_command(command, service):
    words = shlex.split(command, comments=True)
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)
    words = words[: words.index(">")] if ">" in words else words  # to a file, which no test writes
    if words[:3] == ["novikoff", "serve", "--dir"]:
        parser().parse_args(words[1:])
        service.start(words[3])
    elif words[0] == "novikoff" and not WAITING.intersection(words):
        code, out, error = novikoff(*words[1:])
        assert code == 0, f"{command}: {error}"
        return out.rstrip() + "\n"
    elif words[0] == "novikoff":
        _, unknown = parser().parse_known_args(words[1:])
        assert not [word for word in unknown if word.startswith("-")], command
    else:
        assert is_there(words), f"{command}: there is no such thing"
    return ""


def is_there(words):
    """Is it something of ours that cannot be run in a test, or a tool that everybody has?"""
    match words:
        case ["make", target]:
            return target in MAKE
        case ["python", "-m", "benchmarks", *rest]:
            return not rest or (ROOT / "benchmarks" / f"{rest[0]}.py").exists()
        case ["python", path, *_] if path.endswith(".py"):
            return (ROOT / path).exists()
        case ["pip" | "pipx", "install", what] if what.startswith("novikoff["):
            return set(re.split("[][]", what)[1].split(",")) <= EXTRAS
        case ["pip" | "pipx", "install" | "run", *what]:
            return what in ([], ["."], ["novikoff"]) or what[0].startswith("novikoff")
    return words[0] in {"git", "cd", "source", "curl", "ray", "sed", "sha256sum"}


def indented_code(text):
    """Code that is not fenced, and so would escape."""
    before, found = "", []
    listed = False
    for line in FENCED.sub("", text).splitlines():
        listed = bool(re.match(r" *([-*]|\d+\.) ", line)) or (listed and (not line or line.startswith(" ")))
        if line.startswith("    ") and not before.strip() and not listed:
            found.append(line)
        before = line
    return found


def write_files(folder):
    """Small files of the names that documents use."""
    rows = [(t * 37 % 100, t * 53 % 90, "spam" if t * 37 % 100 > t * 53 % 90 else "ham") for t in range(400)]
    mail = "length,links,class\n" + "".join(f"{a},{b},{label}\n" for a, b, label in rows)
    svm = "".join(f"{1 if label == 'spam' else -1} 1:{a / 100} 2:{b / 100}\n" for a, b, label in rows)
    for name in ("mail.csv", "new.csv"):
        (folder / name).write_text(mail)
    for name in ("mail.svm", "new.svm", "big.svm"):
        (folder / name).write_text(svm)
    bits = "".join(f"{'+' if label == 'spam' else '-'} {int(label == 'spam')}{a % 2}{b % 2}\n" for a, b, label in rows)
    (folder / "rounds.bits").write_text(bits)
    for name in ("day-1.svm", "day-2.svm"):
        (folder / name).write_text(svm)
    (folder / "house.csv").write_text("rooms,area,price\n" + "".join(f"{a % 9},{b},{3 * b + a}\n" for a, b, _ in rows))
    weather = "wind,rain,target\n" + "".join(f"{a},{b},{int(a > b)}\n" for a, b, _ in rows) * 4
    (folder / "weather.csv").write_text(weather)
    forecasts = "".join(f"{0.9 - 0.8 * (a > b)},{a / 100},0.5,{int(a < b)}\n" for a, b, _ in rows)
    (folder / "forecasts.csv").write_text("ann,bob,carl,outcome\n" + forecasts)
    log = "arm,loss,probability,candidate\n" + "".join(f"{'ab'[a % 2]},{b / 100},0.5,{a % 2}\n" for a, b, _ in rows)
    (folder / "log.csv").write_text(log)
