"""A ridge over columns that are never held: from the singular values and left vectors of their LQ factor.

With Z the columns, standardised, rows times √w, the fit shrinks direction j by S_j² / (S_j² + α), and its dual form is
U (S² + α)⁻¹ Uᵀ ỹ. The factor is gathered block by block, so that small singular values keep their digits: a Gram matrix
ZZᵀ would square the condition.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ..network.reasoning import Network
from ..sums.space import NUMPY
from ..trajectory.increments import Course
from ..types import Array
from .states import leave_one_out


@dataclass(frozen=True)
class Problem:
    """Weighted rows whose increments over `n_iter` iterations are read; iteration t is weighted by `decay`ᵗ.

    `unit` is the weight that leaving a row out takes away.
    """

    network: Network
    initial: Array
    reference: Array
    sample_weight: Array
    unit: Array
    n_iter: int
    decay: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of Z."""
        n, n_concepts = self.initial.shape
        return n, n_concepts * (self.n_iter + 1)

    @property
    def root(self) -> Array:
        """√w as a column."""
        return np.sqrt(self.sample_weight)[:, None]

    @property
    def course(self) -> Course:
        """The network and the trajectory of the reference row."""
        return Course(NUMPY, self.network, self.reference)

    def mean(self, values: Array) -> Array:
        """Return the weighted mean of the rows."""
        mean: Array = self.sample_weight @ values / self.sample_weight.sum()
        return mean


class Spectrum(NamedTuple):
    """Left singular vectors and singular values of Z."""

    U: Array
    S: Array

    def kept(self, alpha: float) -> Array:
        """Return the share of each direction that a penalty leaves."""
        return self.S**2 / (self.S**2 + alpha)

    def condition(self, alpha: float) -> float:
        """Return the condition number of the penalised problem."""
        return float(np.sqrt((self.S[0] ** 2 + alpha) / (self.S[-1] ** 2 + alpha))) if len(self.S) else 1.0


def spectrum_of(blocks: Iterable[Array], n: int, n_columns: int) -> Spectrum:
    """Return the singular system of blocks of columns side by side; of a wide matrix only the LQ factor is gathered."""
    gathered = np.empty((n, 0))
    for block in blocks:
        gathered = np.hstack([gathered, block])
        if gathered.shape[1] > n:
            gathered = np.asarray(np.linalg.qr(gathered.T, mode="r")).T
    U, S, _ = linalg.svd(gathered, full_matrices=False, check_finite=False)
    kept = max(n, n_columns) * np.finfo(np.float64).eps * S.max(initial=0.0) < S
    return Spectrum(U[:, kept], S[kept])


def smooth(problem: Problem, spectrum: Spectrum, target: Array, alpha: float) -> tuple[Array, Array]:
    """Return fitted values and exact leave-one-out predictions for one penalty."""
    mean, weight = problem.mean(target), problem.sample_weight
    kept = spectrum.kept(alpha)
    fitted = mean + ((spectrum.U * kept) @ (spectrum.U.T @ (problem.root * (target - mean)))) / problem.root
    leverage = 1 / weight.sum() + (spectrum.U**2 @ kept) / weight
    return fitted, leave_one_out(NUMPY, target, fitted, leverage, problem.unit)


def dual_of(problem: Problem, spectrum: Spectrum, target: Array, alpha: float) -> Array:
    """Return (ZZᵀ + αI)⁻¹ ỹ, shape (n, N): what a row pulls its class scores by."""
    pull: Array = (spectrum.U / (spectrum.S**2 + alpha)) @ (
        spectrum.U.T @ (problem.root * (target - problem.mean(target)))
    )
    return pull
