"""tanh(u) and tanh(u) − u against 60-digit arithmetic, by every formula."""

import mpmath
import numpy as np
import pytest

from cogmap.core.trajectory.tanh import REACHES, n_terms, tanh_minus_identity, tanh_parts


def test_tanh_and_what_it_lacks_are_accurate_for_small_and_large_arguments():
    u = np.concatenate([sign * np.logspace(-12, 2, 5000) for sign in (-1, 1)])
    with mpmath.workdps(60):
        exact = [(mpmath.tanh(v), mpmath.tanh(v) - v) for v in map(mpmath.mpf, u.tolist())]
    layouts = u, u.reshape(100, 100), u.reshape(100, 100, order="F"), np.repeat(u, 2)[::2]
    for given, order in zip(layouts, "CCFC", strict=True):
        for found, truth in zip(tanh_parts(given), zip(*exact, strict=True), strict=True):
            np.testing.assert_allclose(found.ravel(order=order), np.array(truth, dtype=float), rtol=3e-15)


@pytest.mark.parametrize("terms", range(1, len(REACHES) + 1))
def test_the_series_is_accurate_and_left_where_it_is_not(terms):
    edge = REACHES[terms - 1] ** 0.5
    u = np.concatenate([edge * np.logspace(-9, 0, 500), -edge * np.linspace(1, 40, 50)])
    with mpmath.workdps(60):
        exact = [(mpmath.tanh(v), mpmath.tanh(v) - v) for v in map(mpmath.mpf, u.tolist())]
    for found, truth in zip(tanh_parts(u, terms), zip(*exact, strict=True), strict=True):
        np.testing.assert_allclose(found, np.array(truth, dtype=float), rtol=3e-15)


def test_a_number_is_treated_alike_in_any_company():
    u = np.concatenate([np.logspace(-9, 1, 100), -np.logspace(-9, 1, 100)])
    for terms in range(len(REACHES) + 1):
        whole = tanh_parts(u, terms)
        for k in range(0, 200, 7):
            for part, alone in zip(whole, tanh_parts(u[k : k + 1], terms), strict=True):
                assert part[k] == alone[0]


def test_small_arguments_need_few_terms():
    assert [n_terms(u) for u in (1e-9, 1e-4, 0.01, 0.5)] == [1, 2, 4, 0]
    for u in np.logspace(-10, -1.5, 50):
        assert u * u < REACHES[n_terms(u) - 1]


def test_tanh_minus_identity_by_operations_is_accurate_in_every_space(space):
    u = np.concatenate([sign * np.logspace(-12, 2, 500) for sign in (-1, 1)])
    with mpmath.workdps(60):
        exact = [float(mpmath.tanh(v) - v) for v in map(mpmath.mpf, u.tolist())]
    there = space.put(u)
    ours = space.host(tanh_minus_identity(space.xp, there, space.xp.tanh(there)))
    np.testing.assert_allclose(ours, exact, rtol=3e-15)
