"""Work side by side in threads with one BLAS thread each: every core helps, and the bits are those of one thread.

A matrix product rounds otherwise with another number of BLAS threads. Here the number of BLAS threads is always one,
whatever the number of workers, and results are handed on in the order of the work.

Easy to get wrong: a worker that starts workers of its own waits for itself. Work within work is done in turn.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

A = TypeVar("A")
B = TypeVar("B")

_THREAD = threading.local()
"""How many workers this thread may have, where BLAS does not say: it is held at one thread while they work."""


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def n_workers() -> int:
    """Return how many threads BLAS may use, which is how many a user wants; 1 within a worker."""
    known: int | None = getattr(_THREAD, "n_workers", None)
    if known is not None:
        return known
    return max((lib.num_threads for lib in _controller().lib_controllers if lib.user_api == "blas"), default=1)


def side_by_side(function: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
    """Yield the function of every item, in order; as many as there are workers are computed ahead."""
    n = n_workers()
    if n == 1:
        yield from map(function, items)
        return
    with _one_blas_thread(n), ThreadPoolExecutor(n, initializer=_begin) as pool:
        waiting: deque[Future[B]] = deque()
        try:
            for item in items:
                # Settings as numpy's errstate belong to a context, which a new thread would not have.
                waiting.append(pool.submit(copy_context().run, function, item))
                if len(waiting) > n:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@contextmanager
def _one_blas_thread(n: int) -> Iterator[None]:
    before = getattr(_THREAD, "n_workers", None)
    with _controller().limit(limits=1, user_api="blas"):
        _THREAD.n_workers = n
        try:
            yield
        finally:
            _THREAD.n_workers = before


def _begin() -> None:
    _THREAD.n_workers = 1
