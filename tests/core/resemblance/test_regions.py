"""Boxes that hold every row once, and what is stored of the cases in them."""

import numpy as np
import pytest

from cogmap.core.resemblance.regions import BEYOND, Boxes, cut_boxes
from tests.own_metrics import fitted_stack


def test_boxes_hold_every_row_once_and_few_each(rng):
    initial = rng.random((3000, 3))
    initial[:, 1] = initial[:, 1].round(1)
    boxes = cut_boxes(initial, np.array([1.0, 5.0, 0.1]), 200)
    inside = ((initial[:, None] > boxes.low) & (initial[:, None] <= boxes.high)).all(axis=2)
    assert (inside.sum(axis=1) == 1).all()
    assert inside.sum(axis=0).max() <= 200
    assert (inside.argmax(axis=1) == boxes.codes(initial)).all()
    # Rows far from all others are in a box too.
    far = np.array([[-1.0, 1.0, -1.0], [1.0, -1.0, 1.0]])
    assert ((far[:, None] > boxes.low) & (far[:, None] <= boxes.high)).all(axis=2).sum(axis=1).tolist() == [1, 1]


def test_the_concept_that_spreads_the_rows_most_is_cut_first(rng):
    initial = rng.random((400, 3))
    boxes = cut_boxes(initial, np.array([1.0, 0.0, 9.0]), 300)
    assert boxes.cut.tolist() == [2]
    assert boxes.high[0, 2] == boxes.low[1, 2] == pytest.approx(np.median(initial[:, 2]))
    assert boxes.low[0, 2] == -BEYOND


def test_rows_that_nothing_tells_apart_stay_together():
    boxes = cut_boxes(np.full((100, 2), 0.5), np.ones(2), 10)
    assert boxes.low.shape == (1, 2)
    uneven = np.r_[np.zeros(99), 1.0][:, None]
    assert cut_boxes(uneven, np.ones(1), 99).low[:, 0].tolist() == [-BEYOND, 0.5]


def test_what_is_inside_is_the_same_in_every_space(space, rng):
    initial = rng.random((60, 3))
    boxes = cut_boxes(rng.random((200, 3)), np.ones(3), 40)
    inside = np.hstack([space.host(one) for one in boxes.inside(space, space.put(initial))])
    assert (inside == np.eye(len(boxes.low))[boxes.codes(initial)]).all()


def test_boxes_that_are_one(rng):
    boxes = Boxes(np.full((1, 2), -BEYOND), np.full((1, 2), BEYOND))
    assert boxes.codes(rng.random((5, 2))).tolist() == [0] * 5


def test_cases_are_rows_in_the_coordinates_of_their_region():
    model, X, readout = fitted_stack()
    states = readout.states(np.arange(len(X))[::-7])
    rows = model.fitted_.members[0][0].concepts(X)
    assert np.abs(states[:, None] - rows).max(axis=2).min(axis=1).max() < 1e-9
    assert len(np.unique(states, axis=0)) == len(states)
