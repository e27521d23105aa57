"""Pages: the numbers are the library's, names of strangers are escaped, and nothing is needed from elsewhere."""

import base64
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import novikoff as nk
from novikoff.cli.main import main
from novikoff.core.certificate import Assumption, Certificate
from novikoff.core.errors import InputError
from novikoff.reports import charts, html, page, svg

ALONE = {"meta", "line", "path", "polygon", "img", "br"}


class Reader(HTMLParser):
    """Tags must close in order; what is seen is kept as text, and by cell."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.rows = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert not any(name.startswith("on") or name in ("href", "srcset") for name, _ in attributes)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
        if tag not in ALONE:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ALONE:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.seen.append(data)
        if "td" in self.open[-1:] or "th" in self.open[-1:]:
            self.rows[-1][-1] += data


def rows(seed=0, count=300):
    coins = np.random.default_rng(seed)
    x = coins.normal(size=(count, 4))
    return x, np.where(x @ [1.0, -2.0, 0.5, 0.0] + coins.normal(size=count) > 0, 1, -1)


@pytest.fixture(scope="module")
def ledger():
    return nk.play("perceptron", rows())


def test_table_matches_the_ledger(ledger):
    found = Reader(page.document(ledger))
    told = {row[0]: row[1:] for row in found.rows if row}
    best = ledger.certify()[0]
    assert told["learner"][0] == f"{ledger.mistakes:,}"
    assert told["repeating the previous label"][0] == f"{ledger.last_label:,}"
    assert f"{ledger.best_constant.costs:,}" in (told[name][0] for name in told if name.startswith("always "))
    assert told[f"guaranteed at most ({best.theorem})"][0] == f"{best.bound:,}"
    assert any(f"{ledger.mistakes} mistakes in 300 rows" in text for text in found.seen)


def test_whole_report_is_json(ledger):
    found = Reader(page.document(ledger))
    whole = json.loads(next(text for text in found.seen if text.startswith("{")))
    assert whole["mistakes"] == ledger.mistakes
    assert len(whole["certificates"]) == len(ledger.certify())


def test_nothing_comes_from_elsewhere_and_nothing_runs(ledger):
    text = page.document(ledger)
    assert "<script" not in text
    assert "default-src 'none'" in text
    assert set(re.findall(r"https?://[^\s\"<]+", text.split("<pre>")[0])) <= {"http://www.w3.org/2000/svg"}


def test_names_of_strangers_are_escaped(tmp_path, capsys):
    nasty = "<script>alert(1)</script>"
    file = tmp_path / "a & <b>.csv"
    coins = np.random.default_rng(1)
    lines = [f"{coins.normal()},{coins.normal()},{nasty if coins.random() < 0.5 else '&amp;'}" for _ in range(60)]
    file.write_text("x,<i>,label\n" + "\n".join(lines) + "\n")
    out = tmp_path / "out.html"
    assert main(["run", "perceptron", str(file), "--label", "label", "--report", str(out), "-q"]) == 0
    capsys.readouterr()
    text = out.read_text()
    assert "<script" not in text
    assert "<i>" not in text
    found = Reader(text)
    assert any(nasty in cell for row in found.rows for cell in row)
    assert any(cell == "&amp;" for row in found.rows for cell in row)


def test_report_of_a_recorded_game_has_its_proof(tmp_path):
    from novikoff_verify.command import VERIFIED, Verification, read

    rows = ([[1.0, 0.0], [0.0, 1.0]] * 5, [1, -1] * 5)
    ledger = nk.play(nk.Perceptron(), rows, proof=str(tmp_path / "game.rows"))
    data = re.search(r'download="proof.json" href="data:application/json;base64,([^"]+)"', page.document(ledger))
    ledger.write_proof(tmp_path / "proof.json")
    assert base64.b64decode(data[1]) == (tmp_path / "proof.json").read_bytes()
    assert Verification(read(str(tmp_path / "proof.json")), str(tmp_path / "game.rows")).status == VERIFIED
    assert "proof.json" not in page.document(nk.play(nk.Perceptron(), rows))


def test_a_long_game_makes_a_small_page():
    x, y = rows(2, 200_000)
    assert len(page.document(nk.play("perceptron", (x, y)))) < 60_000


@pytest.mark.parametrize(("status", "badge"), [(status, words) for status, (_, words) in html.BADGES.items()])
def test_every_status_has_its_badge_and_a_sentence(status, badge):
    bound = None if status == "void" else 5
    one = Certificate("perceptron_hinge", "D", "upper", "mistakes", 9, bound, 10, status, "because <it> is so",
                      (Assumption("x < y", "refuted"),), {}, "")  # fmt: skip
    found = Reader(html.card(one))
    assert f"{badge} perceptron_hinge" in "".join(found.seen)  # as it is read aloud
    assert len(max(found.seen, key=len)) > 40
    assert "x < y" in " ".join(Reader(html.rests_on([one])).seen)


def test_a_violated_bound_leads_the_page(ledger):
    broken = Certificate("perceptron_hinge", "D", "upper", "mistakes", 9, 5, 10, "violated", "r", (), {}, "")
    assert page.lead(ledger, [broken]).startswith("A proven bound was violated (perceptron_hinge)")
    assert not page.lead(ledger, ledger.certify()).startswith("A proven bound")


def test_a_theorem_from_outside_needs_no_explanation():
    Reader(html.card(Certificate("my_own", "D", "upper", "mistakes", 1, 2, 10, "valid", "", (), {}, "")))


def test_a_comparison_has_deviations_intervals_and_the_constant():
    found = nk.compare(["perceptron", "logistic"], rows(), shuffles=3)
    read = Reader(page.document(found))
    cells = next(row for row in read.rows if row[0] == "perceptron:bias=1,scale=standard")
    rate = found.learners[0].rate
    assert cells[1] == f"{100 * rate.mean:.3g} %"
    assert cells[2] == f"{100 * rate.deviation:.3g} %"
    low, high = (float(part.rstrip(" %")) for part in cells[3].split(" to "))
    assert low <= 100 * rate.mean <= high
    assert high - low == pytest.approx(2 * 4.303 * 100 * rate.standard_error, rel=0.02)  # Student's t, 2 degrees
    constant = next(row for row in read.rows if row[0].startswith("always "))
    assert constant[1] == f"{100 * found.constant.costs / 300:.3g} %"
    last = [game.last_label / 300 for game in found.learners[0].games]
    again = next(row for row in read.rows if row[0] == "repeating the previous label")
    assert again[1:3] == [f"{100 * np.mean(last):.3g} %", f"{100 * np.std(last, ddof=1):.3g} %"]
    whole = json.loads(next(text for text in read.seen if text.startswith("{")))
    assert whole["learners"][0]["mistakes"] == [game.mistakes for game in found.learners[0].games]


@pytest.mark.parametrize(
    "words",
    [
        ["run", "perceptron", "demo:breast-cancer"],
        ["run", "demo:breast-cancer", "--finalize", "random"],
        ["compare", "demo:breast-cancer", "-l", "perceptron"],
        ["duel", "perceptron", "orthogonal:k=8"],
        ["experts", "stream:random-losses:4,200"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_page_contains_the_command_that_made_it(words, tmp_path, capsys):
    out = tmp_path / "out.html"
    code = main([*words, "--report", str(out), "--json", "-q"])
    said = capsys.readouterr()
    assert code == 0, said.err
    found = Reader(out.read_text())
    assert any(text.startswith(f"novikoff {words[0]} ") for text in found.seen)
    assert json.loads(said.out)


def test_predict_writes_a_page(tmp_path, capsys):
    file, kept, out = tmp_path / "a.csv", tmp_path / "m.nk", tmp_path / "out.html"
    x, y = rows()
    file.write_text("a,b,c,d,label\n" + "".join(",".join(map(str, [*r, s])) + "\n" for r, s in zip(x, y, strict=True)))
    assert main(["run", "perceptron", str(file), "--finalize", "best", "--save", str(kept), "-q"]) == 0
    assert main(["predict", str(kept), str(file), "--report", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    found = Reader(out.read_text())
    assert f"{told['mistakes']} mistakes in 300 rows" in " ".join(found.seen)
    (right, wrong), (missed, also) = told["confusion"]["table"]
    assert right + wrong == int((y == -1).sum())
    assert wrong + missed == told["mistakes"] == 300 - right - also
    shown = [row for row in found.rows if row[0] in ("-1", "1")]
    assert shown == [["-1", str(right), str(wrong)], ["1", str(missed), str(also)]]


def test_report_names_the_experts(tmp_path, capsys):
    table, out = tmp_path / "t.csv", tmp_path / "out.html"
    coins = np.random.default_rng(0)
    lines = [f"{coins.random():.3f},{coins.random():.3f},{coins.random():.3f}" for _ in range(100)]
    table.write_text("anna,bert,outcome\n" + "\n".join(lines) + "\n")
    assert main(["experts", str(table), "--loss", "squared", "--report", str(out), "-q"]) == 0
    capsys.readouterr()
    read = Reader(out.read_text())
    assert any(row[0].startswith("best expert, ") for row in read.rows)
    assert sum("best expert, " in text for text in read.seen) >= 2  # in the table and in the picture
    assert any(re.fullmatch(r"Weights: .*\.", text) for text in read.seen)
    assert "anna" in out.read_text()
    assert "expert 1" not in out.read_text()


def test_report_of_a_duel_has_forced_mistakes_and_best_constant(tmp_path, capsys):
    out = tmp_path / "out.html"
    words = ["duel", "threshold-halving:n=100", "grid-bisection:n=100", "--rounds", "9", "--report", str(out), "--json"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    found = {row[0]: row[1] for row in Reader(out.read_text()).rows if len(row) > 1}
    constant = told["baselines"]["best_constant"]
    assert found[f"always {constant['says']:+d}"] == str(constant["mistakes"])
    assert found["forced, at least (grid_bisection_forced)"] == found["learner"] == "6"


def test_the_json_of_a_page_is_that_of_the_command(tmp_path, capsys):
    out = tmp_path / "out.html"
    words = [
        "run",
        "perceptron",
        "demo:breast-cancer",
        "--finalize",
        "best",
        "--permutation",
        "9",
        "--report",
        str(out),
        "--json",
    ]
    assert main(words) == 0
    printed = json.loads(capsys.readouterr().out)
    found = Reader(out.read_text())
    assert json.loads(next(text for text in found.seen if text.startswith("{"))) == printed
    assert {"kept", "permutation"} <= printed.keys()


def test_paper_is_white():
    """Whoever reads in the dark prints black on white all the same."""
    assert re.findall(r"@media[^{]*prefers-color-scheme:dark[^{]*", html.STYLE) == [
        "@media screen and (prefers-color-scheme:dark)"
    ]


def test_axes_abbreviate_large_numbers():
    assert [charts.short(one) for one in (0.0, 0.25, 20_000, 4e8, 2.5e9, 1e20)] == [
        "0", "0.25", "20,000", "400 M", "2.5 G", "1e+20",
    ]  # fmt: skip


def test_only_pages_are_replaced(tmp_path, ledger):
    out, other = tmp_path / "a.html", tmp_path / "b.html"
    html.save(page.document(ledger), str(out))
    html.save(page.document(ledger), str(out))
    other.write_text("<html>my own work</html>")
    with pytest.raises(InputError, match="must not replace"):
        html.check(str(other))
    html.check(str(other), force=True)
    with pytest.raises(InputError, match=r"End its name with \.html"):
        html.check(str(tmp_path / "a.txt"))
    with pytest.raises(InputError, match="Create it, or choose another"):
        html.check(str(tmp_path / "none" / "a.html"))


def test_two_files_of_one_name_are_refused(tmp_path, capsys):
    words = ["run", "perceptron", "demo:breast-cancer", "--report", str(tmp_path / "a.html")]
    assert main([*words, "--save", str(tmp_path / "a.html")]) == 2
    assert "must be different files" in capsys.readouterr().err


def test_page_of_another_object_is_refused(tmp_path):
    with pytest.raises(InputError, match="got dict"):
        page.report({}, str(tmp_path / "a.html"))


def test_notebooks_need_no_style_sheet_and_no_inline_picture(ledger):
    comparison = nk.compare(["perceptron"], rows())
    kept = nk.finalize(nk.play("perceptron", rows(), candidates=10), "random")
    learners = nk.Perceptron(bias=1.0), nk.Scaled(nk.Perceptron()), nk.ThresholdHalving(9), ledger.learner
    for one in (ledger, ledger.certify()[0], comparison, kept, *learners):
        text = one._repr_html_()
        Reader(text)
        assert "<style" not in text
        assert "<svg" not in text
        assert "<script" not in text
        assert 'alt=""' not in text
    data = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', ledger._repr_html_())
    assert f"{ledger.mistakes}" in base64.b64decode(data[1]).decode()


def test_a_game_of_no_rounds_has_a_page():
    Reader(page.document(nk.Ledger(nk.Perceptron())))


# Pictures


def test_ticks_are_round_numbers_within_the_range():
    coins = np.random.default_rng(0)
    for high in (*coins.uniform(0.001, 1e6, 200), 1.0, 10.0, 1e-9, 1e12):
        found = charts.ticks(0.0, high)
        assert 2 <= len(found) <= 6
        assert found[0] == 0.0
        assert found[-1] <= high * (1 + 1e-9)
        step = found[1]
        assert f"{step:e}"[0] in "125"
        assert all(t == pytest.approx(k * step) for k, t in enumerate(found))


def test_last_values_never_overlap():
    lines = [charts.Line(f"l{k}", [(0, 0), (10, 5 + 0.001 * k)], charts.COLOURS[k % 8]) for k in range(8)]
    text = svg.panel(charts.Panel("mistakes", "rounds", lines))
    places = sorted(float(y) for y in re.findall(r'y="([\d.]+)"><tspan', text))
    assert len(places) == 8
    assert min(np.diff(places)) >= svg.APART - 0.11


def test_values_far_above_are_cut_off_and_reported():
    lines = [charts.Line("low", [(0, 0), (10, 5)]), charts.Line("high", [(0, 0), (10, 500)])]
    assert "high (continues above)" in svg.panel(charts.Panel("mistakes", "rounds", lines))
    assert "continues above" not in svg.panel(charts.Panel("mistakes", "rounds", lines[:1]))


def test_regions_reach_the_edges_of_the_frame():
    regions = [charts.Region("", [(1.0, 0.0, 0.25), (2.0, 0.0, 0.5)], end="a 50 %"),
               charts.Region("", [(1.0, 0.25, 1.0), (2.0, 0.5, 1.0)], end="b 50 %")]  # fmt: skip
    text = svg.panel(charts.Panel("weights", "rounds", (), regions, low=0.0, high=1.0, percent=True))
    assert "a 50 %" in text
    assert "b 50 %" in text
    last = [tuple(map(float, point.split(","))) for point in re.findall(r'points="([^"]+)"', text)[1].split()]
    assert min(y for _, y in last) == pytest.approx(10.0, abs=0.1)
