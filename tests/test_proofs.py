"""Machine-checked theorems: the table, the Coq files and the checker agree. `make proofs` compiles the files."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from novikoff.reports.explanation import theorems

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))

from making import proofs  # noqa: E402

check = proofs.check_proofs
FILES = {name: (ROOT / "proofs" / name).read_text() for name in check.files()}
REALS = """Axioms:
ClassicalDedekindReals.sig_not_dec : forall P : Prop, {~ ~ P} + {~ P}
FunctionalExtensionality.functional_extensionality_dep
  : forall (A : Type) (B : A -> Type) (f g : forall x : A, B x),
    (forall x : A, f x = g x) -> f = g
"""


@pytest.mark.parametrize("name", proofs.INDEX)
def test_every_row_of_the_table_names_a_theorem_of_the_software_and_theorems_of_its_file(name):
    row = proofs.INDEX[name]
    assert name in theorems()
    assert {*row} <= {"file", "theorems", "limits"}
    assert row["theorems"]
    for proved in row["theorems"]:
        assert proofs.statement(row["file"], proved).startswith("Theorem "), "a main result is a Theorem"
    top = FILES[row["file"]].partition("*)")[0]
    assert re.search(rf"\b{name}\b", top), f"the comment at the top of {row['file']} does not name {name}"


def test_a_theorem_that_is_not_in_its_file_is_reported():
    with pytest.raises(LookupError, match=r"Perceptron\.v has no theorem 'perceptron_margi'"):
        proofs.statement("Perceptron.v", "perceptron_margi")


@pytest.mark.parametrize("name", FILES)
def test_no_file_assumes_what_it_should_prove(name):
    assert check.assumed(FILES[name]) == []


def test_words_that_assume_something_are_found_outside_comments():
    assert check.assumed("Theorem x : 1 = 2.\nProof. Admitted.") == ["Admitted"]
    assert check.assumed("Axiom x : 1 = 2. Parameter y : nat.") == ["Axiom", "Parameter"]
    assert check.assumed("Proof. intros. admit. Qed. Unset Guard Checking.") == ["admit", "Unset Guard Checking"]
    assert check.assumed("(* Admitted (* Axiom *) still a comment: admit *) Definition admitted := 1.") == []


def test_every_file_is_listed_after_the_files_that_it_needs():
    assert {*FILES, "Assumptions.v"} == {path.name for path in (ROOT / "proofs").glob("*.v")}
    known = set()
    for name, text in FILES.items():
        needed = re.findall(
            r"\w+", " ".join(re.findall(r"^From Novikoff Require Import ([\w\s]+)\.", text, re.MULTILINE))
        )
        assert {*needed} <= known, name
        known.add(name.removesuffix(".v"))


def test_assumptions_are_printed_for_every_theorem_of_the_table():
    text = (ROOT / "proofs" / "Assumptions.v").read_text()
    assert text == check.assumptions(), "run make names"
    for row in proofs.INDEX.values():
        for name in row["theorems"]:
            assert f"Print Assumptions {row['file'].removesuffix('.v')}.{name}.\n" in text


def test_axioms_are_read_from_the_output_of_coq():
    output = f"{check.CLOSED}\n{REALS}{check.CLOSED}\n"
    reals = ["ClassicalDedekindReals.sig_not_dec", "FunctionalExtensionality.functional_extensionality_dep"]
    assert check.axioms(output) == [[], reals, []]
    assert check.problems(output, ["one", "two", "three"]) == []


def test_another_axiom_or_a_missing_answer_is_a_problem():
    assert check.problems(f"{REALS}Sums.easy : 1 = 2\n", ["one"]) == ["one rests on Sums.easy"]
    long = f"{REALS}Sums.a_name_so_long_that_its_type\n  : 1 = 2\n"
    assert check.problems(long, ["one"]) == ["one rests on Sums.a_name_so_long_that_its_type"]
    assert check.problems(REALS, ["one", "two"]) == ["2 theorems were asked about, and 1 answers came"]


def test_the_site_has_a_page_for_each_file_with_its_statements():
    pages = proofs.pages()
    assert {*pages} == {f"proofs/{name.removesuffix('.v')}.md" for name in FILES}
    page = pages["proofs/Perceptron.md"]
    assert (
        "## perceptron_margin\n\nFor [perceptron_margin](../theorems/perceptron_margin.md).\n\n```coq\nTheorem" in page
    )
    assert page.count("Qed.") == FILES["Perceptron.v"].count("Qed.")
    assert "[`perceptron_margin`](../proofs/Perceptron.md#perceptron_margin)" in proofs.remark("perceptron_margin")
    assert proofs.remark("drift_alarm") == ""


def test_the_status_page_has_the_table():
    assert proofs.table() in (ROOT / "docs" / "status.md").read_text(), "run make names"


def test_a_missing_coq_is_reported_with_the_way_to_install_it(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert check.main() == 1
    assert "apt-get install coq" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("coqc") is None, reason="needs Coq")
def test_coq_accepts_every_file(capsys):
    assert check.main() == 0
    assert f"{len(check.theorems())} theorems checked" in capsys.readouterr().out
