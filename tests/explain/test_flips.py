"""The smallest changes of one feature that change the class."""

from itertools import product

import numpy as np
import pandas as pd

from cogmap import LTCNClassifier


def test_flips_change_the_class_and_nothing_smaller_on_a_grid_does(wine):
    X, y = wine
    model = LTCNClassifier(max_iter=3).fit(X, y)
    rows = X[60:75]
    flips = model.explain(rows).flips()
    assert 0 < len(flips) <= 15
    scaling = model.fitted_.networks[0].concepts
    for flip in flips.itertuples(index=False):
        row = X.loc[[flip.row]]
        assert row[flip.feature].item() == flip[2]
        changed = row.assign(**{flip.feature: flip.to})
        assert model.predict(changed).item() == flip.new_class != model.predict(row).item() == flip[4]
        for j, feature in enumerate(X.columns[:-1]):
            values, heights = scaling.scaling.values[j], scaling.scaling.heights[j]
            own = np.interp(row[feature].item(), values, heights)
            grid = own + flip.scaled_change * np.linspace(-0.99, 0.99, 25)
            near = np.interp(np.clip(grid, heights[0], heights[-1]), heights, values)
            tried = pd.concat([row] * 25).assign(**{feature: near})
            assert (model.predict(tried) == flip[4]).all()


def test_flips_are_the_same_if_features_are_tried_one_after_the_other(wine, monkeypatch):
    model, rows = LTCNClassifier().fit(*wine), wine[0][60:75]
    at_once = model.explain(rows).flips()
    monkeypatch.setattr("cogmap.explain.flips.CELLS", 1)
    pd.testing.assert_frame_equal(model.explain(rows).flips(), at_once)
    assert len(at_once)


def test_flips_of_a_threshold_are_at_the_threshold(rng):
    """With one feature that decides, the flip is where the decision function has its root."""
    X = np.c_[rng.random(500), rng.random(500)]
    y = (X[:, 0] > 0.6).astype(int)
    model = LTCNClassifier(max_iter=0, scaling="minmax").fit(X, y)
    flip = model.explain(np.array([[0.1, 0.5]])).flips().iloc[0]
    assert flip.feature == "x0"
    around = np.array([[flip.to - 1e-6, 0.5], [flip.to + 1e-6, 0.5]])
    assert model.predict(around).tolist() == [0, 1]


def test_features_with_few_values_take_these_only(rng):
    X = np.c_[rng.integers(0, 4, 300), rng.random(300)].astype(float)
    y = (X[:, 0] + 0.1 * X[:, 1] > 1.5).astype(int)
    model = LTCNClassifier(max_iter=2).fit(X, y)
    flips = model.explain(X[:40]).flips()
    counts = flips[flips.feature == "x0"]
    assert len(counts)
    assert set(counts.to) <= {0.0, 1.0, 2.0, 3.0}


def test_a_class_that_no_single_feature_changes_has_no_flip():
    """The majority of three: a unanimous row needs two changes."""
    X = np.repeat(np.array(list(product([0.0, 1.0], repeat=3))), 10, axis=0)
    model = LTCNClassifier(max_iter=0, decision="argmax").fit(X, X.sum(axis=1) > 1.5)
    assert len(model.explain(X[10:11]).flips()) == 1
    explanation = model.explain(X[:1])
    assert len(explanation.flips()) == 0
    assert "No change of a single feature" in explanation.to_text(0)
