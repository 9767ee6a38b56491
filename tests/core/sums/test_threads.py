"""Work side by side: in order, the same bits for any number of workers, errors of workers, and work within work."""

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from cogmap.core.sums import threads
from cogmap.core.sums.threads import n_workers, side_by_side


@pytest.fixture(params=[1, 2, 4])
def workers(request, monkeypatch):
    """Let so many threads work, but one in a worker."""
    let_work(monkeypatch, request.param)
    yield request.param
    assert threads._HOLD.n_under_way == 0


def let_work(monkeypatch, n):
    monkeypatch.setattr(threads, "n_workers", lambda: 1 if in_a_worker() else n)


def in_a_worker():
    return getattr(threads._THREAD, "works", False)


def blas_threads():
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


def test_results_come_in_the_order_of_the_items(workers):
    def late(i):
        time.sleep(0.002 * (i % 3 == 0))
        return i, threading.get_ident()

    results = list(side_by_side(late, range(40)))
    assert [i for i, _ in results] == list(range(40))
    own = threading.get_ident()
    assert {thread for _, thread in results} == {own} if workers == 1 else own not in {t for _, t in results}


def test_products_have_the_same_bits_for_any_number_of_workers(rng, monkeypatch):
    blocks = rng.normal(size=(9, 300, 70))
    results = []
    for n in (1, 2, 4):
        let_work(monkeypatch, n)
        results.append(np.array(list(side_by_side(lambda X: X.T @ X, blocks))))
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all()


def test_blas_has_one_thread_while_workers_work(monkeypatch):
    let_work(monkeypatch, 2)
    before = blas_threads()
    assert list(side_by_side(lambda _: blas_threads(), range(5))) == [1] * 5
    assert blas_threads() == before


def test_an_error_of_a_worker_is_raised_after_the_results_before_it(workers):
    def fails(i):
        if i == 3:
            raise KeyError(i)
        return i

    walk = side_by_side(fails, range(50))
    assert [next(walk) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError, match="3"):
        next(walk)
    assert list(walk) == []


def test_work_that_stops_an_iteration_ends_no_walk_in_silence(workers):
    def ends(i):
        return i if i < 3 else next(iter(()))

    with pytest.raises((RuntimeError, StopIteration)):
        [*side_by_side(ends, range(9))]


def test_items_are_taken_only_a_little_ahead_of_the_results(workers):
    taken = []
    walk = side_by_side(lambda i: i, (taken.append(i) or i for i in range(100)))
    next(walk)
    assert len(taken) <= workers + 1
    walk.close()


def test_work_within_work_is_done_in_turn(workers):
    def inner(i):
        return [(j, threads.n_workers()) for j in side_by_side(lambda j: (i, j), range(3))]

    results = list(side_by_side(inner, range(8)))
    assert [[place for place, _ in part] for part in results] == [[(i, j) for j in range(3)] for i in range(8)]
    if workers > 1:
        assert {n for part in results for _, n in part} == {1}


def test_two_walks_may_interleave(workers):
    one, other = side_by_side(lambda i: i, range(20)), side_by_side(lambda i: -i, range(20))
    assert list(zip(one, other, strict=True)) == [(i, -i) for i in range(20)]


def test_an_error_lets_work_go_on_whose_items_are_work_too(workers):
    """A pass over what an earlier pass gives: the one within must not outlive the one around it."""
    before = blas_threads()
    walk = side_by_side(lambda i: 1 // (5 - i), side_by_side(lambda i: i, range(20)))
    with pytest.raises(ZeroDivisionError) as error:
        list(walk)
    assert blas_threads() == before
    assert threads._HOLD.n_under_way == 0
    assert error.value.__traceback__ is not None


def test_settings_of_numpy_hold_in_the_workers(workers):
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        list(side_by_side(lambda x: np.ones(1) / x, [np.zeros(1)]))


def test_without_items_there_are_no_results(workers):
    assert list(side_by_side(lambda i: i, [])) == []


def test_there_are_as_many_workers_as_blas_threads():
    assert n_workers() == blas_threads()
