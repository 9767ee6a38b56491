"""The walk against a look at all candidates."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cogmap.core.readout.dual import descend, follow


def valley(steps, bottom):
    """Return errors that fall by these steps up to `bottom`, and rise by them after it."""
    return np.cumsum([0.0, *np.where(np.arange(len(steps)) < bottom, -1, 1) * steps])


@given(st.lists(st.floats(0.01, 9), min_size=1, max_size=9), st.data())
def test_the_lowest_of_one_valley_is_found_and_nothing_is_asked_twice(steps, data):
    bottom = data.draw(st.integers(0, len(steps)))
    errors = valley(steps, bottom)
    start = data.draw(st.integers(0, len(steps)))
    asked = []
    found = descend(lambda index: asked.append(index) or errors[index], len(errors), start)
    assert found == np.argmin(errors) == bottom
    assert len(asked) == len(set(asked)) <= abs(bottom - start) + 3


@given(st.lists(st.floats(0.01, 9), min_size=1, max_size=9), st.floats(0, 0.5), st.data())
def test_a_walk_ends_where_no_neighbour_is_worth_it(steps, worth, data):
    bottom, start = (data.draw(st.integers(0, len(steps))) for _ in range(2))
    errors = valley(steps, bottom) - min(valley(steps, bottom)) + 1
    found = descend(errors.__getitem__, len(errors), start, worth)
    assert all(errors[i] >= (1 - worth) * errors[found] for i in (found - 1, found + 1) if 0 <= i < len(errors))
    path = errors[min(start, found) : max(start, found) + 1]
    path = path if start < found else path[::-1]
    assert (path[1:] < (1 - worth) * path[:-1]).all()


@given(st.lists(st.floats(0.01, 9), min_size=1, max_size=9), st.data())
def test_no_walk_is_made_from_a_hopeless_start(steps, data):
    bottom, start = (data.draw(st.integers(0, len(steps))) for _ in range(2))
    errors, asked = valley(steps, bottom), []
    hopeless = errors[start] + data.draw(st.sampled_from([-0.001, 0.0]))
    found = descend(lambda index: asked.append(index) or errors[index], len(errors), start, 0.0, hopeless)
    assert (found, asked) == (start, [start]) if errors[start] > hopeless else found == bottom


@given(st.lists(st.floats(0.01, 9), min_size=1, max_size=9), st.data())
def test_a_slope_saves_the_other_neighbour(steps, data):
    bottom, start = (data.draw(st.integers(0, len(steps))) for _ in range(2))
    errors, asked = valley(steps, bottom), []
    slopes = np.sign(np.arange(len(errors)) - bottom)
    slopes[bottom] = data.draw(st.sampled_from([-1, 0, 1]))

    def judge(place):
        asked.append(place[0])
        return errors[place[0]], [slopes[place[0]]]

    assert follow(judge, [len(errors)], (start,), 0.0) == (np.argmin(errors),) == (bottom,)
    assert len(asked) <= abs(bottom - start) + 2


def test_no_neighbour_is_asked_where_the_slope_promises_little():
    errors, asked = 100 + (np.arange(9) - 6.0) ** 2, []

    def judge(place):
        asked.append(place[0])
        return errors[place[0]], [2 * (place[0] - 6.0)]

    # At 3 the slope is 6 of 109, at 4 it is 4 of 104, at 5 it is 2 of 101.
    assert follow(judge, [9], (2,), 0.03) == (5,)
    assert asked == [2, 3, 4, 5]


@given(st.tuples(*[st.integers(0, 6)] * 4), st.floats(-0.5, 0.5))
def test_the_bottom_of_a_bowl_is_found_along_two_penalties(places, tilt):
    """A slope of a bowl is exact; its axes may be turned a little."""
    *bottom, one, other = places

    def judge(place):
        x, y = place[0] - bottom[0], place[1] - bottom[1]
        return 9 + x * x + y * y + tilt * x * y, [2 * x + tilt * y, 2 * y + tilt * x]

    found = follow(judge, (7, 7), (one, other), 0.0)
    near = [(found[0] + i, found[1] + j) for i, j in ((0, 1), (1, 0), (0, -1), (-1, 0))]
    assert all(judge(found)[0] <= judge(place)[0] for place in near if 0 <= min(place) <= max(place) < 7)
    assert tilt or found == tuple(bottom)
