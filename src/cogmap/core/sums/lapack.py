"""Cholesky factors, their inverses and what they solve: LAPACK, while other threads work too.

scipy's wrappers keep Python's lock for as long as a factor takes, so that of two threads one waits. The same routines
are called here by the addresses that scipy gives to compiled code, through ctypes, which lets go of the lock: same
library, same bits. Where a scipy gives other types than are known here, its wrappers serve, one thread at a time.

Easy to get wrong: LAPACK reads columns one after another. A symmetric matrix in numpy's order is handed on as its
transpose, which is the same matrix, with its lower triangle as the upper one.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.linalg import cython_lapack, lapack

from ..types import Array
from .space import slices

STRIP = 64
"""Columns that are cleaned at a time."""

NUMBER = "__pyx_t_5scipy_6linalg_13cython_lapack_d *"
"""What scipy calls an array of doubles."""


# Prototypes of our own: those of `ctypes.pythonapi` belong to all who use it.
_named = (ctypes.py_object, ctypes.c_char_p)
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, *_named)(("PyCapsule_IsValid", ctypes.pythonapi))
_address = ctypes.PYFUNCTYPE(ctypes.c_void_p, *_named)(("PyCapsule_GetPointer", ctypes.pythonapi))


def _routine(name: str, types: Sequence[str]) -> Callable[..., None] | None:
    """Return a routine of LAPACK as a function of pointers; None where scipy's takes other types."""
    capsule = getattr(cython_lapack, "__pyx_capi__", {}).get(name)
    signature = f"void ({', '.join(types)})".encode()
    if capsule is None or not _is_valid(capsule, signature):
        return None
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(types))(_address(capsule, signature))


POTRF = _routine("dpotrf", ("char *", "int *", NUMBER, "int *", "int *"))
POTRS = _routine("dpotrs", ("char *", "int *", "int *", NUMBER, "int *", NUMBER, "int *", "int *"))
TRTRI = _routine("dtrtri", ("char *", "char *", "int *", NUMBER, "int *", "int *"))


def dpotrf(a: Array, lower: int = 0, overwrite_a: int = 0, clean: int = 1) -> tuple[Array, int]:
    """Return the Cholesky factor of a matrix, and 0, or at which column it failed; as `scipy.linalg.lapack.dpotrf`."""
    if POTRF is None:
        factor, failed = lapack.dpotrf(a, lower=lower, overwrite_a=overwrite_a, clean=clean)
        return factor, int(failed)
    factor = _own(a, overwrite_a)
    failed = _called(POTRF, _side(lower), len(factor), factor)
    return clean_side(factor, lower) if clean else factor, failed


def clean_side(triangle: Array, lower: int = 0) -> Array:
    """Set to 0 what is on the other side of a triangle, and return it."""
    for strip in slices(len(triangle), STRIP):
        block = triangle[strip, strip]
        block[...] = np.tril(block) if lower else np.triu(block)
        (triangle[: strip.start, strip] if lower else triangle[strip.stop :, strip])[...] = 0.0
    return triangle


def dpotrs(c: Array, b: Array, lower: int = 0) -> tuple[Array, int]:
    """Solve with a Cholesky factor; as `scipy.linalg.lapack.dpotrs`."""
    if POTRS is None:
        solved, failed = lapack.dpotrs(c, b, lower=lower)
        return solved, int(failed)
    solved = np.array(b, dtype=np.float64, order="F")
    n_columns = solved.shape[1] if solved.ndim == 2 else 1
    return solved, _called(POTRS, _side(lower), len(c), n_columns, _own(c, 1), solved)


def dtrtri(c: Array, lower: int = 0, overwrite_c: int = 0) -> tuple[Array, int]:
    """Return the inverse of a triangle; what is on the other side of it stays. As `scipy.linalg.lapack.dtrtri`."""
    if TRTRI is None:
        inverse, failed = lapack.dtrtri(c, lower=lower, overwrite_c=overwrite_c)
        return inverse, int(failed)
    inverse = _own(c, overwrite_c)
    return inverse, _called(TRTRI, _side(lower), b"N", len(inverse), inverse)


def _side(lower: int) -> bytes:
    return b"L" if lower else b"U"


def _own(a: Array, overwrite: int) -> Array:
    """Return a matrix whose columns LAPACK reads: itself where it may be overwritten and has them, else a copy."""
    if overwrite and a.dtype == np.float64 and (a.flags.f_contiguous or _columns_apart(a)):
        return a
    return np.array(a, dtype=np.float64, order="F")


def _columns_apart(a: Array) -> bool:
    """Say whether each column is in one piece: those of a corner of a matrix are, with others between them."""
    step = a.itemsize
    return min(a.shape) > 1 and a.strides[0] == step and a.strides[1] >= len(a) * step and a.strides[1] % step == 0


def _called(routine: Callable[..., None], *values: bytes | int | Array) -> int:
    """Call a routine; each array is followed by the distance of its columns, and all by what went wrong."""
    failed = ctypes.c_int()
    arguments: list[Any] = []
    for value in values:
        if isinstance(value, np.ndarray):
            apart = value.strides[1] // value.itemsize if value.ndim == 2 and value.shape[1] > 1 else len(value)
            arguments += [value.ctypes.data, ctypes.byref(ctypes.c_int(max(apart, 1)))]
        else:
            arguments.append(value if isinstance(value, bytes) else ctypes.byref(ctypes.c_int(value)))
    routine(*arguments, ctypes.byref(failed))
    return failed.value
