"""Multinomial logistic regression that starts from scores which are nearly right: a penalised correction of them.

Minimise over Θ, with x̃ = (x | 1) and s the scores so far,

    Σ_i w_i (log Σ_k exp(s_ik + x̃_i θ_k) − Σ_k t_ik (s_ik + x̃_i θ_k)) + ½ Σ_j λ_j ‖Θ_j‖²,

by Newton's method. A step is solved by conjugate gradients: the Hessian has (columns · classes)² entries, its product
with a matrix costs what a gradient costs. Blocks of the Hessian, one a class, make the system well conditioned.

Easy to get wrong: the ridge makes the minimum unique, so that all who start anywhere arrive at the same one. What is
common to all classes changes no probability and is pulled to 0.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import log_softmax

from ..types import Array

MOST_STEPS, SOLVED = 50, 1e-13
"""Newton steps at most, and the decrease of a row's log loss below which it is solved."""

RESIDUALS = 1e-4, 0.1
"""Least and largest share of the gradient that a step may leave: the nearer the minimum, the less."""


class Problem(NamedTuple):
    """Columns (x | 1), shape (n, p), scores so far and what is aimed at, (n, N), weights, (n,), and ridges, (p,)."""

    columns: Array
    scores: Array
    aim: Array
    weight: Array
    ridge: Array

    def loss(self, theta: Array) -> tuple[float, Array]:
        """Return what is minimised, and the probabilities."""
        scores = self.scores + self.columns @ theta
        logs = log_softmax(scores, axis=1)
        value = -self.weight @ (self.aim * logs).sum(axis=1) + 0.5 * (self.ridge[:, None] * theta**2).sum()
        return float(value), np.exp(logs)

    def gradient(self, theta: Array, probability: Array) -> Array:
        """Return the derivatives with respect to Θ."""
        missed = self.weight[:, None] * (probability - self.aim)
        return self.columns.T @ missed + self.ridge[:, None] * theta

    def step(self, gradient: Array, probability: Array, blocks: Array, residual: float) -> Array:
        """Return Newton's step, but for a share of the gradient; `blocks` are about the inverses of classes' blocks."""
        shape = gradient.shape
        weighted = self.weight[:, None] * probability

        def curved(flat: Array) -> Array:
            direction = flat.reshape(shape)
            moved = self.columns @ direction
            moved -= (probability * moved).sum(axis=1, keepdims=True)
            product: Array = self.columns.T @ (weighted * moved) + self.ridge[:, None] * direction
            return product.ravel()

        def preconditioned(flat: Array) -> Array:
            solved: Array = np.einsum("kij,jk->ik", blocks, flat.reshape(shape))
            return solved.ravel()

        hessian, inverse = (LinearOperator((gradient.size,) * 2, matvec=f) for f in (curved, preconditioned))
        solution, _ = cg(hessian, -gradient.ravel(), rtol=residual, M=inverse, maxiter=gradient.size)
        step: Array = solution.reshape(shape)
        return step

    def inverse_blocks(self, probability: Array) -> Array:
        """Return the inverse of each class's own block of the Hessian, shape (N, p, p)."""
        curvature = self.weight[:, None] * probability * (1 - probability)
        blocks = np.stack([(self.columns * own[:, None]).T @ self.columns for own in curvature.T])
        return np.linalg.inv(blocks + np.diag(self.ridge))


def correct(problem: Problem) -> Array:
    """Return Θ, shape (p, N)."""
    theta = np.zeros((problem.columns.shape[1], problem.scores.shape[1]))
    current, probability = problem.loss(theta)
    total, decrease = float(problem.weight.sum()), np.inf
    # Of the first probabilities: they are nearly right, and steps near the minimum are no better for others.
    blocks = problem.inverse_blocks(probability)
    for _ in range(MOST_STEPS):
        gradient = problem.gradient(theta, probability)
        step = problem.step(gradient, probability, blocks, float(np.clip(decrease, *RESIDUALS)))
        slope = float((gradient * step).sum())
        decrease = -slope / total
        if decrease < SOLVED:
            # Twice as many digits for the price of a sum.
            return theta + step
        length, moved = 1.0, np.inf
        while length > 1e-10:
            trial = theta + length * step
            moved, after = problem.loss(trial)
            if moved <= current + 1e-4 * length * slope:
                break
            length /= 2
        if not moved < current:
            break
        theta, current, probability = trial, moved, after
    return theta
