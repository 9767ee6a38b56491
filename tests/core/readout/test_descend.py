"""The walk against a look at all candidates."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cogmap.core.readout.dual import descend, follow


@given(st.lists(st.floats(0.01, 9), min_size=1, max_size=9), st.data())
def test_the_lowest_of_one_valley_is_found_and_nothing_is_asked_twice(steps, data):
    bottom = data.draw(st.integers(0, len(steps)))
    errors = np.cumsum([0.0, *np.where(np.arange(len(steps)) < bottom, -1, 1) * steps])
    start = data.draw(st.integers(0, len(steps)))
    asked = []
    found = descend(lambda index: asked.append(index) or errors[index], len(errors), start)
    assert found == np.argmin(errors) == bottom
    assert len(asked) == len(set(asked)) <= abs(bottom - start) + 3


@given(st.lists(st.floats(0.01, 9), min_size=1, max_size=9), st.data())
def test_a_slope_saves_the_other_neighbour(steps, data):
    bottom = data.draw(st.integers(0, len(steps)))
    errors = np.cumsum([0.0, *np.where(np.arange(len(steps)) < bottom, -1, 1) * steps])
    slopes = np.sign(np.arange(len(errors)) - bottom)
    slopes[bottom] = data.draw(st.sampled_from([-1, 0, 1]))
    start, asked = data.draw(st.integers(0, len(steps))), []
    found = follow(lambda index: asked.append(index) or (errors[index], slopes[index]), len(errors), start)
    assert found == np.argmin(errors) == bottom
    assert len(asked) <= abs(bottom - start) + 2
