"""Kernels for CUDA devices, compiled for a CPU, against the operations that other libraries do in their place."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from cogmap.core.sums.kernels import compiled
from cogmap.core.sums.sampling import MIX, mixed
from cogmap.core.sums.space import NUMPY
from cogmap.core.trajectory.increments import STEP, operations


def compiled_for_a_cpu(kernel, folder, *arrays):
    """Return what a kernel does, compiled by g++."""
    kind = {"float64": "double", "int64": "long long"}[kernel.dtype]
    declared = [f"const {kind}* {name}_" for name in kernel.inputs] + [f"{kind}* {name}_" for name in kernel.outputs]
    read = "".join(f"const {kind} {name} = {name}_[i];" for name in kernel.inputs)
    write = "".join(f"{name}_[i] = {name};" for name in kernel.outputs)
    body = f"{{ {read} {kind} {', '.join(kernel.outputs)}; {kernel.code} {write} }}"
    loop = f"void run({', '.join(['long n', *declared])}) {{ for (long i = 0; i < n; i++) {body} }}"
    (folder / "kernel.cpp").write_text(f'#include <math.h>\nextern "C" {loop}')
    subprocess.run(["g++", "-shared", "-fPIC", "-O1", "-o", "kernel.so", "kernel.cpp"], cwd=folder, check=True)
    outputs = [np.empty_like(arrays[0]) for _ in kernel.outputs]
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *outputs)]
    ctypes.CDLL(str(folder / "kernel.so")).run(ctypes.c_long(len(arrays[0])), *pointers)
    return outputs


compiles = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++ to compile the kernel with")


@compiles
def test_the_step_compiled_for_a_cpu_does_what_the_operations_do(tmp_path, rng):
    # From far below the rounding of 1 to far beyond saturation, with both branches of the fraction.
    arrays = [rng.normal(size=4000) * 10.0 ** rng.uniform(-9, 1, 4000) for _ in STEP.inputs]
    given = dict(zip(STEP.inputs, map(np.abs, arrays), strict=True))
    results = compiled_for_a_cpu(STEP, tmp_path, *arrays)
    pulled, start, *others = arrays
    for name, expected, result in zip(STEP.outputs, operations(np, pulled + start, *others), results, strict=True):
        size = np.abs(expected) if name != "E" else given["d"] + given["e_before"]
        assert (np.abs(result - expected) <= 1e-14 * (size + given["pulled"] + given["start"])).all(), name


@compiles
def test_the_hash_compiled_for_a_cpu_is_that_of_the_operations(tmp_path, rng):
    key, bits = rng.integers(-(2**63), 2**63, (2, 4000))
    (result,) = compiled_for_a_cpu(MIX, tmp_path, key, bits)
    assert (result == mixed(NUMPY, key, bits)).all()


@pytest.mark.parametrize("kernel", [STEP, MIX], ids=lambda kernel: kernel.name)
def test_torch_takes_the_kernel(kernel):
    pytest.importorskip("torch", reason="torch is too large for CI")
    assert compiled(kernel, "torch").num_outputs == len(kernel.outputs)
    assert compiled(kernel, "torch").kernel_name == kernel.name


@pytest.mark.parametrize("kernel", [STEP, MIX], ids=lambda kernel: kernel.name)
def test_without_a_compiler_for_the_device_there_is_none(kernel, space):
    assert kernel(space, *(space.put(np.zeros(3)) for _ in kernel.inputs)) is None
