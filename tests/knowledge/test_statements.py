"""Statements as values."""

import copy
import datetime as dt
import pickle
import re

import pytest

from cogmap import Knowledge
from cogmap.knowledge import Statement


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
