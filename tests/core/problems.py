"""Spaces to compute in, and rows and networks to compute with, for the tests of the core."""

from dataclasses import replace

import array_api_strict
import numpy as np

from cogmap.core.concepts.concepts import Concepts, fit_concepts
from cogmap.core.concepts.scaling import identity
from cogmap.core.fit.model import Settings
from cogmap.core.fit.network import Draft
from cogmap.core.sums.rows import Rows, States
from cogmap.core.sums.sampling import content_keys, in_order_of_int64
from cogmap.core.sums.sources import Blocks, at_once
from cogmap.core.sums.space import NUMPY, Space
from cogmap.core.sums.statistics import Range
from cogmap.core.trajectory.increments import Course, lockstep

STRICT = Space(array_api_strict, array_api_strict.Device("device1"))
"""A device that refuses whatever the standard does not promise, and whose arrays numpy cannot read."""

SPACES = [NUMPY, STRICT]

SETTINGS = Settings(
    phi=0.8,
    max_iter=6,
    activation="sigmoid",
    alpha="loo",
    inner="slopes",
    rule="quasi-nonlinear",
    readout="trajectory",
    scaling="halfway",
    terms=None,
    cases=False,
    tol=1e-12,
)


def rows_of(X, codes=None, weight=None, unit=None, n_classes=None):
    """Return training rows; of one class and of weight 1 where nothing else is said."""
    codes = np.zeros(len(X), dtype=np.intp) if codes is None else codes
    even = weight is None
    weight = np.ones(len(X)) if weight is None else weight
    unit = np.minimum(1.0, weight) if unit is None else unit
    return Rows(X, codes, weight, unit, int(codes.max()) + 1 if n_classes is None else n_classes, even)


def census_of(rows):
    """Return ranges and masses."""
    return Range(rows.X.min(axis=0), rows.X.max(axis=0), rows.mass)


def on(space, rows):
    """Take rows or states to a space."""
    names = [name for name in ("X", "initial", "codes", "weight", "unit") if hasattr(rows, name)]
    there = {name: space.put(getattr(rows, name)) for name in names}
    if hasattr(rows, "keys"):
        there["keys"] = rows.keys if space.numpy else space.put(in_order_of_int64(rows.keys))
    return replace(rows, **there)


def states_of(initial, codes=None, weight=None, n_classes=None):
    """Return training rows with these initial states."""
    rows = rows_of(initial, codes, weight, n_classes=n_classes)
    keys = content_keys(NUMPY, initial.T.copy()) if initial.shape[1] else np.zeros(len(initial), np.uint64)
    return States(initial, keys, rows.codes, rows.weight, rows.unit, rows.n_classes, rows.even)


def concepts_of(X, weight, scaling, terms, bounds):
    """Learn concepts from rows in memory."""
    rows = rows_of(X, weight=weight)
    return fit_concepts(at_once(rows), census_of(rows), scaling, terms, bounds)


def increments_of(network, initial, reference, n_iter):
    """Return A⁰, E¹ … of all rows."""
    walk = lockstep(Course(NUMPY, network, reference), initial)
    return [E.copy() for _, (E, _) in zip(range(n_iter + 1), walk, strict=False)]


def draft_of(network, states, **settings):
    """Return a network of one's own with rows of these states as a draft whose readout is missing."""
    initial, weight = states.initial, states.weight
    rows = Rows(initial, states.codes, weight, states.unit, states.n_classes, states.even)
    n, m = initial.shape
    reference = weight @ initial / weight.sum()
    centred = (initial - reference) * np.sqrt(weight)[:, None]
    concepts = Concepts(np.ones(m, dtype=bool), identity(m, -np.inf, np.inf), (np.empty(0),) * m)
    known = replace(SETTINGS, activation=network.activation.name, **settings)
    census = Range(initial.min(axis=0, initial=0), initial.max(axis=0, initial=0), rows.mass)
    source = Blocks(lambda: [states], n)
    return Draft(at_once(rows), source, census, known, concepts, network, reference, centred.T @ centred)
