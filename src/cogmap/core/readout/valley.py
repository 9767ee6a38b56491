"""The lowest of a row of candidates whose error has one valley, without trying them all."""

from collections.abc import Callable


def descend(error: Callable[[int], float], n: int, start: int) -> int:
    """Walk downhill from candidate `start` among 0 … n − 1 to one that no neighbour undercuts.

    Each error is asked for once.
    """
    known: dict[int, float] = {}

    def remembered(index: int) -> float:
        if index not in known:
            known[index] = error(index)
        return known[index]

    best = start
    while True:
        near = [i for i in (best - 1, best, best + 1) if 0 <= i < n]
        lowest = min(near, key=remembered)
        if lowest == best:
            return best
        best = lowest
