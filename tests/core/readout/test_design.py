"""What a readout reads of rows: its parts, the target, and rows that are alone in their class."""

import numpy as np
import pytest

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.readout.design import Design
from tests import naive


@pytest.fixture
def design(space, rng):
    Z, codes, unit = rng.normal(size=(6, 4)), np.array([0, 1, 1, 2, 0, 1]), np.ones(6)
    ZY = np.hstack([Z, np.eye(3)[codes]])
    return Design(*map(space.put, (ZY, np.ones(2), codes, unit, unit)), 3, True, np.arange(4) > 0)


def test_features_and_classes_stand_side_by_side(design, space):
    codes = space.host(design.codes)
    assert design.Z.shape == (6, 4)
    assert (space.host(design.Y) == np.eye(3)[codes]).all()
    part = design[2:5]
    assert (space.host(part.ZY) == space.host(design.ZY)[2:5]).all()
    assert (space.host(part.codes) == codes[2:5]).all()
    assert (space.host(part.Y) == np.eye(3)[codes[2:5]]).all()
    assert part.even
    assert part.changes is design.changes
    assert part.varies is design.varies


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_target_is_the_inverse_of_the_one_hot(name, design, space):
    expected = naive.f_inverse(np.eye(3)[space.host(design.codes)], name)
    np.testing.assert_allclose(space.host(design.target(space, ACTIVATIONS[name])), expected, rtol=1e-12)


def test_rows_of_a_class_that_weighs_no_more_than_they_are_alone(design, space):
    alone = design.alone(space, space.put(np.array([2.0, 3.0, 1.0])))
    assert space.host(alone).tolist() == [False, False, False, True, False, False]
