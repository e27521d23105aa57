"""Names that are hashed to other places than the model's are refused: every weight would be missed without a word."""

import pytest

import novikoff as nk
from novikoff.cli.main import main
from novikoff.core.errors import MismatchError


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "rows.vw"
    path.write_text("".join(f"{1 - 2 * (t % 2)} | w{t % 2} a{t}\n" for t in range(40)))
    return str(path)


@pytest.mark.parametrize("spec", ["perceptron", "ftrl", "hedge:learners=[perceptron,[perceptron:bias=1]]"])
def test_bits_must_be_those_of_the_game(spec, source, tmp_path, capsys):
    saved = str(tmp_path / "game.nk")
    assert main(["run", spec, source, "--bits", "10", "--save", saved, "--quiet"]) == 0
    capsys.readouterr()
    assert main(["predict", saved, source]) == 2
    assert "Pass --bits 10." in capsys.readouterr().err
    assert main(["predict", saved, source, "--bits", "10"]) == 0
    assert "0 mistakes in " in capsys.readouterr().err
    assert main(["run", source, "--resume", saved, "--quiet"]) == 2
    assert "1,024 places" in capsys.readouterr().err


def test_so_it_is_in_python(source):
    learner = nk.Perceptron()
    nk.play(learner, nk.read(source, bits=10))
    with pytest.raises(MismatchError, match="bits=10"):
        nk.play(learner, nk.read(source))
    assert nk.play(learner, nk.read(source, bits=10)).rounds == 40
