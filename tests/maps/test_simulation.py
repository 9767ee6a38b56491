"""What if: against the rules written as loops, and against the trajectories of a classifier."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from cogmap import CognitiveMap, LTCNClassifier, LTCNClassifierCV, map_of, simulate
from cogmap.maps import map_names
from cogmap.maps.cognitive_map import ACTIVATIONS, RULES

F = {
    "sigmoid": lambda z: 1 / (1 + math.exp(-z)),
    "tanh": math.tanh,
    "bivalent": lambda z: 1.0 if z > 0 else 0.0,
    "trivalent": lambda z: float(z > 0) - float(z < 0),
}


def naive(made, start, clamp, n_iter, rule, activation, phi, slope):
    """Follow concept by concept, edge by edge."""
    state = {name: clamp.get(name, value) for name, value in zip(made.names, start, strict=True)}
    first, states = dict(state), [dict(state)]
    for _ in range(n_iter):
        new = {}
        for i, target in enumerate(made.names):
            if target in clamp:
                new[target] = clamp[target]
                continue
            z = made.bias[i]
            for j, source in enumerate(made.names):
                A = 2 * state[source] - 1 if rule == "rescaled" else state[source]
                z += A * made.weights[j, i]
            if rule == "kosko-memory":
                z += state[target]
            elif rule == "rescaled":
                z += 2 * state[target] - 1
            new[target] = F[activation](slope * z)
            if rule == "quasi-nonlinear":
                new[target] = phi * new[target] + (1 - phi) * first[target]
        state = new
        states.append(dict(state))
    return np.array([[state[name] for name in made.names] for state in states])


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    rule=st.sampled_from(RULES),
    activation=st.sampled_from(ACTIVATIONS),
    phi=st.floats(0, 1),
    slope=st.floats(0.2, 3),
    n_held=st.integers(0, 4),
)
def test_states_are_those_of_the_rule_written_as_a_loop(seed, rule, activation, phi, slope, n_held):
    rng = np.random.default_rng(seed)
    made = CognitiveMap("abcd", rng.normal(size=(4, 4)), rng.normal(size=4))
    start, clamp = rng.random(4), {name: float(rng.random()) for name in "dbca"[:n_held]}
    reasoning = {"rule": rule, "activation": activation, "phi": phi, "slope": slope}
    found = simulate(made, start, clamp=clamp, max_iter=40, **reasoning)
    expected = naive(made, start, clamp, 40, **reasoning)
    np.testing.assert_allclose(found.states, expected[: len(found.states)], atol=1e-7)
    assert found.clamped == clamp
    if found.period:
        turn = expected[found.reached_at :]
        np.testing.assert_allclose(turn[found.period :], turn[: -found.period], atol=1e-6)
        mean = expected[found.reached_at : found.reached_at + found.period].mean(axis=0)
        np.testing.assert_allclose(list(found.final.values()), mean, atol=1e-5)
        assert found.verdict == ("fixed point" if found.period == 1 else "cycle")
    else:
        assert found.verdict == "neither"
        assert len(found.states) == 41
        assert not math.isnan(found.exponent)


def test_the_verdicts_in_words():
    turn = CognitiveMap("ab", [[0, 3], [-3, 0]], rule="kosko", activation="tanh")
    assert str(simulate(turn, [0.9, 0.3])).startswith("The concepts enter a cycle of 4 states at iteration ")
    c, s = np.cos(1), np.sin(1)
    round_and_round = CognitiveMap("ab", 1.5 * np.array([[c, s], [-s, c]]), rule="kosko", activation="tanh")
    assert "do not settle within 200 iterations (largest Lyapunov exponent" in str(
        simulate(round_and_round, [0.9, 0.3])
    )
    wild = CognitiveMap(map(str, range(40)), np.random.default_rng(0).normal(size=(40, 40)), rule="kosko")
    assert "chaotic" in str(simulate(wild, activation="tanh", start=np.linspace(0, 1, 40)))


def test_the_map_says_how_it_reasons_unless_one_asks_otherwise():
    made = CognitiveMap("ab", [[0, 1], [0, 0]], rule="quasi-nonlinear", activation="tanh", phi=0.5, slope=2.0)
    assert simulate(made).reasoning == {"rule": "quasi-nonlinear", "activation": "tanh", "phi": 0.5, "slope": 2.0}
    assert simulate(made, rule="kosko", slope=1).reasoning == {"rule": "kosko", "activation": "tanh", "slope": 1.0}
    plain = simulate(CognitiveMap("ab", [[0, 1], [0, 0]]))
    assert plain.reasoning == {"rule": "kosko-memory", "activation": "sigmoid", "slope": 1.0}
    assert plain.states[0].tolist() == [0.5, 0.5]
    assert simulate(made).states[0].tolist() == [0, 0]
    assert simulate(made, {"b": 0.25}).states[0].tolist() == [0, 0.25]


def test_changes_are_the_differences_of_the_ends():
    made = CognitiveMap("ab", [[0, 1], [0, 0]], rule="kosko", activation="sigmoid")
    low, high = (simulate(made, clamp={"a": value}) for value in (0.0, 2.0))
    expected = {"a": 2.0, "b": 1 / (1 + math.exp(-2)) - 0.5}
    assert high.changes(low) == pytest.approx(expected)
    frame = high.to_frame()
    assert frame.index.name == "iteration"
    assert frame["b"].iloc[-1] == high.final["b"]
    with pytest.raises(ValueError, match="different concepts"):
        high.changes(simulate(CognitiveMap("xy", [[0, 1], [0, 0]])))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"clamp": {"grss": 1}}, r"'grss' is no concept of the map \(did you mean 'grass'"),
        ({"clamp": {"grass": math.nan}}, "The clamp of 'grass' is nan"),
        ({"start": {"x": 1}}, "'x' is no concept"),
        ({"start": [1, 2, 3]}, "start must be 2 finite numbers"),
        ({"rule": "hebb"}, "rule='hebb' is unknown"),
        ({"phi": 2}, "phi=2 must be from 0 to 1"),
        ({"max_iter": 0}, "max_iter=0 must be from 1 to 1000"),
    ],
)
def test_bad_input_is_refused_in_words(given, message):
    with pytest.raises(ValueError, match=message):
        simulate(CognitiveMap(["grass", "rain"], np.zeros((2, 2))), **given)


@pytest.mark.parametrize("rule", ["quasi-nonlinear", "kosko", "kosko-memory"])
def test_the_learned_map_reasons_as_the_classifier_does(rule):
    X, y = load_wine(return_X_y=True, as_frame=True)
    clf = LTCNClassifier(inner="regression", rule=rule, alpha=1.0).fit(X, y)
    learned = map_of(clf)
    assert list(learned.names) == list(clf.concept_names_)
    np.testing.assert_array_equal(learned.weights, clf.inner_weights_)
    row = clf.trajectory(X.iloc[:1])[0]
    found = simulate(clf, row[0], tol=1e-12)
    n = min(len(row), len(found.states))
    np.testing.assert_allclose(found.states[:n], row[:n], atol=1e-9)
    typical = simulate(clf).states[0]
    np.testing.assert_allclose(typical, clf.trajectory(X)[:, 0].mean(axis=0), atol=1e-12)


def test_a_stack_has_a_map_for_each_network():
    X, y = load_wine(return_X_y=True, as_frame=True)
    clf = LTCNClassifierCV(cases=False).fit(X, y)
    names = map_names(clf)
    assert len(names) > 1
    weights = {}
    for model, weight in clf.fitted_.members:
        place = next(k for k, other in enumerate(clf.fitted_.networks) if other.network is model.network)
        weights[names[place]] = weights.get(names[place], 0) + weight
    assert map_of(clf) == map_of(clf, network=max(weights, key=weights.get))
    joined = [map_of(clf, network=name) for name in names]
    assert sum(len(one.names) for one in joined) == len(clf.concept_names_)
    with pytest.raises(ValueError, match="There is no network 'x'"):
        map_of(clf, network="x")
    with pytest.raises(ValueError, match="LTCNClassifier has no learned map: give a fitted classifier"):
        map_of(LTCNClassifier())
