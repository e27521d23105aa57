"""Specs: what can be written on the command line, and what is said when it is wrong."""

import pytest

import novikoff as nk
from novikoff.core.errors import InputError, MismatchError, SpecError
from novikoff.core.registry import CATALOG, learner_name
from novikoff.game.specs import Spec, make, parse, written


def test_a_spec_is_a_name_with_arguments():
    assert parse("halving") == Spec("halving", (), {})
    assert parse("a:1,x,k=2.5,b=true,c=none,d=word") == Spec(
        "a", (1, "x"), {"k": 2.5, "b": True, "c": None, "d": "word"}
    )


def test_brackets_nest():
    assert parse("halving:[thresholds:n=10],conservative=true") == Spec(
        "halving", (Spec("thresholds", (), {"n": 10}),), {"conservative": True}
    )
    assert parse("hedge:learners=[perceptron,[rbp:budget=100]]").named == {
        "learners": ["perceptron", Spec("rbp", (), {"budget": 100})]
    }
    assert parse("programs:constants=[-1,0,0.5]").named == {"constants": [-1, 0, 0.5]}


def test_large_numbers_can_be_written_short():
    assert parse("threshold-halving:n=10**18").named == {"n": 10**18}
    assert make("threshold-halving:n=1e6", "learner").n == 1_000_000


def test_make_builds_learners_with_their_classes():
    learner = make("halving:[thresholds:n=10],conservative=true", "learner")
    assert isinstance(learner, nk.Halving)
    assert learner.conservative
    assert learner.facts().hypotheses == 12


def test_the_width_is_filled_in_from_the_source():
    learner = make("halving:[programs:bits=10]", "learner", domain=nk.Domain("vector", 3))
    assert learner.domain == nk.Domain("vector", 3)
    assert make("tightest-box", "learner", domain=nk.Domain("point", 2)).domain.width == 2


def test_list_of_learners_is_a_team_with_distinct_seeds():
    learners = "perceptron,[rbp:budget=100],[rbp:budget=50,seed=3]"
    with pytest.raises(
        MismatchError, match=r"take the same examples: got vector, vector, vector, index\[4\], vector\[2\]"
    ):
        make(f"hedge:learners=[{learners},[consistent:[thresholds:n=3]],[ellipsoid:width=2]]", "learner")
    team = make(f"hedge:learners=[{learners}],horizon=9", "learner")
    assert [type(learner) for learner in team.learners] == [nk.Perceptron, *[nk.RandomizedBudgetPerceptron] * 2]
    assert team.names == ["perceptron", "rbp:budget=100", "rbp:budget=50,seed=3"]
    assert team.learners[2].seed == 3
    assert team.facts().horizon == 9
    seeds = [
        make(f"hedge:learners=[[rbp:budget=5],[rbp:budget=5]]{given}", "learner", **default).learners[k].seed
        for given, default in (("", {}), ("", {"seed": 1}), (",seed=2", {"seed": 1}))
        for k in range(2)
    ]
    assert len(set(seeds)) == 6


def test_a_team_passes_domain_and_defaults_on():
    domain = nk.Domain("vector", 4)
    team = make(
        "hedge:learners=[[perceptron:bias=1],ellipsoid,cover-halving]", "learner", domain=domain, normalize=True
    )
    assert team.domain == domain
    assert team.learners[0].normalize
    assert team.learners[0].bias == 1.0


def test_the_rule_of_a_team_may_be_a_spec():
    team = make("hedge:learners=[perceptron,ellipsoid],by=ada-hedge", "learner")
    assert team.facts().rule == "adaptive"
    team = make("hedge:learners=[perceptron,[rbp:budget=9]],by=[exponential-weights:eta=0.25],seed=4", "learner")
    team.learn_one([1.0, 2.0], 1)
    assert (team.facts().eta, team.facts().experts, team.facts().loss, team.facts().play) == (0.25, 2, "table", "draw")
    share = make("hedge:learners=[perceptron,ellipsoid],by=fixed-share,switches=2,horizon=50", "learner")
    assert share.facts().rule == "share"


def test_a_parsed_spec_can_be_written_again():
    for text in (
        "perceptron",
        "a:1,x,k=2.5,b=true,c=none,d=word",
        "halving:[thresholds:n=10],conservative=true",
        "hedge:learners=[perceptron,[rbp:budget=100,gamma=0.5]],horizon=1000",
        "programs:constants=[-1,0,0.5]",
    ):
        assert written(parse(text)) == text


def test_defaults_go_where_they_are_taken():
    assert make("consistent:[thresholds:n=3],random=true", "learner", seed=7).seed == 7
    assert make("consistent:[thresholds:n=3],seed=1", "learner", seed=7).seed == 1
    make("threshold-halving:3", "learner", seed=7)  # takes no seed, and is not given one


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("", "must be name"),
        ("halving:", "must be name"),
        ("nonsense", "must be one of"),
        ("thresholds:n=3", "must be one of"),  # a class is not a learner
        ("halving", "hypotheses is missing"),
        ("halving:[nonsense:n=3]", "must be one of"),
        ("halving:thresholds", "in brackets"),
        ("halving:[thresholds]", "in brackets"),
        ("halving:[thresholds:n=3", "a bracket is not closed in"),
        ("threshold-halving:n=3,m=4", "threshold-halving takes n"),
        ("threshold-halving:n=3,n=4", "is given twice in"),
        ("threshold-halving:n=3,4", "must come first"),
        ("threshold-halving:n=", "n="),
        ("threshold-halving:,", "there is an empty argument in"),
        ("threshold-halving:n=2.5", "must be an integer"),
        ("threshold-halving:n=many", "must be an integer"),
        ("threshold-halving:n=3,conservative=maybe", "must be true or false"),
        ("threshold-halving:n=3,conservative=none", "must be true or false"),
        ("threshold-halving:n=3,conservative=10**5000", "a number of 16,610 bits"),
        ("threshold-halving:n=none", "must be an integer"),
        ("halving:[rectangle-halving:m=3,dim=1]", "the name of a class must be one of"),
        ("halving:[contrarian:domain=3]", "the name of a class must be one of"),
        ("halving:3", "must be a class in brackets"),
        ("halving:none", "must be a class in brackets"),
        ("halving:[10**5000]", "must be a class in brackets"),
        ("weighted-majority:[thresholds:n=3],beta=10**400", "must be a number"),
        ("hedge", "learners is missing"),
        ("hedge:learners=perceptron", "must be a list of learners: got perceptron"),
        ("hedge:learners=[rbp:budget=9]", "must be a list of learners: got rbp:budget=9"),
        ("hedge:learners=[]", "must be a list of learners"),
        ("hedge:learners=[perceptron,3]", "must be a list of learners: got [perceptron,3]"),
        ("hedge:learners=[perceptron,[contrarian:domain=3]]", "the name of a learner must be one of"),
        ("hedge:learners=[perceptron,thresholds]", "the name of a learner must be one of"),
        ("hedge:learners=[perceptron:bias=1,ellipsoid]", "brackets of its own"),
        ("hedge:learners=[perceptron],seed=maybe", "seed of hedge must be an integer"),
        ("constant:label=[[1],[1,2]]", "label of constant must be an integer"),
    ],
)
def test_wrong_spec_is_answered_with_a_correction(spec, says):
    with pytest.raises(SpecError) as error:
        make(spec, "learner")
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("halving:[table:matrix=[[0,1,2],[2,1]]]", "of a table must all have the same length"),
        ("halving:[table:matrix=[[10**400]]]", "must hold whole numbers"),
        ("halving:[thresholds:n=10],prior=3", "one weight for each hypothesis, 12: got 3"),
        ("weighted-majority:[thresholds:n=10],prior=3", "one weight for each hypothesis, 12: got 3"),
        ("halving:[thresholds:n=1],prior=[thresholds:n=1]", "one weight for each hypothesis, 3: got "),
        ("halving:[programs:bits=12,width=1],prior=3", "one weight for each"),
        ("halving:[programs:bits=12,width=1,constants=3]", "constants must be a list"),
        ("halving:[programs:bits=12,width=1,constants=[10**5000]]", "a number of 16,610 bits"),
        ("halving:[functions:functions=[1,2]]", "must be Python functions of x: got 1"),
        ("halving:[functions:functions=3]", "must be a list"),
        ("halving:[cube:k=10**9]", "a cube needs"),
        ("constant:label=2", "a label must be -1 or +1"),
        ("constant:label=10**5000", "a number of 16,610 bits"),
    ],
)
def test_impossible_spec_gives_the_reason(spec, says):
    with pytest.raises(InputError) as error:
        make(spec, "learner")
    assert says in str(error.value)


def test_the_domain_of_an_adversary_is_that_of_the_game_and_cannot_be_written():
    with pytest.raises(SpecError, match="Leave it out"):
        make("contrarian:domain=3", "adversary")
    assert make("contrarian", "adversary", domain=nk.Domain("index", 4)).domain == nk.Domain("index", 4)


@pytest.mark.parametrize("name", CATALOG)
def test_every_name_loads_with_a_short_description(name):
    entry = CATALOG[name]
    assert callable(entry.load())
    assert len(entry.doc().splitlines()[0]) <= 110
    assert isinstance(entry.arguments(), str)


def test_every_learner_knows_its_name():
    for name, entry in CATALOG.items():
        if entry.room == "learner":
            assert learner_name(entry.load()) == name
    with pytest.raises(SpecError):
        learner_name(dict)


def test_deeply_nested_spec_is_refused():
    nested = "conformal:[" * 5000 + "perceptron" + "]" * 5000
    with pytest.raises(SpecError, match="at most 32 deep"):
        make(nested, "learner")
