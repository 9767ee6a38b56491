import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogmap import Knowledge
from cogmap.knowledge import Statement
from cogmap.workbench.history import ConflictError, History


def forbid(name):
    return [Statement("forbid", name, "z")]


class Model:
    """Undo and redo as everybody knows them: a stack behind and one ahead."""

    def __init__(self):
        self.behind, self.now, self.ahead = [], Knowledge(), []

    def state(self, name):
        self.behind, self.ahead = [*self.behind, self.now], []
        self.now = Knowledge((*self.now.statements, *forbid(name)))

    def undo(self):
        self.ahead, self.now = [*self.ahead, self.now], self.behind.pop()

    def redo(self):
        self.behind, self.now = [*self.behind, self.now], self.ahead.pop()


@given(st.lists(st.sampled_from(["state", "undo", "redo"]), max_size=12))
def test_undo_and_redo_are_those_of_two_stacks_while_the_list_only_grows(steps):
    history, model = History.begin(Knowledge()), Model()
    for k, step in enumerate(steps):
        before = history.entries
        assert (history.can_undo, history.can_redo) == (bool(model.behind), bool(model.ahead))
        if step == "state":
            history = history.stated(forbid(f"a{k}"), "A", "b")
            model.state(f"a{k}")
        elif getattr(history, f"can_{step}"):
            history = history.undone() if step == "undo" else history.redone()
            getattr(model, step)()
        else:
            with pytest.raises(ValueError, match=f"nothing to {step}"):
                history.undone() if step == "undo" else history.redone()
        assert history.last.knowledge == model.now
        assert history.entries[: len(before)] == before
        assert [entry.number for entry in history.entries] == list(range(len(history.entries)))


def test_undo_says_what_it_returns_to_and_what_it_undoes():
    history = History.begin(Knowledge()).stated(forbid("a"), "A. Author", "why").undone("B. Author", "no")
    last = history.last
    assert (last.action, last.returns_to, last.author, last.reason) == ("undo", 0, "B. Author", "no")
    assert last.title == "undo: no edge a → z"
    assert history.redone().last.returns_to == 1


def test_a_statement_replaces_others_about_the_same_edge():
    fix = [Statement("fix", "a", "z", 0.5)]
    history = History.begin(Knowledge()).stated(forbid("a") + forbid("b"), "A", "b")
    with pytest.raises(ValueError, match="contradicts"):
        history.stated(fix, "A", "b")
    replaced = history.stated(fix, "A", "b", replace=True)
    assert [one.claim for one in replaced.last.knowledge] == ["no edge b → z", "a → z = 0.5"]


def test_what_is_stated_already_is_no_change():
    history = History.begin(Knowledge()).stated(forbid("a"), "A", "b")
    with pytest.raises(ValueError, match="'no edge a → z' is stated already"):
        history.stated(forbid("a"), "A", "b")


def test_statements_are_withdrawn_by_their_numbers():
    history = History.begin(Knowledge()).stated(forbid("a") + forbid("b") + forbid("c"), "A", "b")
    left = history.withdrawn([3, 1], "B", "wrong").last
    assert [one.source for one in left.knowledge] == ["b"]
    assert left.title == "no longer: no edge c → z; no edge a → z"
    for numbers, words in (([4], "no statement 4"), ([0], "no statement 0"), ([], "No statement is named")):
        with pytest.raises(ValueError, match=words):
            history.withdrawn(numbers, "B", "wrong")


def test_versions_that_are_not_the_last_conflict():
    history = History.begin(Knowledge()).stated(forbid("a"), "A. Author", "why")
    history.check_version(1)
    with pytest.raises(ConflictError, match=r"changed meanwhile by A\. Author \(no edge a → z\): nothing was changed"):
        history.check_version(0)
    with pytest.raises(ConflictError, match="no version 7"):
        history.check_version(7)
