"""What a device computes against what numpy does: bits where they are promised, digits elsewhere."""

import ctypes
import shutil
import subprocess
from functools import partial
from itertools import islice

import array_api_strict
import cogmap.core.device.blocks  # noqa: F401 # names the counterparts
import numpy as np
import pytest
from cogmap.core.device.factor import refined, root, states_factor
from cogmap.core.device.increments import STEP, Reasoner, operations
from cogmap.core.device.kernels import compiled
from cogmap.core.device.sampling import MIX, DeviceOutlyingness, device_keys, mixed, sample
from cogmap.core.device.scaling import DeviceConcepts, Line, rank_knots
from cogmap.core.device.source import DeviceSource, Joined
from cogmap.core.device.space import Space, gram, pieces, times_triangle
from hypothesis import given
from hypothesis import strategies as st

from cogmap.core.concepts import scaling
from cogmap.core.concepts.concepts import fit_concepts
from cogmap.core.fit import passes
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network
from cogmap.core.sums.rows import Rows, Scored
from cogmap.core.sums.sampling import Outlyingness, Sample, content_keys
from cogmap.core.sums.statistics import Factor, Scatter
from cogmap.core.trajectory.increments import Course, block_increments

SPACES = [Space(np, "cpu"), Space(array_api_strict, array_api_strict.Device("device1"))]


@pytest.fixture(params=SPACES, ids=lambda space: space.library)
def space(request):
    return request.param


@pytest.fixture
def network(rng):
    W = rng.normal(size=(4, 4))
    return Network(W / np.linalg.norm(W), rng.normal(size=4) / 4, 0.8, ACTIVATIONS["sigmoid"])


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("phi", [0.0, 0.8, 1.0])
def test_increments_are_those_of_numpy(activation, phi, space, network, rng):
    network = Network(network.weights, network.bias, phi, ACTIVATIONS[activation])
    initial = rng.random((50, 4))
    reference = initial.mean(axis=0)
    reasoner = Reasoner.of(space, network, reference, 12)
    expected = list(islice(block_increments(Course(network, reference), initial), 13))
    found = list(reasoner(space.put(initial)))
    assert len(found) == 13
    for t, ((E, moved), (linearised, whole)) in enumerate(zip(found, expected, strict=True)):
        gain = reasoner.gain if t else 1.0
        np.testing.assert_allclose(gain * space.host(E), linearised, rtol=0, atol=1e-13 * np.abs(linearised).max())
        np.testing.assert_allclose(gain * space.host(moved), whole, rtol=0, atol=1e-13 * np.abs(whole).max())


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
    given, results = (
        dict(zip(STEP.inputs, map(np.abs, arrays), strict=True)),
        compiled_for_a_cpu(STEP, tmp_path, *arrays),
    )
    for name, expected, found in zip(STEP.outputs, operations(np, *arrays), results, strict=True):
        size = np.abs(expected) if name != "E" else given["d"] + given["e_before"]
        assert (np.abs(found - expected) <= 1e-14 * (size + given["pulled"] + given["start"])).all(), name


@compiles
def test_the_hash_compiled_for_a_cpu_is_that_of_the_operations(tmp_path, rng):
    key, bits = rng.integers(-(2**63), 2**63, (2, 4000))
    (found,) = compiled_for_a_cpu(MIX, tmp_path, key, bits)
    assert (found == mixed(SPACES[0], key, bits)).all()


@pytest.mark.parametrize("kernel", [STEP, MIX], ids=lambda kernel: kernel.name)
def test_torch_takes_the_kernel(kernel):
    pytest.importorskip("torch", reason="torch is too large for CI")
    assert compiled(kernel, "torch").num_outputs == len(kernel.outputs)
    assert compiled(kernel, "torch").kernel_name == kernel.name


def test_keys_are_those_of_numpy(space, rng):
    X = rng.normal(size=(300, 3)) * 10.0 ** rng.integers(-300, 300, (300, 3))
    X[:9, 1] = -0.0
    keys = space.host(device_keys(space, [space.put(column) for column in X.T]))
    assert (keys.view(np.uint64) ^ np.uint64(2**63) == content_keys(X)).all()


def test_keys_are_those_of_numpy_in_torch(rng):
    torch = pytest.importorskip("torch", reason="torch is too large for CI")
    X = rng.normal(size=(300, 3))
    keys = device_keys(Space(torch, torch.device("cpu")), [torch.asarray(column.copy()) for column in X.T])
    assert (keys.numpy().view(np.uint64) ^ np.uint64(2**63) == content_keys(X)).all()


@pytest.mark.parametrize(("many", "sizes"), [(5, [4, 4, 3]), (8, [8, 3]), (100, [11])])
def test_narrow_blocks_are_joined_up_to_many_rows(many, sizes, space):
    parts = [Scored(*(space.put(np.full(n, 1.0 * n)) for _ in range(3))) for n in (4, 4, 3)]
    joined = list(Joined(space, lambda: parts, many)())
    assert [block.raw.shape[0] for block in joined] == sizes
    assert np.concatenate([space.host(block.weight) for block in joined]).tolist() == [4.0] * 8 + [3.0] * 3


@pytest.mark.parametrize("size", [0, 1, 40, 5000])
@pytest.mark.parametrize("ranked", [False, True])
def test_samples_are_those_of_numpy(ranked, size, space, rng):
    """With copies whose weights count together, and also where all rows are chosen."""
    X = rng.integers(0, 8, (900, 3)) * 1.0
    weight = rng.integers(1, 4, 900) * 1.0
    far = Outlyingness.from_scatter(X.mean(axis=0), np.cov(X.T) * 900)
    keys = content_keys(X)
    expected = Sample.from_block(-far(X) if ranked else np.zeros(900), keys, X, weight, size)
    rows, device = map(space.put, (X, (keys ^ np.uint64(2**63)).view(np.int64)))
    rank = -DeviceOutlyingness(space, far)(rows) if ranked else None
    found = sample(space, rank, device, (rows,), space.put(weight), size)
    assert (found.keys == expected.keys).all()
    assert (found.rows == expected.rows).all()
    assert (found.weight == expected.weight).all()
    np.testing.assert_allclose(found.rank, expected.rank, rtol=1e-9)


@pytest.mark.parametrize("limit", [2**62, 2**63 + 5, 2**64 - 1])
def test_judges_are_those_of_numpy(limit, space, rng):
    """Also of blocks in which a class has no rows."""
    given = (np.array([limit] * 6, np.uint64), 12)
    X, codes = rng.integers(0, 8, (900, 3)) * 1.0, np.sort(rng.integers(0, 4, 900))
    weight = rng.integers(1, 4, 900) * 1.0
    rows = Rows(X, codes, weight, weight / 2, 5)
    on_device = Rows(*map(space.put, (X, codes, weight, weight / 2)), 5)
    for block_rows in (900, 128):
        found = DeviceSource.of(space, on_device, False, block_rows, block_rows).reduce(partial(passes._kept, *given))
        for one, other in zip(found.parts, passes._kept(*given, rows).parts, strict=True):
            for name in ("keys", "rows", "weight"):
                assert (getattr(one, name) == getattr(other, name)).all()


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=40).filter(lambda x: len(set(x)) > 1), st.booleans())
def test_knots_are_those_of_a_sort_with_ties(values, weighted):
    """Numbers that tie exactly, nearly, or not."""
    column = np.array(values) * 0.5 + 1e-12 * np.arange(len(values))
    weight = 1.0 + np.arange(len(values)) % 3 if weighted else np.ones(len(values))
    expected = scaling.rank_knots(column, weight)
    for space in SPACES:
        found = rank_knots(space, space.put(column), space.put(weight) if weighted else None)
        assert all((a == b).all() for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("weighted", [False, True])
def test_knots_of_more_values_than_are_kept(weighted, space, rng):
    column, weight = rng.normal(size=7000).round(3), rng.integers(1, 5, 7000) * 1.0 if weighted else np.ones(7000)
    found = rank_knots(space, space.put(column), space.put(weight) if weighted else None)
    for a, b in zip(found, scaling.rank_knots(column, weight), strict=True):
        assert (a == b).all()


def test_scaled_values_have_the_bits_of_numpy(space, rng):
    values = np.repeat(np.sort(rng.normal(size=20)), 2)
    heights = np.repeat(np.sort(rng.random(20)), 2)
    x = np.r_[rng.normal(size=300) * 2, values]
    assert (space.host(Line.of(space, values, heights)(space.put(x))) == np.interp(x, values, heights)).all()


@pytest.mark.parametrize("terms", [None, 3])
def test_concepts_are_those_of_numpy(terms, space, rng):
    X = np.c_[rng.normal(size=(400, 2)), np.ones(400), rng.integers(0, 2, 400)]
    concepts = fit_concepts(X, np.ones(400), "halfway", terms, (0.0, 1.0))
    assert (space.host(DeviceConcepts.of(space, concepts).of_rows(space.put(X))) == concepts(X)).all()


@pytest.mark.parametrize("p", [1, 255, 256, 257, 700])
def test_pieces_of_products(p, rng):
    F, T = rng.normal(size=(30, p)), np.triu(rng.normal(size=(p, p)))
    assert [end for _, end in pieces(p)][-1] == p
    np.testing.assert_allclose(np.triu(gram(SPACES[0], F)), np.triu(F.T @ F), atol=1e-12)
    np.testing.assert_allclose(times_triangle(SPACES[0], F, T), F @ T, atol=1e-11)


def test_the_gram_matrix_of_few_columns_and_many_rows(space, rng):
    F = rng.normal(size=(33_000, 3))
    np.testing.assert_allclose(np.triu(space.host(gram(space, space.put(F)))), np.triu(F.T @ F), rtol=1e-11, atol=1e-9)


def test_a_factor_keeps_small_singular_values(space, rng):
    """As Householder reflections do; the Gram matrix alone would leave nothing below 1e-8 of the largest."""
    U = np.linalg.qr(rng.normal(size=(2000, 5)))[0]
    Z = (U * np.array([1, 1e-3, 1e-6, 1e-9, 1e-11])) @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    Z -= Z.mean(axis=0)
    expected = np.linalg.svd(Z, compute_uv=False)
    source = DeviceSource(space, lambda: iter([space.put(Z[:700]), space.put(Z[700:])]), 2000, True)
    known = Scatter(2000.0, np.zeros(5), Z.T @ Z)
    found = np.linalg.svd(refined(source, lambda block: (block, None), known), compute_uv=False)
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    once = np.linalg.svd(root(known.gram), compute_uv=False)
    assert (np.abs(once - expected)[-2:] > 0.5 * expected[-2:]).all()


@pytest.mark.parametrize("activation", [None, "sigmoid"])
def test_the_factor_of_the_concepts_has_the_gram_matrix_of_numpys(activation, space, rng):
    X, weight = rng.normal(size=(500, 3)), rng.integers(1, 4, 500) * 1.0
    concepts = fit_concepts(X, weight, "halfway", None, (0.0, 1.0))
    states = concepts(X)
    others = [] if activation is None else [ACTIVATIONS[activation].inverse(states)]
    expected = Factor.from_block(states, weight, *others)
    rows = Rows(*map(space.put, (X, np.zeros(500, dtype=np.int64), weight, weight)), 2)
    started = DeviceSource.of(space, rows, False, 130, 50).map(partial(passes._initial, concepts), 5)
    found = states_factor(started, activation)
    np.testing.assert_allclose(found.R.T @ found.R, expected.R.T @ expected.R, rtol=1e-12)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    assert found.total == pytest.approx(weight.sum())
    assert found.size == pytest.approx(expected.size)
    assert found.n_rows == expected.n_rows
