"""Work side by side in threads with one BLAS thread each: every core helps, and the bits are those of one thread.

A matrix product rounds otherwise with another number of BLAS threads. Here the number of BLAS threads is always one,
whatever the number of workers, and results are handed on in the order of the work.

Easy to get wrong: a worker that starts workers of its own waits for itself. Work within work is done in turn.
"""

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

A = TypeVar("A")
B = TypeVar("B")

_THREAD = threading.local()
"""Whether this thread is a worker."""


@cache
def _libraries() -> list[Any]:
    """Return the BLAS libraries of this process."""
    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]


class _Hold:
    """BLAS at one thread for as long as any work goes on in this process, in whatever order it begins and ends.

    `n_threads` is how many BLAS had before.
    """

    def __init__(self) -> None:
        self.lock, self.n_under_way, self.n_threads = threading.Lock(), 0, 1
        self.before: list[int] = []

    def __enter__(self) -> None:
        """Hold BLAS."""
        with self.lock:
            if self.n_under_way == 0:
                self.before = [library.get_num_threads() for library in _libraries()]
                self.n_threads = max(self.before, default=1)
                self._set([1] * len(self.before))
            self.n_under_way += 1

    def __exit__(self, *error: object) -> None:
        """Let it go, if nothing else is under way."""
        with self.lock:
            self.n_under_way -= 1
            if self.n_under_way == 0:
                self._set(self.before)

    def _set(self, numbers: list[int]) -> None:
        """Set how many threads each library has; asked for a whole prediction, it must take microseconds."""
        if self.n_threads > 1:
            for library, number in zip(_libraries(), numbers, strict=True):
                library.set_num_threads(number)


_HOLD = _Hold()


def one_blas_thread() -> AbstractContextManager[None]:
    """Return a context in which BLAS has one thread, and as many workers as it had threads work side by side.

    What is computed in it has the same bits, however many threads a user has.
    """
    return _HOLD


def _blas_threads() -> int:
    return max((library.get_num_threads() for library in _libraries()), default=1)


def n_workers() -> int:
    """Return how many threads BLAS may use, which is how many a user wants; 1 within a worker."""
    if _works():
        return 1
    return _HOLD.n_threads if _HOLD.n_under_way else _blas_threads()


def side_by_side(function: Callable[[A], B], items: Iterable[A], workers: int | None = None) -> Iterator[B]:
    """Yield the function of every item, in order; as many as there are workers are computed ahead.

    There are as many workers as `n_workers` says, or as are given.
    """
    n = n_workers() if workers is None or _works() else workers
    if n == 1:
        for item in items:
            yield function(item)
        return
    with _HOLD, ThreadPoolExecutor(n, initializer=_begin) as pool:
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
            # Items that are work side by side themselves end with it, also where an error ends it.
            if isinstance(items, Generator):
                items.close()


def _works() -> bool:
    return getattr(_THREAD, "works", False)


def _begin() -> None:
    _THREAD.works = True
