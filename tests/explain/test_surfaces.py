"""What two features add together: named, exact, and part of every view."""

import numpy as np
import pandas as pd
import pytest

from cogmap import LTCNClassifierCV
from cogmap.core.curves.pairs import PairReadout


@pytest.fixture(scope="module")
def explained():
    """Explain whether age and hours are on the same side of their middles; the third feature has a bend."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(500, 3)), columns=["age", "hours", "noise"])
    same = (X["age"] > 0.5) == (X["hours"] > 0.5)
    y = np.where(np.abs(X["noise"] - 0.5) > 0.4, "far", np.where(same, "same", "other"))
    model = LTCNClassifierCV(cases=False, terms=None).fit(X, y)
    assert any(isinstance(member.readout, PairReadout) for member, _ in model.fitted_.members)
    return model, X[:30], model.explain(X[:30])


def test_contributions_add_up_to_the_evidence(explained):
    _, _, explanation = explained
    for k, label in enumerate(explanation.classes):
        total = explanation.base[k] + explanation.contributions(label).sum(axis=(1, 2)) + explanation.cases[:, k]
        np.testing.assert_allclose(total, explanation.evidence[:, k], atol=1e-9)


def test_a_surface_is_what_the_readout_says(explained):
    """Recomputed from interpolated ramps and the decision."""
    model, X, explanation = explained
    fitted = model.fitted_
    place, (member, weight) = next(
        (i, one) for i, one in enumerate(fitted.members) if isinstance(one[0].readout, PairReadout)
    )
    readout, initial = member.readout, member.concepts(X.to_numpy())
    n_curves = sum(len(own) - 1 for own in readout.curves)
    ramps, start = [], n_curves
    for a, own in zip(initial.T, readout.surfaces, strict=True):
        ends = range(len(own) - 1)
        ramps.append([np.interp(a, own[k : k + 2], [0, 1]) - readout.means[start + k] for k in ends])
        start += len(own) - 1
    zero, one = member.scale
    direction = weight / (one - zero) * fitted.decision.projection @ explanation.direction("same")
    expected, column = [], n_curves
    for i, j in readout.pairs:
        products = np.array([left * right for left in ramps[i] for right in ramps[j]])
        expected.append(products.T @ (readout.coefficients[column : column + len(products)] @ direction))
        column += len(products)
    pairs, values = explanation.splits[place].surfaces(explanation.direction("same"))
    assert column == len(readout.coefficients)
    assert (pairs - pairs.min() == readout.pairs - readout.pairs.min()).all()
    np.testing.assert_allclose(values, np.stack(expected, axis=1), atol=1e-9)


def test_two_concepts_share_a_surface_half_and_half(explained):
    _, _, explanation = explained
    pairs, values = explanation.surfaces("same")
    frame = explanation.to_frame()
    one = frame[frame["class"] == "same"]
    total = explanation.contributions("same").sum(axis=1)
    names = explanation.fitted.concept_names
    for j, name in enumerate(names):
        alone = one[one["concept"] == name].groupby("row")["contribution"].sum().to_numpy()
        shared = values[:, (pairs == j).any(axis=1)].sum(axis=1) / 2
        np.testing.assert_allclose(total[:, j], alone + shared, atol=1e-9)


def test_lines_of_the_frame_name_pairs_and_add_up(explained):
    _, _, explanation = explained
    frame = explanation.to_frame()
    together = frame[frame["concept"].str.startswith("age and hours")]
    assert len(together)
    assert (together["iteration"] == 0).all()
    assert together["contribution"].abs().mean() > 1
    totals = frame.groupby(["row", "class"])["contribution"].sum().unstack()[list(explanation.classes)]
    np.testing.assert_allclose(totals, explanation.evidence, atol=1e-9)


def test_features_and_relevance_see_pairs(explained):
    model, _X, explanation = explained
    total = explanation.baseline_scores + explanation.attributions.sum(axis=1)
    np.testing.assert_allclose(total, explanation.evidence, atol=1e-8)
    assert (model.feature_importances_[:2] > 0.05).all()
    assert "age" in explanation.to_text(0, details=True)
