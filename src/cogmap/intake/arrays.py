"""Arrays of other libraries than numpy, under scikit-learn's `array_api_dispatch`: where they are, and what is wrong.

Easy to get wrong: without the dispatch, a torch tensor on the CPU is an array-like that numpy can read, and is treated
as such; so it is here.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from ..core.sums.space import DeviceArray, Space


def space_of(array: Any) -> Space | None:
    """Return where an array is; None for numpy, for what is no array, and without the dispatch."""
    if not get_config()["array_api_dispatch"] or isinstance(array, (np.ndarray, np.generic)):
        return None
    if not (hasattr(array, "__array_namespace__") or hasattr(array, "__dlpack__")):
        return None
    # Not public in scikit-learn, so it is needed only where its dispatch is.
    from sklearn.utils._array_api import get_namespace

    return Space(get_namespace(array)[0], array.device)


def on_host(array: Any) -> Any:
    """Return an array of another library as numpy's; anything else as it is."""
    space = space_of(array)
    return array if space is None else space.host(array)


def check_same_space(X: Any, **others: Any) -> None:
    """Raise an error where another array is not where X is; text is in numpy everywhere, and a list is nowhere."""
    here = space_of(X)
    for name, array in others.items():
        there = space_of(array)
        numpy = isinstance(array, np.ndarray) and array.dtype.kind in "biuf"
        if there != here and (there is not None or numpy):
            raise ValueError(
                f"X is an array of {_described(here)} and {name} one of {_described(there)}: give all of them in one "
                "library and on one device."
            )


def _described(space: Space | None) -> str:
    return "numpy" if space is None else f"{space.library} on {space.device}"


def labels_of(space: Space, classes: NDArray[Any], codes: DeviceArray) -> Any:
    """Return the classes of codes: numbers where the codes are, text in numpy."""
    if classes.dtype.kind in "biuf":
        return space.xp.take(space.put(classes), codes)
    return classes[space.host(codes)]
