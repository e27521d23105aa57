"""The documents are true: commands print what they say, names are documented, references resolve."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import novikoff as nk
from helpers import novikoff
from novikoff import late
from novikoff.online_to_batch import PROMISES
from novikoff.registry import CATALOG, MANY
from novikoff.reports.explanation import explain, read_references, theorems
from novikoff.sources.demo import DEMOS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
STATUS = (ROOT / "docs" / "status.md").read_text()
CONSOLE = re.findall(r"```console\n\$ novikoff (.*?)\n(.*?)```", README, flags=re.DOTALL)
RUNNABLE = [(command, output) for command, output in CONSOLE if output.strip()]


def without_times(text):
    text = re.sub(r"[\d.]+ s( \([\d,]+ rounds a second\))?$", "TIME", text, flags=re.MULTILINE)
    return [line.rstrip() for line in text.strip().splitlines()]


def test_the_readme_shows_some_commands():
    assert len(RUNNABLE) >= 3


@pytest.mark.parametrize(("command", "output"), RUNNABLE, ids=[command for command, _ in RUNNABLE])
def test_a_command_of_the_readme_prints_what_is_printed_there(command, output):
    done = novikoff(*shlex.split(command), cwd="/")
    assert done.returncode == 0, done.stderr
    assert without_times(done.stdout) == without_times(output)


def test_the_python_of_the_readme_prints_what_is_printed_there(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    (text,) = re.findall(r"```text\n(.*?)```", README, flags=re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out == text


def test_the_readme_names_every_learner_adversary_and_class():
    for name in CATALOG:
        assert f"`{name}" in README, name


def test_links_of_the_documents_lead_somewhere():
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            if not target.startswith("http"):
                assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_type_checkers_see_the_public_names_where_they_are():
    stub = (Path(nk.__file__).parent / "__init__.pyi").read_text()
    told = {
        name: home for home, name in re.findall(r"^from novikoff\.([\w.]+) import (\w+) as \2$", stub, re.MULTILINE)
    }
    rooms = set(re.findall(r"^from \. import (\w+) as \1$", stub, re.MULTILINE))
    assert told == nk._HOMES
    assert {*told, *rooms, "__version__"} == set(nk.__all__)


def test_the_status_page_names_every_theorem_and_learner():
    for theorem in theorems():
        assert f"`{theorem}`" in STATUS, theorem
    for name, entry in CATALOG.items():
        assert name in STATUS or entry.room not in ("learner", "adversary"), name


@pytest.mark.parametrize("name", [*CATALOG, *theorems()])
def test_everything_can_be_explained(name):
    told = explain(name)
    wanted = {"learner": ("Algorithm", "Promise", "Cost", "Reference"), "adversary": ("Forces", "Witness", "Reference")}
    for section in wanted.get(CATALOG[name].room if name in CATALOG else "theorem", ()):
        assert f"\n{section}" in told, section
    if name not in CATALOG:
        for section in ("Theorem", "Assumptions", "Proof", "Reference"):
            assert section in told
    for key in re.findall(r"\[([a-z]+\d{4}[a-z]?)\]", told):
        assert key in read_references(), key


def test_every_theorem_is_promised_by_someone():
    entries = (*CATALOG.values(), *MANY.values())
    promised = {theorem.__name__ for entry in entries for theorem in getattr(entry.load(), "promises", ())}
    assert promised | {theorem.__name__ for theorem in (*PROMISES, *late.PROMISES)} == set(theorems())


def test_references_are_printed_as_they_are_written():
    for told in read_references().values():
        assert not set("{}\\") & set(told), told


def test_every_reference_is_used():
    sources = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    for key in read_references():
        assert f"[{key}]" in sources, key


def test_public_names_are_there_and_documented():
    for name in nk.__all__:
        value = getattr(nk, name)
        assert name == "__version__" or value.__doc__, name
    assert set(nk.__all__) <= set(dir(nk))
    with pytest.raises(AttributeError):
        nk.nothing  # noqa: B018


def test_importing_novikoff_imports_no_numpy():
    code = "import sys, novikoff; assert 'numpy' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_the_version_is_the_same_everywhere():
    for file in ("pyproject.toml", "CITATION.cff", "CHANGELOG.md"):
        assert nk.__version__ in (ROOT / file).read_text(), file


def test_every_demo_is_listed_in_its_error():
    from novikoff.errors import SourceError

    with pytest.raises(SourceError) as error:
        nk.read("demo:nothing")
    for name in DEMOS:
        assert name in str(error.value)


def test_the_rooms_of_the_architecture_are_there():
    text = (ROOT / "docs" / "architecture.md").read_text()
    named = re.findall(r"`((?:[a-z_]+/)?[a-z_]+\.py|[a-z_]+/)`", text)
    assert len(named) > 30
    for place in named:
        assert (ROOT / "src" / "novikoff" / place).exists(), place
    rooms = {path.name for path in (ROOT / "src" / "novikoff").iterdir() if path.is_dir() and path.name[0] != "_"}
    assert rooms == {place.rstrip("/") for place in named if place.endswith("/")}
