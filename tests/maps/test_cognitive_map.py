"""The value itself: what it takes, and what it refuses."""

import numpy as np
import pytest

import cogmap
from cogmap import CognitiveMap
from cogmap.errors import TooLargeError


def test_weights_lead_from_rows_to_columns():
    made = CognitiveMap(["a", "b"], [[0, 2], [0, 0]])
    assert made.edges == (("a", "b", 2.0),)
    assert made == CognitiveMap.from_edges([("a", "b", 2)])
    assert made != CognitiveMap.from_edges([("b", "a", 2)])
    assert not made.weights.flags.writeable


def test_ordered_moves_weights_and_bias_and_adds_concepts():
    rng = np.random.default_rng(0)
    W, b = rng.normal(size=(3, 3)), rng.normal(size=3)
    moved = CognitiveMap("abc", W, b, phi=0.5).ordered("cxab")
    assert moved.names == ("c", "x", "a", "b")
    for j, source in enumerate("abc"):
        assert moved.bias[moved.place(source)] == b[j]
        for i, target in enumerate("abc"):
            assert moved.weights[moved.place(source), moved.place(target)] == W[j, i]
    assert not moved.weights[1].any()
    assert moved.phi == 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CognitiveMap(["a", "a "], np.zeros((2, 2))), "Two concepts are called 'a'"),
        (lambda: CognitiveMap(["a", " "], np.zeros((2, 2))), "A concept has no name"),
        (lambda: CognitiveMap(["a"], np.zeros((2, 2))), r"weights has the shape \(2, 2\)"),
        (lambda: CognitiveMap(["a"], [[np.nan]]), r"weights\[0, 0\] is nan"),
        (lambda: CognitiveMap(["a"], [[1]], [1, 2]), r"bias has the shape \(2,\)"),
        (lambda: CognitiveMap(["a"], [[1]], slope=0), "slope=0 must be a positive number"),
        (lambda: CognitiveMap(["a"], [[1]], activation="relu"), "activation='relu' is unknown: use one of 'sigmoid'"),
        (lambda: CognitiveMap(["rain"], [[1]]).place("Rain"), r"'Rain' is no concept of the map \(did you mean 'rain'"),
        (lambda: CognitiveMap(["a"], [[1]]).ordered(["b"]), "The order lacks the concept 'a'"),
        (lambda: CognitiveMap(["\ud800"], [[1]]), "half of a character"),
    ],
)
def test_bad_input_is_refused_in_words(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_too_many_concepts_are_refused_before_they_take_memory():
    with pytest.raises(TooLargeError, match="10,001 concepts"):
        CognitiveMap.from_edges((str(k), str(k + 1), 1.0) for k in range(10_000))


def test_public_names():
    for name in ("CognitiveMap", "compare_maps", "map_of", "merge_maps", "read_map", "simulate", "write_map"):
        assert name in cogmap.__all__
        assert getattr(cogmap, name) is getattr(cogmap.maps, name)
