"""The documents are true: commands print what they say, names are documented, references resolve."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import documents
import novikoff as nk
from helpers import without_times
from novikoff.bandits import off_policy
from novikoff.convex import minimise_online
from novikoff.core.registry import CATALOG, MANY
from novikoff.data.demo import DEMOS
from novikoff.distributed import mixed
from novikoff.drift import monitor
from novikoff.game.delayed import late
from novikoff.mixtures import stacks, tops
from novikoff.online_to_batch import choose_threshold as threshold
from novikoff.online_to_batch.finalize import PROMISES
from novikoff.reports.explanation import explain, read_references, theorems

ROOT = Path(__file__).parent.parent
STATUS = (ROOT / "docs" / "status.md").read_text()
LEARNERS = (ROOT / "docs" / "learners" / "index.md").read_text()


@pytest.fixture
def nothing_else(nothing_else_registered, monkeypatch):
    """What a page registers is forgotten; the package that one shows can be imported."""
    monkeypatch.syspath_prepend(ROOT / "tests" / "example_package")


@pytest.mark.parametrize("path", documents.pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_code_block_reproduces_its_output(path, tmp_path, nothing_else):
    text = path.read_text()
    assert not documents.indented_code(text)
    told, now = (documents.FENCED.findall(page) for page in (text, documents.anew(text, tmp_path)))
    assert [without_times(body) for _, body in now] == [without_times(body) for _, body in told]


def test_wrong_or_unexecuted_block_is_detected(tmp_path):
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert documents.anew(page, tmp_path) == page.replace("3", "2")
    page = "```console\n$ novikoff --version\nnovikoff 9\n```\n"
    assert f"novikoff {nk.__version__}" in documents.anew(page, tmp_path)
    for wrong in ("```python\nprint(1)\n```\n", "```sh\nls\n```\n", "```console\n$ make nothing\n```\n",
                  "```console\n$ novikoff run nobody demo:iris\n```\n", "```console\nls\n```\n",
                  "```console\n$ novikoff arena --nothing\n```\n"):  # fmt: skip
        with pytest.raises(AssertionError):
            documents.anew(wrong, tmp_path)
    assert documents.indented_code("Do\n\n    this\n") == ["    this"]


def test_the_page_of_learners_names_every_learner_adversary_class_and_format():
    for name in CATALOG:
        assert f"`{name}" in LEARNERS, f"{name}: run make names"


MADE = re.compile(r"(learners|adversaries|classes|streams|theorems|api|notebooks)/[\w-]+\.md|command-line\.md")
"""Pages that only the site has; `make docs` finds links to those that are not there."""


def test_document_links_resolve():
    for document in documents.pages():
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", documents.FENCED.sub("", document.read_text())):
            if not target.startswith("http") and not MADE.search(target):
                assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_source_files_that_documents_name_exist():
    for document in documents.pages():
        for path in re.findall(r"`((?:\w+/)+\w+\.py)`", document.read_text()):
            if not re.search("FAMILY|NAME", path):
                assert any((place / path).exists() for place in (ROOT, ROOT / "src/novikoff")), (
                    f"{document.name}: {path}"
                )


HOSTED = re.compile(
    r"https://(?:github\.com/novikoff/novikoff/blob|raw\.githubusercontent\.com/novikoff/novikoff)/main/"
)


def test_readme_links_are_absolute_and_name_files_of_the_repository():
    targets = re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    assert len(targets) > 10
    for target in targets:
        assert HOSTED.match(target), target
        assert (ROOT / HOSTED.sub("", target)).is_file(), target


def test_readme_has_both_commands_to_set_up():
    text = (ROOT / "README.md").read_text()
    assert re.findall(r"^\$ make (\w+)", text, re.MULTILINE) == ["demo", "test"]


def test_programs_are_at_most_as_long_as_those_of_river_and_scikit_learn():
    page = (documents.ROOT / "docs" / "guides" / "side-by-side.md").read_text(encoding="utf-8")
    sides = re.findall(r"^(novikoff|River|scikit-learn):\n\n```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert [who == "novikoff" for who, _ in sides] == [True, False] * 10
    lines = [body.count("\n") for _, body in sides]
    assert all(ours <= theirs for ours, theirs in zip(lines[::2], lines[1::2], strict=True))


def test_every_page_is_in_the_navigation():
    listed = re.findall(r"[\w/-]+\.(?:md|ipynb)", (ROOT / "mkdocs.yml").read_text())
    assert len(set(listed)) == len(listed)
    for page in documents.pages():
        place = page.relative_to(ROOT / "docs" if ROOT / "docs" in page.parents else ROOT)
        assert str(place) in listed or place.name == "README.md" or place.parent.name == "decisions", place


def test_type_checkers_see_the_public_names_where_they_are():
    stub = (Path(nk.__file__).parent / "__init__.pyi").read_text()
    pattern = r"^from novikoff\.([\w.]+) import (?:\(\s*)?(\w+) as \2(?:,\s*\))?$"
    told = {name: home for home, name in re.findall(pattern, stub, re.MULTILINE)}
    rooms = set(re.findall(r"^from \.(?:\w+)? import (\w+) as \1$", stub, re.MULTILINE))
    assert told == nk._HOMES
    assert {*told, *rooms, "__version__"} == {*nk.__all__, "list"}  # not in a star import


def test_the_reference_has_every_estimator():
    import novikoff.integrations.sklearn

    reference = (ROOT / "docs" / "making" / "reference.py").read_text()
    assert [name for name in novikoff.integrations.sklearn.__all__ if f'"{name}"' not in reference] == []


def test_the_status_page_names_every_theorem_and_learner():
    for theorem in theorems():
        assert f"`{theorem}`" in STATUS, f"{theorem}: run make names"
    for name, entry in CATALOG.items():
        assert name in STATUS or entry.room not in ("learner", "adversary"), f"{name}: run make names"


@pytest.mark.parametrize("name", [*CATALOG, *theorems()])
def test_explanation_has_every_section_and_known_references(name):
    told = explain(name)
    wanted = {"learner": ("Algorithm", "Promise", "Cost", "Reference"), "adversary": ("Forces", "Witness", "Reference")}
    for section in wanted.get(CATALOG[name].room if name in CATALOG else "theorem", ()):
        assert f"\n{section}" in told, section
    if name not in CATALOG:
        for section in ("Theorem", "Assumptions", "Proof", "Reference"):
            assert section in told
    for key in re.findall(r"\[([a-z]+\d{4}[a-z]?)\]", told):
        assert key in read_references(), key


def test_every_theorem_belongs_to_a_learner():
    entries = (*CATALOG.values(), *MANY.values())
    promised = {theorem.__name__ for entry in entries for theorem in getattr(entry.load(), "promises", ())}
    others = (*PROMISES, *late.PROMISES, *mixed.PROMISES, *monitor.PROMISES, *off_policy.PROMISES)
    others += (*minimise_online.PROMISES, *stacks.PROMISES, *tops.PROMISES, *threshold.PROMISES)
    missing = set(theorems()) - promised - {theorem.__name__ for theorem in others}
    assert not missing, f"add to the promises of a learner: {missing}"


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
    from novikoff.core.errors import SourceError

    with pytest.raises(SourceError) as error:
        nk.read("demo:nothing")
    for name in DEMOS:
        assert name in str(error.value)


def test_the_rooms_of_the_architecture_are_there():
    text = (ROOT / "docs" / "architecture.md").read_text()
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py|[a-z_]+/)`", text)
    assert len(named) > 30
    for place in named:
        assert (ROOT / "src" / "novikoff" / place).exists(), place
    rooms = {path.name for path in (ROOT / "src" / "novikoff").iterdir() if path.is_dir() and path.name[0] != "_"}
    assert rooms == {place.rstrip("/") for place in named if place.endswith("/")}


if __name__ == "__main__":  # make transcripts; or these pages
    sys.path.insert(0, str(ROOT / "tests" / "example_package"))
    for page in map(Path, sys.argv[1:]) if sys.argv[1:] else documents.pages():
        with tempfile.TemporaryDirectory() as folder:
            text = documents.anew(page.read_text(), Path(folder))
        page.write_text(text)


def test_page_of_every_learner_has_its_use_and_all_its_parameters(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from making.learners import _example, _parameters
    from making.uses import WHEN

    entries = {name: entry for name, entry in CATALOG.items() if entry.room == "learner"}
    assert WHEN.keys() == entries.keys()
    for entry in entries.values():
        written = re.findall(r"^\| `(\w+)` \| [^|]+ \| (.+) \|$", _parameters(entry), re.MULTILINE)
        assert [name for name, _ in written] == re.findall(r"(?:^|, )([a-z_]\w*)(?==|,|$)", entry.arguments())
    assert "569 rounds, 31 mistakes" in _example("perceptron").split("```text")[1]


@pytest.mark.parametrize("name", ["perceptron", "midpoint"])
def test_caption_of_a_learner_gives_its_bound_once(name, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from making.learners import _picture

    caption = _picture(name).splitlines()[-1]
    assert caption.count("guarantee") == 1
    assert "valid:" not in caption  # the certificate as printed would repeat the bound


@pytest.mark.parametrize(
    ("plain", "found"),
    [
        ("||w||^2 <= M R^2", "‖w‖² ≤ M R²"),
        ("y<u,x~> >= gamma > 0", "y⟨u,x\N{COMBINING TILDE}⟩ ≥ γ > 0"),
        ("e^{-1} sum of h_t, w_{t-1}, w_end, r_T", "e⁻¹ sum of hₜ, wₜ₋₁, w_end, r_T"),
        ("`a <= b_i` and sqrt(T ln N)", "`a <= b_i` and √(T ln N)"),
        ("a < b, c > d; x < 2, 3 > 1", "a < b, c > d; x < 2, 3 > 1"),
        ("log_loss, min_delta and delta=0.05", "log_loss, min_delta and delta=0.05"),
        ("eta_t (1-alpha), e^-beta_v, pi_i", "ηₜ (1-α), e^-βᵥ, πᵢ"),
        ("Add up. []", "Add up. ∎"),
    ],
)
def test_formulas_are_typeset_and_code_is_not(plain, found, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from making.typeset import typeset

    assert typeset(plain) == found


def test_inner_products_outside_code_are_shown_as_text(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    from making.typeset import shown

    assert shown("y<u,x> and <w*, x>, `<u,x>` <small>x</small>") == "y&lt;u,x> and &lt;w*, x>, `<u,x>` <small>x</small>"
    for code in ("```python\n<u,x>\n```", "    <u,x>", "`<w, x> + b`"):
        assert shown(code) == code
