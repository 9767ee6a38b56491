"""Merged maps against numpy, one edge at a time; comparisons against sets and numpy's correlation."""

import numpy as np
import pytest
from hypothesis import example, given, settings

from cogmap import CognitiveMap, compare_maps, merge_maps
from cogmap.maps.merging import MERGE_RULES

from .made import maps

ANN = CognitiveMap("abc", [[0, 0.5, 0.2], [0, 0, -1], [0.1, 0, 0]], [1, 0, 0], rule="kosko", activation="tanh")
BEN = CognitiveMap("abd", [[0, -0.5, 0], [0.4, 0, 1], [0, 0, 0.3]], [0, 0, 2], rule="kosko", activation="sigmoid")
EVE = CognitiveMap("ba", [[0, 0.6], [0.9, 0]], rule="kosko")
TINY = [CognitiveMap("ab", np.diag([0.0, weight])) for weight in (1.0, 2.3e-309)]
ALL = {"Ann": ANN, "Ben": BEN, "Eve": EVE}


def weight(made, source, target):
    """Return the weight in a map that has both concepts, and None otherwise."""
    known = source in made.names and target in made.names
    return made.weights[made.place(source), made.place(target)] if known else None


def joined(values, rule):
    """Merge the weights that maps state."""
    known = [v for v in values if v is not None]
    stated = [v for v in known if v != 0]
    positive, negative = [v for v in stated if v > 0], [v for v in stated if v < 0]
    if rule == "mean":
        chosen = known
    elif rule == "median":
        return np.median(known) if known else 0
    elif rule == "mean-stated":
        chosen = stated
    elif rule == "agreement":
        chosen = [] if positive and negative else stated
    else:
        chosen = next((part for part in (positive, negative) if 2 * len(part) > len(known)), [])
    return np.mean(chosen) if chosen else 0


@pytest.mark.parametrize("rule", MERGE_RULES)
def test_every_edge_and_bias_is_merged_by_the_rule(rule):
    merged = merge_maps(ALL, rule=rule).map
    assert merged.names == tuple("abcd")
    for source in merged.names:
        said = [made.bias[made.place(source)] if source in made.names else None for made in ALL.values()]
        assert merged.bias[merged.place(source)] == pytest.approx(joined(said, rule))
        for target in merged.names:
            said = [weight(made, source, target) for made in ALL.values()]
            assert weight(merged, source, target) == pytest.approx(joined(said, rule)), (source, target)


@settings(max_examples=40)
@given(one=maps(), two=maps(), three=maps())
def test_made_maps_merge_by_the_rules_too(one, two, three):
    every = {"1": one, "2": two, "3": three}
    for rule in MERGE_RULES:
        merged = merge_maps(every, rule=rule).map
        for source, target in [(a, b) for a in merged.names for b in merged.names]:
            expected = joined([weight(made, source, target) for made in every.values()], rule)
            assert weight(merged, source, target) == pytest.approx(expected)


def test_disagreements_are_the_edges_that_differ():
    merged = merge_maps(ALL)
    expected = set()
    for source in "abcd":
        for target in "abcd":
            said = [w for w in (weight(made, source, target) for made in ALL.values()) if w is not None]
            if said and max(said) > min(said):
                expected.add((source, target, max(said) - min(said), min(said) < 0 < max(said)))
    found = merged.disagreements
    assert {(d.source, d.target, d.spread, d.opposed) for d in found} == expected
    assert found[0][:2] == ("a", "b")
    assert found[0].weights == {"Ann": 0.5, "Ben": -0.5, "Eve": 0.9}
    assert [d.opposed for d in found] == sorted((d.opposed for d in found), reverse=True)
    assert "a → b: Ann 0.5, Ben -0.5, Eve 0.9; merged 0.3 (opposed)" in str(merged)
    assert merged.to_frame().iloc[0].to_dict() == {
        "source": "a", "target": "b", "Ann": 0.5, "Ben": -0.5, "Eve": 0.9, "spread": 1.4, "opposed": True,
        "merged": pytest.approx(0.3),
    }  # fmt: skip
    assert (merged.map.rule, merged.map.activation) == ("kosko", None)


def test_maps_that_agree_have_no_disagreements():
    for rule in MERGE_RULES:
        merged = merge_maps({"1": ANN, "2": ANN}, rule=rule)
        assert merged.map == ANN
        assert merged.disagreements == ()
        assert merged.to_frame().empty


def test_one_map_or_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="fewer than two maps"):
        merge_maps({"Ann": ANN})
    with pytest.raises(ValueError, match="rule='loudest' is unknown: use one of 'mean', 'mean-stated'"):
        merge_maps(ALL, rule="loudest")


@settings(max_examples=40)
@given(before=maps(), after=maps())
@example(*TINY)
def test_a_comparison_lists_what_differs(before, after):
    found = compare_maps(before, after)
    assert set(found.only_before) == set(before.names) - set(after.names)
    assert set(found.only_after) == set(after.names) - set(before.names)
    every = {*before.names, *after.names}
    expected = {
        (a, b, *said)
        for a in every
        for b in every
        if (said := (weight(before, a, b), weight(after, a, b)))[0] != said[1] and (said[0] or 0) != (said[1] or 0)
    }
    assert set(found.edges) == expected
    sizes = [abs((edge.after or 0) - (edge.before or 0)) for edge in found.edges]
    assert sizes == sorted(sizes, reverse=True)


def test_the_agreement_is_over_what_both_have():
    found = compare_maps(ANN, BEN)
    assert (found.only_before, found.only_after) == (("c",), ("d",))
    before, after = ANN.weights[:2, :2].ravel(), BEN.weights[:2, :2].ravel()
    assert found.agreement == pytest.approx(
        {
            "shared_concepts": 2,
            "shared_edges": 1,
            "edge_overlap": 1 / 2,
            "same_sign": 0,
            "correlation": np.corrcoef(before, after)[0, 1],
            "mean_difference": np.abs(before - after).mean(),
        }
    )
    assert "only in the first: c" in str(found)
    assert "a → b: 0.5 → -0.5" in str(found)
    assert found.to_frame("agreement").loc["shared_edges", "value"] == 1
    assert len(found.to_frame()) == len(found.edges)
    same = compare_maps(ANN, ANN).agreement
    assert (same["edge_overlap"], same["same_sign"], same["mean_difference"]) == (1, 1, 0)
    assert np.isnan(list(compare_maps(ANN, CognitiveMap("x", [[1]])).agreement.values())[2:]).all()
