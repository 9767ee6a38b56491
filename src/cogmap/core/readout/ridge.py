"""Ridge readout on standardised increments, for a given penalty; `dual` has it for few rows, and for many features.

With Z = (Z⁰ | Z¹ | …) the increments, each column standardised and block t weighted by `decay`ᵗ, minimise
Σ_i w_i ‖y_i − q − z_i β‖² + α ‖β‖². From the singular values S and left vectors U of Z (rows times √w) the solution
follows in closed form for every α: the fit shrinks direction j by S_j² / (S_j² + α).

Easy to get wrong: with more columns than rows, Z is never held. Its LQ factor is gathered block by block, so that
small singular values keep their digits (a Gram matrix ZZᵀ would square the condition), and β = Zᵀ U (S² + α)⁻¹ Uᵀ y
follows in a second pass over the iterations.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ..network.reasoning import Network
from ..trajectory.increments import increments, states_readout
from ..types import Array
from .states import leave_one_out


@dataclass(frozen=True)
class IncrementReadout:
    """Scores are Σ_t Eᵗ `coefficients[t]` + `constant`, with E⁰ = A⁰; `coefficients` has shape (T + 1, M, N)."""

    reference: Array
    coefficients: Array
    constant: Array

    @property
    def n_iter(self) -> int:
        """Number of iterations that it reads."""
        return len(self.coefficients) - 1

    def scores(self, network: Network, initial: Array) -> Array:
        """Return the raw class scores of rows with these initial states, shape (n, N)."""
        found = islice(increments(network, initial, self.reference), len(self.coefficients))
        total = np.tile(self.constant, (len(initial), 1))
        for increment, K in zip(found, self.coefficients, strict=True):
            total += increment.linearised @ K
        return total

    def outer(self, network: Network) -> tuple[Array, Array]:
        """Return the outer weights on the states and their bias."""
        R, shift = states_readout(network, self.reference, self.coefficients)
        return R, self.constant + shift


class Block(NamedTuple):
    """Standardised increments of one iteration: Z = (E − mean) · scale, rows times √w."""

    Z: Array
    mean: Array
    scale: Array


@dataclass(frozen=True)
class Design:
    """The increments of weighted rows over `n_iter` iterations, produced anew for each pass.

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

    def mean(self, values: Array) -> Array:
        """Return the weighted mean of the rows."""
        mean: Array = self.sample_weight @ values / self.sample_weight.sum()
        return mean

    def blocks(self) -> Iterator[Block]:
        """Yield the standardised blocks t = 0 … n_iter; a constant column becomes 0."""
        found = islice(increments(self.network, self.initial, self.reference), self.n_iter + 1)
        for t, (E, _) in enumerate(found):
            mean = self.mean(E)
            spread = np.sqrt(self.mean((E - mean) ** 2))
            scale = np.where(np.ptp(E, axis=0) > 0, self.decay ** (t / 2) / np.where(spread > 0, spread, 1.0), 0.0)
            yield Block((E - mean) * scale * self.root, mean, scale)


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


def spectrum(design: Design) -> Spectrum:
    """Return the singular system of Z."""
    return spectrum_of((block.Z for block in design.blocks()), *design.shape)


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


def smooth(design: Design, found: Spectrum, target: Array, alpha: float) -> tuple[Array, Array]:
    """Return fitted values and exact leave-one-out predictions for one penalty."""
    mean, weight = design.mean(target), design.sample_weight
    kept = found.kept(alpha)
    fitted = mean + ((found.U * kept) @ (found.U.T @ (design.root * (target - mean)))) / design.root
    leverage = 1 / weight.sum() + (found.U**2 @ kept) / weight
    return fitted, leave_one_out(target, fitted, leverage, design.unit)


def dual_of(design: Design, found: Spectrum, target: Array, alpha: float) -> Array:
    """Return (ZZᵀ + αI)⁻¹ ỹ, shape (n, N): what a row pulls its class scores by."""
    pull: Array = (found.U / (found.S**2 + alpha)) @ (found.U.T @ (design.root * (target - design.mean(target))))
    return pull


def solve(design: Design, found: Spectrum, target: Array, alpha: float) -> IncrementReadout:
    """Return the readout for one penalty."""
    constant, dual = design.mean(target), dual_of(design, found, target, alpha)
    K = []
    for block in design.blocks():
        K.append(block.scale[:, None] * (block.Z.T @ dual))
        constant = constant - block.mean @ K[-1]
    return IncrementReadout(design.reference, np.array(K), constant)
