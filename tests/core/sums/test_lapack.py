"""The same digits as scipy's own wrappers, whether LAPACK is called past Python's lock or not."""

import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.linalg import lapack

from cogmap.core.sums import lapack as ours


@pytest.fixture(params=[False, True], ids=["by address", "by wrapper"])
def by_wrapper(request, monkeypatch):
    """Call LAPACK one way and the other."""
    if request.param:
        for name in ("POTRF", "POTRS", "TRTRI"):
            monkeypatch.setattr(ours, name, None)
    return request.param


def matrix(rng, n):
    """Return a positive definite one, in LAPACK's order of columns."""
    X = rng.normal(size=(n, n + 2))
    return np.asfortranarray(X @ X.T + np.eye(n))


def test_this_scipy_gives_addresses():
    assert all((ours.POTRF, ours.POTRS, ours.TRTRI))


def test_other_types_are_refused():
    assert ours._routine("dpotrf", ("char *", "long *", ours.NUMBER, "long *", "long *")) is None
    assert ours._routine("no such routine", ("int *",)) is None


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 200])
@pytest.mark.parametrize("lower", [0, 1])
def test_factor_solution_and_inverse_are_scipys(n, lower, by_wrapper, rng):
    A, B = matrix(rng, n), rng.normal(size=(n, 3))
    before = A.copy()
    factor, failed = ours.dpotrf(A, lower=lower)
    expected = lapack.dpotrf(A, lower=lower)[0]
    assert failed == 0
    assert_array_equal(factor, expected)
    assert_array_equal(A, before)  # a copy was factored
    for b in (B, B[:, 0], np.asfortranarray(B), B[:, :1]):
        assert_array_equal(ours.dpotrs(factor, b, lower=lower)[0], lapack.dpotrs(expected, b, lower=lower)[0])
    assert_array_equal(ours.dtrtri(factor, lower=lower)[0], lapack.dtrtri(expected, lower=lower)[0])
    assert_array_equal(factor, expected)


def test_factor_takes_the_place_of_the_matrix(rng):
    A = matrix(rng, 70)
    factor, _ = ours.dpotrf(A, overwrite_a=1)
    assert factor is A


def test_uncleaned_factor_keeps_the_other_triangle(by_wrapper, rng):
    A = matrix(rng, 70)
    factor, _ = ours.dpotrf(A, lower=0, clean=0)
    assert_array_equal(np.tril(factor, -1), np.tril(A, -1))
    assert_array_equal(np.triu(factor), np.triu(lapack.dpotrf(A, lower=0)[0]))


@pytest.mark.parametrize("first", [0, 1, 69])
def test_corner_is_inverted_where_it_stands(first, by_wrapper, rng):
    U = ours.dpotrf(matrix(rng, 70))[0]
    expected = lapack.dtrtri(np.asfortranarray(U[first:, first:]))[0]
    rest = U.copy()
    assert_array_equal(ours.dtrtri(U[first:, first:], overwrite_c=1)[0], expected)
    assert_array_equal(U[:first], rest[:first])


def test_matrix_in_numpys_order_is_read_as_its_transpose(by_wrapper, rng):
    K = np.tril(np.ascontiguousarray(matrix(rng, 40)))  # what is above the diagonal is not to be read
    factor, _ = ours.dpotrf(K.copy().T, lower=0, overwrite_a=1)
    np.testing.assert_allclose(factor.T @ factor, K + np.tril(K, -1).T, rtol=1e-12, atol=1e-10)


def test_indefinite_matrix_says_where_it_failed(by_wrapper):
    A = np.asfortranarray(np.diag([1.0, 2.0, -1.0, 3.0]))
    assert ours.dpotrf(A)[1] == 3


def steps_beside_a_factor(A):
    """Return how often this thread gets on while another one factors a matrix."""
    steps, started, done = 0, threading.Event(), threading.Event()

    def factor():
        started.set()
        ours.dpotrf(A)
        done.set()

    worker = threading.Thread(target=factor)
    worker.start()
    started.wait()
    while not done.is_set():
        steps += 1
        time.sleep(1e-4)
    worker.join()
    return steps


def test_other_threads_go_on(rng, monkeypatch):
    A = matrix(rng, 2000)
    by_address = steps_beside_a_factor(A)
    monkeypatch.setattr(ours, "POTRF", None)
    assert by_address > 3 * steps_beside_a_factor(A)
