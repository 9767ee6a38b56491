"""Elementwise kernels for CUDA devices: many operations for every number, which each would read and write memory.

Torch and CuPy compile them when they are first used. The code is in the words that C++ and CUDA share, so that the
tests compile it for a CPU.
"""

import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

from .space import DeviceArray, Space


@dataclass(frozen=True)
class Kernel:
    """An elementwise function; all of its inputs and outputs have one type.

    Attributes
    ----------
    name : str
        Its name on the device.
    dtype : {"float64", "int64"}
        The type of its numbers.
    inputs, outputs : tuples of str
        The names that `code` reads and sets.
    code : str
        What it does.
    """

    name: str
    dtype: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    code: str

    def __call__(self, space: Space, *given: DeviceArray) -> tuple[DeviceArray, ...] | None:
        """Run it where there is a compiler for the device, else return None."""
        run = compiled(self, space.library) if space.cuda else None
        if run is None:
            return None
        results = run(*given)
        return tuple(results) if isinstance(results, tuple | list) else (results,)


@cache
def compiled(kernel: Kernel, library: str) -> Any:
    """Return what the library compiles; None where a future torch has no such compiler."""
    module = sys.modules[library]
    if library == "cupy":
        declared = (", ".join(f"{kernel.dtype} {name}" for name in names) for names in (kernel.inputs, kernel.outputs))
        return module.ElementwiseKernel(*declared, kernel.code, kernel.name)
    compiler = getattr(module.cuda, "jiterator", None)
    if compiler is None:
        return None
    arguments = ", ".join([f"T {name}" for name in kernel.inputs] + [f"T& {name}" for name in kernel.outputs])
    code = f"template <typename T> void {kernel.name}({arguments}) {{{kernel.code}}}"
    return compiler._create_multi_output_jit_fn(code, num_outputs=len(kernel.outputs))
