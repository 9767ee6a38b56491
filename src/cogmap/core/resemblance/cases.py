"""Cases: training rows remembered beside the network, for problems where neighbours matter.

A case is the product of all its features' terms "x_j is about v_j": it answers how much a row resembles one training
row, exp(−‖x − v‖ / unit), in a metric that divides by the features' covariance (plus a ridge). Cases and innovations
are read together: minimise Σ_i w_i ‖y_i − q − f(x_i)‖² + α ‖f‖², where f lives in the sum of the two kernels,

    K(x, v) = exp(−‖x − v‖ / unit) + c Σ_t decayᵗ (n / M) q_t(x) q_t(v)ᵀ.

The innovations' part stays a readout of the states; the cases' part is a sum over remembered rows.

Easy to get wrong: the dual solution a solves (K + α W⁻¹) a = y − q with Σa = 0. Its leave-one-out needs the diagonal of
the inverse *with* the free constant q: P = G − g gᵀ / Σg, where G = (K + α W⁻¹)⁻¹ and g = G 1.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..constants import CASE_DECAY, CASE_PENALTIES, CASE_RIDGES, CASE_SAMPLES, CASE_START, TRAJECTORY_SHARE
from ..network.reasoning import Network
from ..readout.dual import descend
from ..readout.shrunken import ShrunkReadout, gate_caps
from ..readout.states import leave_one_out
from ..readout.terms import Terms
from ..sums.lapack import clean_side, dpotrf, dpotrs, dtrtri
from ..sums.space import NUMPY, DeviceArray, Space
from ..trajectory.innovations import Basis
from ..types import Array, Codes
from .distance import Metric, coordinates, lower_kernel, resemblance
from .metric import fit_metric
from .remembered import Remembered


class Dual(NamedTuple):
    """Dual coefficients, constant, fitted and leave-one-out scores, and the trace of the smoother."""

    coefficients: Array
    constant: Array
    fitted: Array
    outside: Array
    degrees_of_freedom: float


def solve_dual(K: Array, target: Array, sample_weight: Array, unit: Array, alpha: float, first: int = 0) -> Dual:
    """Solve for one penalty; reads the lower triangle of K and overwrites it.

    One Cholesky factor U and its inverse: G = U⁻¹ U⁻ᵀ, so the diagonal of G is the squared norm of U⁻¹'s lines. Only
    rows from `first` on are left out, and are in the trace: their lines are the last corner of U⁻¹, which is the
    inverse of the corner of U.
    """
    n = len(target)
    penalty = alpha / sample_weight
    K[np.diag_indices(n)] += penalty
    # K is symmetric, and its lower triangle in numpy's order is the upper one in LAPACK's: nothing is copied.
    U, _ = dpotrf(K.T, lower=0, overwrite_a=1, clean=0)
    solved, _ = dpotrs(U, np.column_stack([np.ones(n), target]), lower=0)
    ones, a = solved[:, 0], solved[:, 1:]
    # The constant is free: it takes what makes the dual coefficients sum to 0.
    constant = ones @ target / ones.sum()
    a = a - np.outer(ones, constant)
    # (K + α W⁻¹) a = y − q: what a ridge leaves of the target is the penalty times a, without a product with K.
    fitted = target - penalty[:, None] * a
    corner = clean_side(dtrtri(U[first:, first:], lower=0, overwrite_c=1)[0])
    # Of P, not of G: the constant's own leverage is in it, and is not to be added.
    diagonal = np.einsum("ij,ij->i", corner, corner) - ones[first:] ** 2 / ones.sum()
    smoother = 1 - penalty[first:] * diagonal
    leverage = smoother / sample_weight[first:]
    outside = leave_one_out(NUMPY, target[first:], fitted[first:], leverage, unit[first:])
    return Dual(a, constant, fitted, outside, float(smoother.sum()))


@dataclass(frozen=True)
class CaseReadout:
    """A readout of the states, and one dual coefficient for each remembered row and class."""

    trajectory: ShrunkReadout
    metric: Metric
    cases: Array
    coefficients: Array

    @property
    def n_iter(self) -> int:
        """Number of iterations that it reads."""
        return self.trajectory.n_iter

    def resemblance(self, space: Space, initial: DeviceArray) -> DeviceArray:
        """Return how much rows with these initial states resemble each case, shape (n, n_cases)."""
        return resemblance(space, self.metric, coordinates(space, self.metric, initial), self.cases)

    def terms(self, space: Space, network: Network, initial: DeviceArray) -> Terms:
        """Return the raw class scores of rows with these initial states as sums over innovations and cases."""
        if space.numpy:
            added = self.remembered()(initial)
        else:
            added = self.resemblance(space, initial) @ space.put(self.coefficients)
        return replace(self.trajectory.terms(space, network, initial), cases=added)

    def remembered(self) -> Remembered:
        """Return what the cases add in numpy."""
        return Remembered([(self.metric, self.cases, self.coefficients, np.zeros(self.coefficients.shape[1]))])

    def states(self, chosen: Codes) -> Array:
        """Return the initial states of some cases."""
        return self.metric.states(self.cases[chosen])

    def outer(self, network: Network) -> tuple[Array, Array]:
        """Return the outer weights on the states and their bias; the cases are not among them."""
        return self.trajectory.outer(network)


class CaseFit(NamedTuple):
    """A readout with cases, its scores of the training rows from inside and outside, and what was chosen."""

    readout: CaseReadout
    fitted: Array
    outside: Array
    alpha: float
    condition: float
    degrees_of_freedom: float


def fit_cases(
    initial: Array,
    reference: Array,
    basis: Basis,
    Q: Array,
    active: NDArray[np.bool_],
    target: Array,
    sample_weight: Array,
    unit: Array,
) -> CaseFit:
    """Fit cases and innovations together; `active` says which rows still reason at each iteration, (n, T + 1)."""
    total, sizes = sample_weight.sum(), np.diff([1, *basis.ends])
    importance = TRAJECTORY_SHARE * CASE_DECAY ** np.arange(len(sizes)) * total / initial.shape[1]
    gated = Q[:, 1:] * np.repeat(active, sizes, axis=1)
    features = gated * np.sqrt(np.repeat(importance, sizes))

    metric, alpha, dual = _chosen(initial, features, target, sample_weight, unit)
    cases = metric(initial)
    if dual is None:
        dual = solve_dual(lower_kernel(metric, cases, features), target, sample_weight, unit, alpha)
    # The largest eigenvalue of the kernel is below its trace, and the smallest penalty bounds the smallest from below.
    trace = len(cases) + np.einsum("ij,ij->", features, features)
    condition = (trace + alpha / sample_weight.min()) / (alpha / sample_weight.max())
    # Column 0 of Q is 1 / √Σw. Features of a row and of the cases have the root of the importance each: together it
    # stands in the place of a shrink factor.
    coefficients = np.vstack([dual.constant * np.sqrt(total), gated.T @ dual.coefficients])
    trajectory = ShrunkReadout(reference, basis, coefficients, importance, gate_caps(basis.ends, total))
    readout = CaseReadout(trajectory, metric, cases, dual.coefficients)
    return CaseFit(readout, dual.fitted, dual.outside, alpha, float(condition), dual.degrees_of_freedom)


def _chosen(
    initial: Array, features: Array, target: Array, sample_weight: Array, unit: Array
) -> tuple[Metric, float, Dual | None]:
    """Choose metric and penalty by leave-one-out on samples of the rows; add the solution where the sample was all.

    Where all rows are in the first sample, and so are few, a metric that trusts the covariance less is tried too.
    """
    n = len(target)
    walks = []
    for ridge in CASE_RIDGES if n <= CASE_SAMPLES[0] else CASE_RIDGES[:1]:
        metric, start = fit_metric(initial, sample_weight, ridge), CASE_START
        for size in CASE_SAMPLES:
            rows = sample_rows(target.argmax(axis=1), size)
            K = lower_kernel(metric, metric(initial[rows]), features[rows])
            error, start, dual = best_penalty(K, target[rows], sample_weight[rows], unit[rows], start)
            if n <= size:
                break
        walks.append((error, metric, float(CASE_PENALTIES[start]), dual if n <= size else None))
    return min(walks, key=lambda walk: walk[0])[1:]


def best_penalty(K: Array, target: Array, sample_weight: Array, unit: Array, start: int) -> tuple[float, int, Dual]:
    """Walk downhill in leave-one-out squared error from penalty `start`; return least error, its index and solution.

    The error has one valley in practice.
    """
    known: dict[int, tuple[float, Dual]] = {}

    def error(index: int) -> float:
        dual = solve_dual(K.copy(), target, sample_weight, unit, CASE_PENALTIES[index])
        known[index] = float(sample_weight @ ((target - dual.outside) ** 2).sum(axis=1)), dual
        return known[index][0]

    best = descend(error, len(CASE_PENALTIES), start)
    return known[best][0], best, known[best][1]


def sample_rows(codes: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """Return at most `size` rows, drawn with a fixed seed and spread over the classes.

    They do not depend on the order in which a user gave the rows: merging copies gave them an order of their own.
    """
    n = len(codes)
    if n <= size:
        return np.arange(n)
    order = np.random.default_rng(0).permutation(n)
    by_class = order[np.argsort(codes[order], kind="stable")]
    return by_class[np.linspace(0, n - 1, size).astype(np.intp)]
