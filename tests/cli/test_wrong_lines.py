"""Wrong command lines: each ends with exit code 2 and one sentence on standard error, never with a traceback."""

import pytest

from mixed_rows import apart, as_csv, mixed
from novikoff.cli.main import main

LINES = [
    ("run perceptrn train.csv", "the name of a learner must be known: got 'perceptrn'. Did you mean \"perceptron\"?"),
    ("run auto nowhere.csv", "file not found: nowhere.csv. Check the name, or"),
    ("run train.csv auto", "the learner comes before the source. Try: noviko"),
    ("run auto train.csv --labl outcome", "did you mean --label"),
    ("run auto train.csv --label outcom", 'Did you mean "outcome'),
    ("run auto train.csv --target outcome", "did you mean --label"),
    (
        "run auto train.csv --task clasify",
        "argument --task: must be one of classify, regress, count: got 'clasify'. Did you mean \"classify\"?",
    ),
    ("run auto train.csv --passes 0", "argument --passes: must be at least 1: got 0. Se"),
    ("run auto train.csv --passes two", "argument --passes: must be an integer: got 'two"),
    ("run auto train.csv --rounds -1", "argument --rounds: must be at least 0: got -1. S"),
    ("run auto train.csv --cover 2", "argument --cover: must be between 0 and 1: got 2"),
    ("run auto train.csv --cover x", "argument --cover: must be a number: got 'x'. See"),
    ("run auto train.csv --scale big", "argument --scale: must be one of "),
    ("run auto train.csv --drop custmer", 'Did you mean "c'),
    ("run auto train.csv --columns ages", 'Did you mean "age"'),
    ("run auto train.csv --number city", "a numeric column must contain numbers: line 2, c"),
    ("run auto train.csv --time city", "dates must have one format: city of train.csv ha"),
    ("run auto train.csv --positive maybe", 'the positive label must occur: train.csv has "no'),
    ("run auto train.csv --label-weights yes", "--label-weights must be LABEL=N,… with numbers"),
    ("run auto train.csv --weight city", "weights must be numbers: line 2, column"),
    ("run auto trian.csv", 'Did you mean "train.csv"?'),
    ("predict m.nk new.csv --no-label --threshold high", "argument --threshold: must be a number: got 'high'"),
    ("predict m.nk new.csv --no-label --threshold 3", "a threshold of probabilities must be from 0 to 1: got 3"),
    ("predict m.nk new.csv --no-label --id nr", "the id column must be one of"),
    ("run auto new.csv --resume mm.nk", 'Did you mean "m.nk"?'),
    ("export m.nk model.pkl", "an export must be json or onnx: got the file model.pkl. Name the file model.json"),
    ("run auto train.csv --format cvs", "a format must be one of arff, arrow, csv, jsonl, npz, parqu"),
    ("run auto train.csv --bits 40", "argument --bits: must be 1 to 28: got 40. See: n"),
    (
        "run auto train.csv --finalize bst",
        "argument --finalize: must be one of best, random, voted, averaged, last: got 'bst'. Did you mean \"best\"?",
    ),
    ("run auto train.csv --delta 2", "argument --delta: must be between 0 and 1: got 2"),
    ("run auto train.csv --between 5", "argument --between: must be two rounds, such as"),
    ("run auto train.csv --permutation 0", "argument --permutation: must be at least 1: got"),
    ("run auto train.csv --resume nowhere.nk", "file not found: nowhere.nk. Check the name."),
    ("run auto train.csv --save nowhere/m.nk", "the folder nowhere does not exist. Create it, or"),
    ("run auto train.csv --plot p.gif", "a plot must be a PNG or an SVG file: got p.gif."),
    ("run auto train.csv --seed x", "argument --seed: must be an integer: got 'x'. Se"),
    ("run auto train.csv --lags 0", "argument --lags: must be at least 1: got 0. See"),
    ("run auto train.csv --lags 2 --by cty", 'the column of the groups must be in the table: train.csv has no "cty"'),
    ("run perceptron train.csv --by city", "a learner of groups must predict probabilities"),
    ("run auto train.csv --lags 2 --passes 2", "--lags is for one pass: leave out --passes."),
    ("run auto train.csv --lags 2 --lag-columns ages", 'Did you mean "age"'),
    ("forecast train.csv -l perceptron", "forecasts are of numbers: perceptron predicts labels"),
    ("forecast -", "forecast reads its source once per step: save it"),
    ("forecast train.csv --resume nowhere", "a folder of forecasts must have model files"),
    ("run vaw train.csv", "a numeric column must contain numbers: line 2, c"),
    ("run auto train.csv --task regress", "a numeric column must contain numbers: line 2, c"),
    ("run logistic:rat=1 train.csv", "logistic takes ridge=0.1, radius=6.0, scale_free"),
    ("run logistic: train.csv", "a spec must be name or name:key=value,…: got 'lo"),
    ("run auto demo:iriss", "a demo must be one of papayas, thresholds, progr"),
    ("run auto stream:nothing", "the name of a stream must be one of separable, n"),
    ("run hedge:learners=[] train.csv", "learners of hedge must be a list of learners: go"),
    ("run hedge:learners=[perceptrn] train.csv", "the name of a learner must be known: got 'perceptrn'."),
    ("compare train.csv", "the following arguments are required: -l/--learn"),
    ("compare train.csv -l", "argument -l/--learner: expected one argument. Se"),
    ("compare train.csv -l perceptrn", "the name of a learner must be known: got 'perceptrn'."),
    (
        "compare train.csv -l logistic --by loss",
        "argument --by: must be one of error, log-loss, auc, mae, rmse: got 'loss'.",
    ),
    ("compare train.csv -l logistic --by rmse", "by=rmse needs learners that have this metric: th"),
    ("compare train.csv -l perceptron --by log-loss", "by=log-loss needs learners that have this metric"),
    ("compare train.csv -l vaw", "learners that are compared must have the same ta"),
    ("compare train.csv -l logistic --shuffles -1", "argument --shuffles: must be at least 0: got -1."),
    ("predict", "the following arguments are required: MODEL, SOU"),
    ("predict m.nk", "the following arguments are required: SOURCE. Se"),
    ("predict nowhere.nk new.csv", "file not found: nowhere.nk. Check the name."),
    ("predict new.csv m.nk --no-label", "the model comes before the source. Try: novikoff"),
    ("predict m.nk new.csv", 'the labels must be in column "outcome", as when'),
    ("predict m.nk new.csv --no-label --id custmer", 'Did you mean "customer"'),
    ("predict m.nk new.csv --no-label -o p.xlsx", "--output must end in .csv, .tsv, .jsonl, .ndjson"),
    ("predict m.nk new.csv --no-label -o new.csv", "--output must be another file than the input: go"),
    ("predict m.nk new.csv --no-label --probabilities --why", "--why cannot be combined with --id, --probabilit"),
    ("predict m.nk new2.csv --no-label", "columns must match those that m.nk was trained o"),
    (
        "predict m.nk new.csv --no-label --missing-columns fill",
        "argument --missing-columns: must be one of refuse, impute",
    ),
    ("predict m.nk new.csv --no-label --label outcome", "--label and --no-label cannot be combined: leave"),
    ("columns nowhere.csv", "file not found: nowhere.csv. Check the name, or"),
    ("frobnicate", "argument VERB: must be one of demo, run"),
    ("explain nothing-like-this", "no name or term to explain is called 'nothing-li"),
    ("serve --port 99999", "argument --port: must be 0 to 65535: got 99999."),
    ("send train.csv", "the following arguments are required: --to. See:"),
    ("notes 9", "notes takes a lecture from 0 to 4, errata [NAME]"),
    ("duel auto", "the following arguments are required: ADVERSARY."),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    there = tmp_path_factory.mktemp("wrong")
    train = [{"customer": f"c{k}", **row} for k, row in enumerate(mixed(60))]
    (there / "train.csv").write_bytes(as_csv(train))
    new = [{"customer": f"n{k}", **apart(row)[0]} for k, row in enumerate(mixed(12, seed=9))]
    (there / "new.csv").write_bytes(as_csv(new))
    other = [{**{name: cell for name, cell in row.items() if name != "age"}, "foo": "x"} for row in new]
    (there / "new2.csv").write_bytes(as_csv(other))
    command = ["run", "logistic", str(there / "train.csv"), "--drop", "customer", "--save", str(there / "m.nk"), "-q"]
    assert main(command) == 0
    return there


@pytest.mark.parametrize(("line", "words"), LINES, ids=[line for line, _ in LINES])
def test_wrong_command_lines_are_answered_with_a_sentence(folder, monkeypatch, capsys, line, words):
    monkeypatch.chdir(folder)
    try:
        code = main(line.split())
    except SystemExit as exit:
        code = exit.code
    printed = capsys.readouterr().err
    assert code == 2
    assert words in printed.strip().splitlines()[-1]
    assert "Traceback" not in printed
