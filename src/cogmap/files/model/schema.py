"""The parts of a network: for every type that a fitted model is made of, its fields, their kinds and shapes.

Sizes by name: F features, N classes, M concepts of a network, V features of it that vary, T + 1 states that a readout
reads, P innovations and the constant, C cases, B regions of them, Q pairs of concepts, E ramps of concepts and D
columns of curves and surfaces, K rows of the summary.
"""

import numpy as np
from numpy.typing import NDArray

from ...core.concepts.concepts import Concepts
from ...core.concepts.scaling import Scaling
from ...core.curves.pairs import LEAST_GAP, PairReadout
from ...core.decision.decision import Decision
from ...core.fit.model import SUMMARY_ROWS, Summary
from ...core.network.activation import ACTIVATIONS
from ...core.network.reasoning import Network
from ...core.readout.ridge import IncrementReadout
from ...core.readout.shrunken import ShrunkReadout
from ...core.readout.states import StateReadout
from ...core.resemblance.cases import CaseReadout
from ...core.resemblance.distance import Metric
from ...core.resemblance.regions import Boxes, OwnMetrics, RegionReadout
from ...core.trajectory.innovations import Basis
from ...core.types import Array as Floats
from .kinds import Array, Choice, Kind, Maybe, OneOf, Ragged, Real, Record, Revision, Scope


def _check_scaling(scaling: Scaling, scope: Scope) -> None:
    for values, heights in zip(scaling.values, scaling.heights, strict=True):
        scope.need(len(values) == len(heights) > 1, "two or more knots, each with a value and a height")
        for knots in (values, heights):
            scope.need(bool((np.diff(knots) >= 0).all()), "knots in increasing order")
        with np.errstate(over="ignore"):
            scope.need(bool(np.isfinite(values[-1] - values[0])), "knots whose span is a number")
        _need_states(heights, scope)


def _check_concepts(concepts: Concepts, scope: Scope) -> None:
    scope.need(int(concepts.varies.sum()) == len(concepts.peaks), "a scaling for each feature that varies")
    scope.bind("M", sum(max(1, len(peaks)) for peaks in concepts.peaks))
    for peaks in concepts.peaks:
        scope.need(len(peaks) != 1 and bool((np.diff(peaks) > 0).all()), "terms in increasing order")
        _need_states(peaks, scope)


def _need_states(values: NDArray[np.float64], scope: Scope) -> None:
    """Refuse what is beyond the range of every activation, [−1, 1]; rounding aside."""
    scope.need(bool((np.abs(values) <= 1 + 1e-9).all()), "numbers from -1 to 1, as states are")


def _check_network(network: Network, scope: Scope) -> None:
    # States are at most 1, so this bounds what f is given.
    with np.errstate(over="ignore"):
        largest = np.abs(network.weights).sum(axis=0) + np.abs(network.bias)
    scope.need(bool(np.isfinite(largest).all()), "weights whose sums are numbers")


def _check_shrunk(readout: ShrunkReadout, scope: Scope) -> None:
    _need_states(readout.reference, scope.at("reference"))
    for name in ("shrink", "caps"):
        scope.at(name).need(bool((getattr(readout, name) >= 0).all()), "numbers from 0 on")


def _check_increments(readout: IncrementReadout, scope: Scope) -> None:
    _need_states(readout.reference, scope.at("reference"))


def _check_metric(metric: Metric, scope: Scope) -> None:
    _need_states(metric.mean, scope.at("mean"))
    alone = metric.distance != "axes" or not (metric.map - np.diag(np.diagonal(metric.map))).any()
    scope.at("map").need(alone, "diagonal where distances are sums along the axes")


def _check_boxes(boxes: Boxes, scope: Scope) -> None:
    scope.need(bool((boxes.low < boxes.high).all()), "boxes whose lower sides are below their upper ones")


def _check_regions(readout: RegionReadout, scope: Scope) -> None:
    sizes = np.diff(readout.ends, prepend=0)
    scope.at("ends").need(
        bool((sizes > 0).all()) and int(sizes.sum()) == len(readout.cases),
        "the ends of regions that hold all cases",
    )
    if readout.own is not None:
        scope.at("own").need(readout.metric.distance != "axes", "null where distances are sums along the axes")
        _need_states(readout.own.means, scope.at("own").at("means"))


def _check_basis(basis: Basis, scope: Scope) -> None:
    n_concepts = scope.sizes["M"]
    for columns, scales in zip(basis.columns, basis.scales, strict=True):
        scope.need(len(columns) == len(scales), "one scale for each column")
        scope.need(bool(((columns >= 0) & (columns < n_concepts)).all()), "columns that are concepts")
    scope.bind("P", 1 + sum(map(len, basis.columns)))
    scope.need(bool(basis.map[0, 0] > 0), "a basis whose constant is positive")


def _check_pairs(readout: PairReadout, scope: Scope) -> None:
    for own in (*readout.curves, *readout.surfaces):
        apart = len(own) > 1 and bool((np.diff(own) > LEAST_GAP / 2).all())
        scope.need(apart, "two or more knots in increasing order, apart from each other")
        _need_states(own, scope)
    one, other = readout.pairs.T
    scope.at("pairs").need(bool(((one >= 0) & (one < other) & (other < scope.sizes["M"])).all()), "pairs of concepts")
    most = scope.sizes["M"] * (scope.sizes["M"] - 1) // 2
    scope.at("pairs").need(len(one) <= most, "pairs of concepts, each once")
    lines = sum(len(own) - 1 for own in readout.curves)
    size = np.array([len(own) - 1 for own in readout.surfaces], dtype=object)
    scope.at("means").bind(lines + sum(size.tolist()), len(readout.means))
    _need_states(readout.means, scope.at("means"))
    scope.at("coefficients").bind(lines + sum((size[one] * size[other]).tolist()), len(readout.coefficients))


def _check_summary(summary: Summary, scope: Scope) -> None:
    scope.need(0 < len(summary.rows) <= SUMMARY_ROWS, f"1 to {SUMMARY_ROWS} rows")
    scope.need(bool((summary.weight > 0).all()) and bool((summary.shares > 0).all()), "weights above 0")


SCALING = Record(Scaling, {"values": Ragged("F64", "V"), "heights": Ragged("F64", "V")}, _check_scaling)
CONCEPTS = Record(
    Concepts, {"varies": Array("BOOL", ("F",)), "scaling": SCALING, "peaks": Ragged("F64", "V")}, _check_concepts
)
NETWORK = Record(
    Network,
    {
        "weights": Array("F64", ("M", "M")),
        "bias": Array("F64", ("M",)),
        "phi": Real(low=0.0, high=1.0),
        "activation": Choice(ACTIVATIONS),
    },
    _check_network,
)
SUMMARY = Record(
    Summary,
    {"rows": Array("F64", ("K", "F")), "weight": Array("F64", ("K",)), "shares": Array("F64", ("N",))},
    _check_summary,
)
BASIS = Record(
    Basis,
    {
        "columns": Ragged("I64", "T + 1"),
        "scales": Ragged("F64", "T + 1"),
        "map": Array("F64", ("P", "P")),
        "whiten": Array("F64", ("P", "P")),
    },
    _check_basis,
)
SHRUNK = Record(
    ShrunkReadout,
    {
        "reference": Array("F64", ("M",)),
        "basis": BASIS,
        "coefficients": Array("F64", ("P", "N")),
        "shrink": Array("F64", ("T + 1",)),
        "caps": Array("F64", ("T + 1",)),
    },
    _check_shrunk,
)
METRIC = Record(
    Metric,
    {
        "mean": Array("F64", ("M",)),
        "map": Array("F64", ("M", "M")),
        "distance": Choice({"straight": "straight", "squared": "squared", "axes": "axes"}),
    },
    _check_metric,
    added={"distance": "straight"},
)
READOUT = OneOf(
    {
        "states": Record(StateReadout, {"weights": Array("F64", ("T + 1", "M", "N")), "bias": Array("F64", ("N",))}),
        "innovations": SHRUNK,
        "increments": Record(
            IncrementReadout,
            {
                "reference": Array("F64", ("M",)),
                "coefficients": Array("F64", ("T + 1", "M", "N")),
                "constant": Array("F64", ("N",)),
            },
            _check_increments,
        ),
        "cases": Record(
            CaseReadout,
            {
                "trajectory": SHRUNK,
                "metric": METRIC,
                "cases": Array("F64", ("C", "M")),
                "coefficients": Array("F64", ("C", "N")),
            },
        ),
        "pairs": Record(
            PairReadout,
            {
                "curves": Ragged("F64", "M"),
                "surfaces": Ragged("F64", "M"),
                "means": Array("F64", ("E",)),
                "pairs": Array("I64", ("Q", 2)),
                "coefficients": Array("F64", ("D", "N")),
                "constant": Array("F64", ("N",)),
            },
            _check_pairs,
        ),
        "regions": Record(
            RegionReadout,
            {
                "metric": METRIC,
                "boxes": Record(
                    Boxes, {"low": Array("F64", ("B", "M")), "high": Array("F64", ("B", "M"))}, _check_boxes
                ),
                "ends": Array("I64", ("B",)),
                "cases": Array("F64", ("C", "M")),
                "coefficients": Array("F64", ("C", "N")),
                "constants": Array("F64", ("B", "N")),
                "own": Maybe(
                    Record(OwnMetrics, {"means": Array("F64", ("B", "M")), "maps": Array("F64", ("B", "M", "M"))})
                ),
            },
            _check_regions,
            added={"own": None},
        ),
    }
)


def _decision_of_format_1(projection: Floats, offset: Floats, prior_exponent: float, sharpness: float) -> Decision:
    """Return the decision of a file whose probabilities are the softmax of `sharpness` times the scores."""
    return Decision(sharpness * projection, sharpness * offset, np.zeros(len(offset)))


_DECODED: dict[str, Kind] = {"projection": Array("F64", ("N", "N")), "offset": Array("F64", ("N",))}
DECISION = Revision(
    Record(Decision, {**_DECODED, "shift": Array("F64", ("N",))}),
    "sharpness",
    Record(_decision_of_format_1, {**_DECODED, "prior_exponent": Real(), "sharpness": Real(low=0.0)}),
)
