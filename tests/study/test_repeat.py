from dataclasses import asdict

import pytest

from cogmap.study.protocol import Task, evaluate
from cogmap.study.repeat import Repeated, drawn, repeated
from tests.study.made import rows


def test_cells_are_drawn_from_results_that_can_be_run_again():
    found = [*rows("iris", "SVM", 0.9), *rows("iris", "LR", 0.8, error="timeout"), *rows("iris", "gone", 0.5)]
    cells = list(drawn(found, 20, seed=3))
    assert len(cells) == 20
    assert {task.classifier for task, _ in cells} == {"SVM"}
    assert {task.fold for task, _ in cells} <= set("01234")
    assert cells == list(drawn(found, 20, seed=3))
    assert list(drawn([], 5, seed=0)) == []


def test_a_repeated_cell_is_the_same_or_says_by_how_much_it_differs():
    task = Task("iris", "LR", "small", 3, "fold", 42, "1")
    row = asdict(task) | evaluate(task) | {"error": ""}
    ((again, before),) = drawn([row], 1, seed=0)
    assert repeated(again, before).same
    assert Repeated(task, "0.267", 0.266952).same, "sweeps are written with three digits"
    assert not Repeated(task, "0.267", 0.2676).same
    assert not Repeated(task, "0.266952", 0.266953).same
    other = repeated(again, f"{float(before) - 0.25:.6f}")
    assert not other.same
    assert "differs by +0.25" in str(other)
    assert pytest.approx(float(before)) == other.now
