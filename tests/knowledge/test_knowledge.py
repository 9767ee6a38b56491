"""Statements as values and in files, and what a network makes of them."""

import copy
import datetime as dt
import json
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score

from cogmap import Knowledge, KnowledgeWarning, LTCNClassifier, LTCNClassifierCV
from cogmap.errors import NoInformationWarning
from cogmap.knowledge import Statement
from cogmap.knowledge.edges import edge_bounds

INNER = ("slopes", "correlation", "regression", "stable-regression")


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def weight(model, source, target, network=0):
    part = model.fitted_.networks[network]
    names = part.concepts.names(model.fitted_.feature_names)
    return part.network.weights[names.index(source), names.index(target)]


# Statements as values


def test_stating_returns_new_knowledge_and_changes_nothing():
    first = Knowledge().fix("a", "b", 1)
    second = first.forbid("b", "c", author="me", date=dt.date(2026, 1, 31), reason="seen")
    assert len(Knowledge()) == 0
    assert len(first) == 1
    assert list(second) == [
        Statement("fix", "a", "b", 1.0),
        Statement("forbid", "b", "c", author="me", date="2026-01-31", reason="seen"),
    ]
    with pytest.raises(AttributeError):
        first.statements = ()


def test_equal_statements_make_equal_knowledge():
    one, other = (Knowledge().sign("a", "b", "+").irrelevant("c") for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != Knowledge().irrelevant("c").sign("a", "b", "+")
    assert one != one.sign("a", "b", "+", author="someone else")
    assert one.sign("a", "b", "+") == one
    assert one + other == one
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one


def test_repr_can_be_evaluated_and_str_can_be_read():
    knowledge = (
        Knowledge()
        .fix("a", "b", 0.1, author="A. Expert", date="2026-01-31", reason="measured\ntwice")
        .forbid("b", "a")
        .sign("a", "c", "-")
        .at_least("c", "a", -1.5)
        .at_most("c", "a", 2)
        .irrelevant("d", author="B")
        .bias("a", 0.5)
    )
    assert eval(repr(knowledge), {"Knowledge": Knowledge}) == knowledge
    assert str(knowledge).split("\n") == [
        "1. a → b = 0.1 (A. Expert, 2026-01-31: measured twice)",
        "2. no edge b → a",
        "3. a → c is negative or 0",
        "4. c → a ≥ -1.5",
        "5. c → a ≤ 2.0",
        "6. d is irrelevant (B)",
        "7. bias of a = 0.5",
    ]
    assert str(Knowledge()) == "nothing is stated"


a_to_b = Knowledge().fix("x", "y", 1)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda k: k.fix("a", "b", 0.3), lambda k: k.at_least("a", "b", 0.5)),
        (lambda k: k.fix("a", "b", 0.3), lambda k: k.fix("a", "b", 0.4)),
        (lambda k: k.fix("a", "b", 0.3), lambda k: k.at_most("a", "b", 0.2)),
        (lambda k: k.sign("a", "b", "+"), lambda k: k.fix("a", "b", -1)),
        (lambda k: k.sign("a", "b", "-"), lambda k: k.at_least("a", "b", 1e-300)),
        (lambda k: k.forbid("a", "b"), lambda k: k.at_most("a", "b", -0.1)),
        (lambda k: k.at_least("a", "b", 2), lambda k: k.at_most("a", "b", 1)),
        (lambda k: k.irrelevant("a"), lambda k: k.fix("a", "b", 0.1)),
        (lambda k: k.irrelevant("b"), lambda k: k.at_least("a", "b", 0.1)),
        (lambda k: k.bias("a", 0.1), lambda k: k.bias("a", 0.2)),
        (lambda k: k.irrelevant("a"), lambda k: k.bias("a", 0.1)),
    ],
)
def test_a_contradiction_names_both_statements(first, second):
    for one, other in ((first, second), (second, first)):
        earlier, later = one(a_to_b), other(Knowledge())
        claims = [re.escape(str(next(iter(k)))) for k in (later, Knowledge(earlier.statements[1:]))]
        with pytest.raises(ValueError, match=f"statement 3, '{claims[0]}', contradicts statement 2, '{claims[1]}'"):
            other(earlier)
        with pytest.raises(ValueError, match="contradicts"):
            earlier + later


def test_statements_that_can_all_hold_are_no_contradiction():
    knowledge = (
        Knowledge()
        .sign("a", "b", "+")
        .sign("a", "b", "-")
        .forbid("a", "b")
        .fix("a", "b", 0)
        .at_least("b", "a", 0.5)
        .fix("b", "a", 0.5)
        .irrelevant("c")
        .sign("c", "a", "+")
        .forbid("a", "c")
    )
    assert len(knowledge) == 9


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (lambda k: k.fix("a", "b", float("nan")), "The value of 'fix' is nan: give a finite number."),
        (lambda k: k.at_most("a", "b", "0.3"), "The value of 'at_most' is '0.3': give a finite number."),
        (lambda k: k.fix("a", "b", True), "The value of 'fix' is True"),
        (lambda k: k.sign("a", "b", 1), r"The sign of an edge is 1: use '\+' or '-'."),
        (lambda k: k.fix(3, "b", 1), "The source of 'fix' is 3: give the name of a feature, as text."),
        (lambda k: k.forbid("a", ""), "The target of 'forbid' is ''"),
        (lambda k: k.irrelevant("a", date="31.1.2026"), "The date of a statement is '31.1.2026': write it as 2026"),
        (lambda k: k.irrelevant("a", date=2026), "The date of a statement is 2026"),
        (lambda k: k.irrelevant("a", author=7), "The author of a statement is 7"),
        (lambda k: Statement("delete", "a"), "kind='delete' is unknown: use one of 'fix', 'forbid'"),
        (lambda k: Statement("forbid", "a", "b", 0.0), "'forbid' takes no value, but has 0.0"),
        (lambda k: Statement("irrelevant", "a", "b"), r"'irrelevant' is about one feature \('a'\)"),
        (lambda k: Statement("bias", "a", "b", 1.0), r"'bias' is about one feature \('a'\)"),
        (lambda k: k.bias("a", None), "The value of 'bias' is None: give a finite number."),
    ],
)
def test_a_bad_statement_is_explained(state, sentence):
    with pytest.raises(ValueError, match=sentence):
        state(Knowledge())


def test_what_is_no_statement_is_refused():
    with pytest.raises(TypeError, match="Knowledge holds statements, not 'a'"):
        Knowledge(["a"])
    with pytest.raises(TypeError, match="auther"):
        Knowledge().irrelevant("a", auther="me")
    with pytest.raises(TypeError, match="unsupported operand"):
        Knowledge() + "a"


# Files

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = texts.filter(bool)
records = st.fixed_dictionaries(
    {"author": st.none() | texts, "date": st.none() | st.dates(), "reason": st.none() | texts}
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
statements = st.one_of(
    st.builds(lambda k, s, t, v, r: Statement(k, s, t, v, **r), st.sampled_from(["fix", "at_least", "at_most"]), names,
              names, numbers, records),
    st.builds(lambda s, t, v, r: Statement("sign", s, t, v, **r), names, names, st.sampled_from("+-"), records),
    st.builds(lambda s, t, r: Statement("forbid", s, t, **r), names, names, records),
    st.builds(lambda s, r: Statement("irrelevant", s, **r), names, records),
    st.builds(lambda s, v, r: Statement("bias", s, None, v, **r), names, numbers, records),
)  # fmt: skip


@given(statement=statements, suffix=st.sampled_from([".toml", ".json"]))
def test_a_file_gives_back_exactly_what_was_stated(tmp_path_factory, statement, suffix):
    path = tmp_path_factory.mktemp("knowledge") / f"statements{suffix}"
    knowledge = Knowledge([statement]).irrelevant("last")
    knowledge.save(path)
    loaded = Knowledge.load(path)
    assert loaded == knowledge
    assert [str(s.value) for s in loaded] == [str(s.value) for s in knowledge]  # −0.0 equals 0.0
    assert list(path.parent.iterdir()) == [path]
    assert path.read_text(encoding="utf-8") == (knowledge.to_toml() if suffix == ".toml" else knowledge.to_json())


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_no_character_is_too_odd_for_a_file(tmp_path, suffix):
    """Control characters, quotes, escapes, line ends of all kinds, and beyond the basic plane."""
    odd = "".join(map(chr, range(0x100))) + "\\u0041\u2028\ufeff\U0001f377\"\"\"'''"
    Knowledge().fix(odd, odd[::-1], 1e-5, author=odd).save(tmp_path / f"odd{suffix}")
    assert Knowledge.load(tmp_path / f"odd{suffix}") == Knowledge().fix(odd, odd[::-1], 1e-5, author=odd)


BY_HAND = """\
# The cellar's rules

[[statement]]       # seen on every site
kind = "fix"
source = "ash"
target = 'alcohol'
value = 1           # a whole number will do
author = "A. Vintner"
date = 2026-03-01
reason = \"\"\"
Trial of 2025,
second series\"\"\"

[[statement]]
kind = "sign"
source = "alcohol is low"
target = "ash"
value = "-"
date = "2026-03-02"

[[statement]]
kind = "irrelevant"
feature = "proline"
"""


def test_toml_written_by_hand_is_read(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(BY_HAND)
    record = {"author": "A. Vintner", "date": dt.date(2026, 3, 1), "reason": "Trial of 2025,\nsecond series"}
    assert Knowledge.load(path) == (
        Knowledge()
        .fix("ash", "alcohol", 1.0, **record)
        .sign("alcohol is low", "ash", "-", date="2026-03-02")
        .irrelevant("proline")
    )


def test_no_statements_are_knowledge_too(tmp_path):
    for name in ("none.toml", "none.json"):
        Knowledge().save(tmp_path / name)
        assert Knowledge.load(str(tmp_path / name)) == Knowledge()


HEAD = '[[statement]]\nkind = "irrelevant"\nfeature = "a"\n[[statement]]\n'


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[[statement]\n", r"this is not valid TOML, .*\(at line 1, column 12\): correct it there"),
        ('[statement]\nkind = "fix"', r"'statement' is not a list: begin each statement with \[\[statement\]\]"),
        ("[[statements]]\n", r"'statements' is not known here: begin each statement with \[\[statement\]\]"),
        ("statement = [3]", "statement 1: this is 3: write keys and values"),
        (HEAD + 'source = "a"', "statement 2: it has no kind: use one of 'fix', 'forbid'"),
        (HEAD + 'kind = "fixed"', "statement 2: kind='fixed' is unknown: use one of 'fix'"),
        (HEAD + 'kind = "fix"\nsource = "a"\ntarget = "b"', "statement 2: 'fix' needs 'value': add it"),
        (HEAD + 'kind = "fix"\nsource = "a"\ntarget = "b"\nvalue = "1"', "statement 2: The value of 'fix' is '1'"),
        (HEAD + 'kind = "fix"\nsource = "a"\ntarget = "b"\nvalue = inf', "statement 2: The value of 'fix' is inf"),
        (HEAD + 'kind = "forbid"\nsourse = "a"', "statement 2: 'sourse' is no key of 'forbid': did you mean 'source'"),
        (HEAD + 'kind = "forbid"\nzzz = "a"', "statement 2: 'zzz' is no key of 'forbid': use 'kind', 'source'"),
        (HEAD + 'kind = "irrelevant"\nfeature = "b"\ndate = "soon"', "statement 2: The date of a statement is 'soon'"),
        (HEAD + 'kind = "fix"\nsource = "a"\ntarget = "b"\nvalue = 2', "statement 2, .* contradicts statement 1, "),
    ],
)
def test_a_malformed_file_is_explained_by_file_and_statement(tmp_path, content, sentence):
    path = tmp_path / "rules.toml"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))}: {sentence}"):
        Knowledge.load(path)


def test_other_bad_files_are_explained(tmp_path):
    path = tmp_path / "rules.json"
    path.write_text("{,}")
    with pytest.raises(ValueError, match=r"rules.json: this is not valid JSON, .*line 1 column 2"):
        Knowledge.load(path)
    path.write_text(json.dumps([1]))
    with pytest.raises(ValueError, match="a file of statements holds a list named 'statement'"):
        Knowledge.load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"rules\.json is not text in UTF-8"):
        Knowledge.load(path)
    for act in (Knowledge().save, Knowledge.load):
        with pytest.raises(ValueError, match=r"ends with '.txt': name a file of statements .toml or .json"):
            act(tmp_path / "rules.txt")
    with pytest.raises(FileNotFoundError, match=r"missing\.toml"):
        Knowledge.load(tmp_path / "missing.toml")


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "rules.toml"
    Knowledge().irrelevant("a").save(path)

    def half(self, text, encoding):
        self.write_bytes(text.encode(encoding)[:20])
        raise OSError("No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", half)
        with pytest.raises(OSError, match="No space"):
            Knowledge().irrelevant("b").save(path)
    assert Knowledge.load(path) == Knowledge().irrelevant("a")
    assert list(tmp_path.iterdir()) == [path]


STATED = '{"statement": [{"kind": "fix", "source": "a", "target": "b", "value": %s}]}'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("deep.json", '{"statement": ' + "[" * 100_000 + "]" * 100_000 + "}", "values are nested too deeply"),
        ("deep.toml", "statement = " + "[" * 100_000 + "]" * 100_000, "values are nested too deeply"),
        ("deep.json", STATED % ("[" * 400 + "]" * 400), r"statement 1: The value of 'fix' is \[\[\[.*\.\.\.\]"),
        ("huge.json", STATED % ("9" * 5000), "a whole number has more digits than can be read"),
        ("huge.toml", '[[statement]]\nkind = "fix"\nvalue = ' + "9" * 5000, "a whole number has more digits"),
        ("large.json", STATED % ("9" * 400), r"The value of 'fix' is 9+\.\.\.9+: give a finite number"),
        ("large.json", STATED % "1e400", "The value of 'fix' is inf: give a finite number"),
        ("twice.json", STATED % '1, "value": 2', "the key 'value' is there twice: leave one of them out"),
        ("twice.json", '{"statement": [], "statement": []}', "the key 'statement' is there twice"),
        ("twice.toml", '[[statement]]\nkind = "fix"\nkind = "forbid"', "this is not valid TOML"),
        ("half.json", STATED.replace('"a"', '"\\ud800"') % "1", r"'\\ud800' holds half of a character"),
    ],
)
def test_hostile_files_are_one_sentence(name, content, message, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=f"{name}: .*{message}") as error:
        Knowledge.load(tmp_path / name)
    assert len(str(error.value)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize("name", ["marked.toml", "marked.json"])
def test_a_byte_order_mark_is_no_part_of_a_file(name, tmp_path):
    stated = Knowledge().forbid("a", "b")
    (tmp_path / name).write_text("\ufeff" + (stated.to_toml() if name.endswith("toml") else stated.to_json()))
    assert Knowledge.load(tmp_path / name) == stated


def test_near_names_are_suggested(wine):
    X, y = wine
    for wrong, right in (("Alcohol", "alcohol"), ("total phenols", "total_phenols")):
        with pytest.raises(ValueError, match=f"names '{wrong}', which is no feature: did you mean '{right}'"):
            LTCNClassifier(knowledge=Knowledge().irrelevant(wrong)).fit(X, y)


# In a network


@pytest.mark.parametrize("inner", INNER)
def test_stated_weights_are_exact_after_a_file_and_a_refit(wine, inner, tmp_path):
    value = 0.1 + 0.2
    (
        Knowledge()
        .fix("ash", "alcohol", value)
        .forbid("hue", "ash")
        .sign("alcohol", "hue", "+")
        .sign("alcohol", "ash", "-")
        .at_least("magnesium", "hue", 0.05)
        .at_most("proline", "hue", -0.05)
        .fix("ash", "ash", -0.25)
    ).save(tmp_path / "rules.toml")
    plain = LTCNClassifier(inner=inner).fit(*wine)
    model = plain.edit(Knowledge.load(tmp_path / "rules.toml"), *wine)
    assert type(model) is LTCNClassifier
    assert weight(model, "ash", "alcohol") == value
    assert weight(model, "hue", "ash") == 0
    assert weight(model, "alcohol", "hue") >= 0
    assert weight(model, "alcohol", "ash") <= 0
    assert weight(model, "magnesium", "hue") >= 0.05
    assert weight(model, "proline", "hue") <= -0.05
    assert weight(model, "ash", "ash") == -0.25
    assert model.knowledge_ == Knowledge.load(tmp_path / "rules.toml")
    assert len(plain.knowledge_) == 0
    refitted = clone(model).fit(*wine)
    assert (refitted.decision_function(wine[0]) == model.decision_function(wine[0])).all()


@pytest.mark.parametrize("inner", ["slopes", "correlation", "regression"])
def test_only_the_columns_concerned_change(wine, inner):
    X, y = wine
    plain = LTCNClassifier(inner=inner).fit(X, y)
    model = LTCNClassifier(inner=inner, knowledge=Knowledge().fix("ash", "alcohol", 0.3)).fit(X, y)
    changed = model.inner_weights_ != plain.inner_weights_
    assert changed[:, 0].any()
    assert not changed[:, 1:].any()
    if inner != "regression":
        assert changed.sum() == 1


def test_statements_override_a_given_array():
    X, y = load_iris(return_X_y=True)
    W = np.arange(16.0).reshape(4, 4) / 10
    knowledge = Knowledge().fix("x0", "x1", -1).at_most("x3", "x3", 1.2).at_least("x2", "x0", 0.1)
    model = LTCNClassifier(inner=W, knowledge=knowledge).fit(X, y)
    expected = W.copy()
    expected[0, 1], expected[3, 3] = -1, 1.2
    assert (model.inner_weights_ == expected).all()


def test_a_statement_about_a_feature_holds_for_its_terms_and_one_about_a_term_for_that_one(wine):
    X, y = wine
    knowledge = (
        Knowledge().fix("ash", "alcohol", 0.2).fix("hue is low", "ash is high", 0.4).forbid("hue is high", "ash")
    )
    model = LTCNClassifier(inner="regression", terms=3, knowledge=knowledge).fit(X, y)
    plain = LTCNClassifier(inner="regression", terms=3).fit(X, y)
    for source in ("low", "medium", "high"):
        for target in ("low", "medium", "high"):
            assert weight(model, f"ash is {source}", f"alcohol is {target}") == 0.2
        assert weight(model, "hue is high", f"ash is {source}") == 0
    assert weight(model, "hue is low", "ash is high") == 0.4
    others = [i for i, name in enumerate(model.concept_names_) if not name.startswith(("ash", "alcohol is"))]
    assert (model.inner_weights_[:, others] == plain.inner_weights_[:, others]).all()


@pytest.mark.parametrize(
    "parameters", [{"terms": (None, 3)}, {"activation": ("sigmoid", "tanh")}, {"combine": "best"}, {"inner": INNER}]
)
def test_a_statement_holds_in_every_member_of_a_stack(wine, parameters):
    knowledge = Knowledge().fix("ash", "alcohol", 0.123).sign("hue", "alcohol", "-").irrelevant("proline")
    model = LTCNClassifierCV(**parameters, knowledge=knowledge).fit(*wine)
    for part in model.fitted_.networks:
        feature = np.array(model.fitted_.feature_names)[part.concepts.feature]
        block = part.network.weights[np.ix_(feature == "ash", feature == "alcohol")]
        assert (block == 0.123).all()
        assert (part.network.weights[np.ix_(feature == "hue", feature == "alcohol")] <= 0).all()
        assert "proline" not in feature
    assert model.knowledge_ == knowledge
    assert model.relevance()[list(wine[0].columns).index("proline")] == 0


def test_a_term_that_only_some_members_have_is_no_error(wine):
    knowledge = Knowledge().fix("ash is low", "hue", 0.5)
    model = LTCNClassifierCV(terms=(None, 3), inner="slopes", knowledge=knowledge, cases=False).fit(*wine)
    stated = [
        part for part in model.fitted_.networks if "ash is low" in part.concepts.names(model.fitted_.feature_names)
    ]
    assert stated
    for part in stated:
        names = part.concepts.names(model.fitted_.feature_names)
        assert part.network.weights[names.index("ash is low"), names.index("hue is low")] == 0.5


@pytest.mark.parametrize(
    "model",
    [LTCNClassifier(), LTCNClassifier(terms=3, cases=True), LTCNClassifier.paper(max_iter=2), LTCNClassifierCV()],
)
def test_an_irrelevant_feature_has_no_say(wine, model):
    """Not in training, where the model is the one without the column, and not in prediction."""
    X, y = wine[0][::2], wine[1][::2]
    model = clone(model).set_params(knowledge=Knowledge().irrelevant("flavanoids")).fit(X, y)
    shuffled = X.assign(flavanoids=np.random.default_rng(0).permutation(X["flavanoids"]) * 7 - 3)
    scores = model.decision_function(X)
    assert (model.decision_function(shuffled) == scores).all()
    assert model.relevance()[X.columns.get_loc("flavanoids")] == 0
    assert (clone(model).fit(shuffled, y).decision_function(X) == scores).all()
    without = clone(model).set_params(knowledge=None).fit(X.drop(columns="flavanoids"), y)
    assert (without.decision_function(X.drop(columns="flavanoids")) == scores).all()
    assert not [name for name in model.concept_names_ if name.startswith("flavanoids")]


@pytest.mark.parametrize("inner", INNER)
def test_all_features_irrelevant_leaves_the_most_frequent_class(inner):
    knowledge = Knowledge().irrelevant("x0").irrelevant("x1").forbid("x0", "x1")
    with pytest.warns(NoInformationWarning):
        model = LTCNClassifier(inner=inner, knowledge=knowledge).fit(np.eye(3)[:, :2], ["a", "b", "b"])
    assert list(model.predict([[0, 1], [5, 5]])) == ["b", "b"]


def test_knowledge_works_with_the_tools_of_scikit_learn(wine):
    X, y = wine
    knowledge = Knowledge().fix("ash", "alcohol", 0.3).irrelevant("hue")
    model = LTCNClassifier(max_iter=2, knowledge=knowledge)
    assert clone(model).knowledge == knowledge
    assert "knowledge=Knowledge().fix('ash'" in repr(LTCNClassifier(knowledge=Knowledge().fix("ash", "hue", 1)))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(LTCNClassifier(max_iter=2), {"knowledge": [None, knowledge]}, cv=3).fit(X, y)
    assert search.best_params_["knowledge"] in (None, knowledge)
    fitted = model.fit(X, y)
    assert pickle.loads(pickle.dumps(fitted)).knowledge_ == knowledge


# Edits


def test_an_edit_adds_to_what_the_model_was_told(wine):
    X, y = wine
    first = LTCNClassifier(phi=0.7, knowledge=Knowledge().fix("ash", "alcohol", 0.3)).fit(X, y)
    second = first.edit(Knowledge().forbid("hue", "ash", author="B"), X, y, sample_weight=np.ones(len(X)))
    assert second.knowledge_ == Knowledge().fix("ash", "alcohol", 0.3).forbid("hue", "ash", author="B")
    assert second.phi == 0.7
    assert weight(second, "ash", "alcohol") == 0.3
    assert weight(second, "hue", "ash") == 0
    direct = LTCNClassifier(phi=0.7, knowledge=second.knowledge_).fit(X, y)
    assert (second.decision_function(X) == direct.decision_function(X)).all()
    with pytest.raises(ValueError, match="contradicts"):
        second.edit(Knowledge().fix("ash", "alcohol", 0.4), X, y)
    with pytest.raises(ValueError, match="feature names"):
        second.edit(Knowledge(), X.rename(columns=str.upper), y)


def test_an_edit_of_a_stack_equals_a_fit_with_the_knowledge(wine):
    X, y = wine
    knowledge = Knowledge().sign("hue", "ash", "+")
    edited = LTCNClassifierCV(cases=False).fit(X, y).edit(knowledge, X, y)
    direct = LTCNClassifierCV(cases=False, knowledge=knowledge).fit(X, y)
    assert (edited.decision_function(X) == direct.decision_function(X)).all()


# What cannot be meant


@pytest.mark.parametrize(
    ("knowledge", "sentence"),
    [
        (
            Knowledge().forbid("ash", "alchohol"),
            "Statement 1, .*names 'alchohol', which is no feature: did you mean 'alco",
        ),
        (
            Knowledge().irrelevant("ash").irrelevant("zzz"),
            "Statement 2, .*names 'zzz', .*: there are 'alcohol', 'malic_",
        ),
        (Knowledge().forbid("ash is low", "hue"), "'ash is low', which is no feature or concept: did you mean 'ash'"),
        (Knowledge().irrelevant("ash is low"), "'ash is low', which is no feature: did you mean 'ash'"),
    ],
)
@pytest.mark.parametrize("model", [LTCNClassifier(), LTCNClassifierCV(cases=False, inner="slopes", terms=None)])
def test_unknown_names_are_named_with_near_ones(wine, knowledge, sentence, model):
    with pytest.raises(ValueError, match=sentence):
        clone(model).set_params(knowledge=knowledge).fit(*wine)


def test_an_unknown_term_is_named_with_near_ones(wine):
    with pytest.raises(ValueError, match="'ash is lov', which is no feature or concept: did you mean 'ash is low'"):
        LTCNClassifier(terms=3, knowledge=Knowledge().forbid("ash is lov", "hue")).fit(*wine)


def test_contradictions_that_only_the_terms_show(wine):
    knowledge = Knowledge().fix("ash", "hue", 0.3).at_least("ash is low", "hue is high", 0.4)
    with pytest.raises(ValueError, match=r"statement 2, 'ash is low → hue is high ≥ 0.4', contradicts statement 1"):
        LTCNClassifier(terms=3, knowledge=knowledge).fit(*wine)
    knowledge = Knowledge().irrelevant("ash").fix("ash is low", "hue", 0.3)
    with pytest.raises(
        ValueError, match=r"statement 2, 'ash is low → hue = 0.3', contradicts statement 1, 'ash is irr"
    ):
        LTCNClassifier(terms=3, knowledge=knowledge).fit(*wine)
    LTCNClassifier(terms=3, knowledge=Knowledge().irrelevant("ash").forbid("ash is low", "hue")).fit(*wine)


@pytest.mark.parametrize(
    "model", [LTCNClassifier(), LTCNClassifier(terms=3), LTCNClassifierCV(cases=False, terms=None)]
)
def test_a_statement_about_a_constant_feature_warns_and_changes_nothing(wine, model):
    X, y = wine
    X = X.assign(ash=1.0)
    name = "ash is low" if getattr(model, "terms", None) else "ash"
    knowledge = Knowledge().fix(name, "hue", 0.3)
    with pytest.warns(KnowledgeWarning, match=f"'{name} → hue = 0.3' has no effect: 'ash' is constant") as caught:
        told = clone(model).set_params(knowledge=knowledge).fit(X, y)
    assert len(caught) == 1
    assert (told.decision_function(X) == clone(model).fit(X, y).decision_function(X)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(model).set_params(knowledge=Knowledge().irrelevant("ash").forbid("ash", "hue")).fit(X, y)


def test_stated_weights_beyond_the_cap_warn(wine):
    knowledge = Knowledge().fix("ash", "hue", 3).at_least("hue", "ash", 2.5)
    with pytest.warns(KnowledgeWarning, match="spectral norm of 3, and inner='stable-regression' caps it at 2"):
        model = LTCNClassifier(inner="stable-regression", knowledge=knowledge).fit(*wine)
    assert weight(model, "ash", "hue") == 3
    assert weight(model, "hue", "ash") >= 2.5


def test_knowledge_of_another_type_is_refused(wine):
    for model in (LTCNClassifier(knowledge="rules.toml"), LTCNClassifierCV(knowledge="rules.toml")):
        with pytest.raises(TypeError, match=r"knowledge='rules.toml' must be a cogmap.Knowledge or None"):
            model.fit(*wine)


def test_a_feature_whose_name_looks_like_a_term_is_a_feature(rng):
    X = pd.DataFrame(rng.random((60, 3)), columns=["a", "a is low", "b"])
    concepts = LTCNClassifier(scaling="minmax", terms=3).fit(X, X["a"] > 0.5).fitted_.networks[0].concepts
    bounds = edge_bounds(Knowledge().fix("a is low", "b", 1), list(X.columns), concepts)
    assert (bounds.lower[3:6, 6:] == 1).all()
    assert np.isinf(bounds.lower).sum() == 81 - 9
