"""Remembered rows in regions against kernel ridges of each box, solved naively."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from cogmap.core.constants import METRIC_WORTH, REGION_ROWS
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network
from cogmap.core.readout.terms import raw_scores
from cogmap.core.resemblance import metric, regions
from cogmap.core.resemblance.metric import Examples
from cogmap.core.resemblance.regions import BEYOND, COMPARED_REGIONS, Boxes, best_way, cut_boxes, fit_regions
from cogmap.core.sums.space import NUMPY
from tests.core.resemblance.test_cases import WEIGHTS, bordered, weights


def problem(rng, n, kind="ones"):
    initial = rng.random((n, 3))
    initial[:, 2] = initial[:, 2].round(1)
    codes = (np.sin(7 * initial[:, 0]) + initial[:, 1] > 0.7).astype(np.intp)
    weight, unit = weights(kind, n, rng)
    return Examples(initial, np.eye(2)[codes], weight), codes, unit


@cache
def fitted_in_small_regions(n, kind, distance):
    """Return rows, new rows and their fit, which is that of every space."""
    rng = np.random.default_rng(0)
    rows, codes, unit = problem(rng, n, kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions.cut_boxes, "__defaults__", (50,))
        return rows, rng.random((30, 3)), fit_regions(rows, codes, unit, distance)


def test_boxes_hold_every_row_once_and_few_each(rng):
    initial = rng.random((3000, 3))
    initial[:, 1] = initial[:, 1].round(1)
    boxes = cut_boxes(initial, np.array([1.0, 5.0, 0.1]), 200)
    inside = ((initial[:, None] > boxes.low) & (initial[:, None] <= boxes.high)).all(axis=2)
    assert (inside.sum(axis=1) == 1).all()
    assert inside.sum(axis=0).max() <= 200
    assert (inside.argmax(axis=1) == boxes.codes(initial)).all()
    # Rows far from all others are in a box too.
    far = np.array([[-1.0, 1.0, -1.0], [1.0, -1.0, 1.0]])
    assert ((far[:, None] > boxes.low) & (far[:, None] <= boxes.high)).all(axis=2).sum(axis=1).tolist() == [1, 1]


def test_the_concept_that_spreads_the_rows_most_is_cut_first(rng):
    initial = rng.random((400, 3))
    boxes = cut_boxes(initial, np.array([1.0, 0.0, 9.0]), 300)
    assert boxes.cut.tolist() == [2]
    assert boxes.high[0, 2] == boxes.low[1, 2] == pytest.approx(np.median(initial[:, 2]))
    assert boxes.low[0, 2] == -BEYOND


def test_rows_that_nothing_tells_apart_stay_together():
    boxes = cut_boxes(np.full((100, 2), 0.5), np.ones(2), 10)
    assert boxes.low.shape == (1, 2)
    uneven = np.r_[np.zeros(99), 1.0][:, None]
    assert cut_boxes(uneven, np.ones(1), 99).low[:, 0].tolist() == [-BEYOND, 0.5]


def test_what_is_inside_is_the_same_in_every_space(space, rng):
    initial = rng.random((60, 3))
    boxes = cut_boxes(rng.random((200, 3)), np.ones(3), 40)
    inside = np.hstack([space.host(one) for one in boxes.inside(space, space.put(initial))])
    assert (inside == np.eye(len(boxes.low))[boxes.codes(initial)]).all()


@pytest.mark.parametrize(("n", "kind"), [*((120, kind) for kind in WEIGHTS), (900, "fractional")])
@pytest.mark.parametrize(("distance", "scipys"), [("straight", "euclidean"), ("axes", "cityblock")])
def test_scores_are_those_of_the_kernel_ridge_of_each_region(distance, scipys, n, kind, space):
    rows, new, fit = fitted_in_small_regions(n, kind, distance)
    network = Network(np.zeros((3, 3)), np.zeros(3), 0.8, ACTIVATIONS["sigmoid"])
    readout = fit.readout
    region, of_new = readout.boxes.codes(rows.initial), readout.boxes.codes(new)
    scores, resembles = np.zeros((30, 2)), np.zeros((30, n))
    for k in range(len(readout.ends)):
        own = region == k
        cases = readout.metric(rows.initial[own])
        assert len(cases) <= 50
        among = np.exp(-cdist(cases, cases, scipys))
        a, q = bordered(among, rows.target[own], fit.alpha / rows.weight[own])
        alike = np.exp(-cdist(readout.metric(new), cases, scipys))
        scores[of_new == k] = (alike @ a + q)[of_new == k]
        resembles[:, readout.regions[k]] = np.where(of_new[:, None] == k, alike, 0)
        np.testing.assert_allclose(fit.fitted[own], among @ a + q, atol=1e-6)
    there = space.put(new)
    np.testing.assert_allclose(space.host(raw_scores(readout, space, network, there)), scores, atol=1e-6)
    np.testing.assert_allclose(space.host(readout.resemblance(space, there)), resembles, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_of_many_rows_the_regions_choose_the_kind_of_metric(seed, monkeypatch):
    """Each kind alone, by the squared error of rows that are left out: the smaller one is that of both together."""
    monkeypatch.setattr(metric, "METRIC_FOLDS", {})
    monkeypatch.setattr(metric, "METRIC_GROUP", 150)
    monkeypatch.setattr(regions.cut_boxes, "__defaults__", (100,))
    rng = np.random.default_rng(seed)
    rows, codes, unit = problem(rng, 700)
    if seed:
        turned = rows.initial[:, :2] @ np.array([[1.0, 1.0], [1.0, -1.0]]) / 2
        codes = (np.sin(9 * turned[:, seed - 1]) > 0.2).astype(np.intp)
        rows = rows._replace(target=np.eye(2)[codes])
    fit, kinds = fit_regions(rows, codes, unit), []
    for single in (False, True):
        monkeypatch.setattr(metric, "_kinds", lambda rows, distance, single=single: (metric.Kind(single),))
        kinds.append(fit_regions(rows, codes, unit))
    errors = [((one.outside - rows.target) ** 2).sum() for one in kinds]
    np.testing.assert_array_equal(fit.outside, kinds[int(np.argmin(errors))].outside)
    assert errors[0] != errors[1]


@pytest.mark.parametrize(
    ("errors", "best"), [([], 0), ([(1.1, 1.0)], 1), ([(1.2, 0.5)], 0), ([(1.1, 1.0), (0.9, 0.9)], 2)]
)
def test_ways_that_err_alike_are_compared_on_more_regions(errors, best):
    few, many = COMPARED_REGIONS
    ways = [SimpleNamespace(error={few: one, many: other}.get) for one, other in [(1.0, 1.05), *errors]]
    assert best_way(ways) is ways[best]


def test_few_rows_are_one_region(rng):
    rows, codes, unit = problem(rng, 300)
    readout = fit_regions(rows, codes, unit).readout
    assert readout.ends.tolist() == [300]
    assert readout.boxes.cut.size == 0
    assert REGION_ROWS == 1500


@pytest.mark.parametrize("sharp", [1, 3, 9, 27])
def test_distances_along_axes_are_as_large_as_errs_least(sharp, monkeypatch):
    """Each size alone, by the squared error of rows that are left out: the first that the next does not undercut."""
    rng = np.random.default_rng(sharp)
    initial = rng.random((500, 2))
    codes = (np.sin(3 * sharp * initial[:, 0]) + 0.3 * rng.normal(size=500) > 0).astype(np.intp)
    rows, ones = Examples(initial, np.eye(2)[codes], np.ones(500)), np.ones(500)
    found, errors = fit_regions(rows, codes, ones, "axes"), []
    for size in regions.AXES_UNITS:
        monkeypatch.setattr(regions, "AXES_UNITS", (size,))
        alone = fit_regions(rows, codes, ones, "axes")
        errors.append(((alone.outside - rows.target) ** 2).sum())
        monkeypatch.undo()
        if alone.readout.metric.map[0, 0] == found.readout.metric.map[0, 0]:
            break
    assert errors[-1] == min(errors)
    # A size begins with the penalty of the last: a walk to the next may end where it would save less than its worth.
    assert ((found.outside - rows.target) ** 2).sum() == pytest.approx(errors[-1], rel=METRIC_WORTH)


@pytest.mark.parametrize("n", [150, 900, pytest.param(2500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("distance", ["straight", "axes"])
def test_outside_scores_are_as_good_as_those_of_new_rows(distance, n, rng):
    """On rows that the fit has never seen, the error is what the scores from outside said."""
    rows, codes, unit = problem(rng, n)
    noisy = np.where(rng.random(n) < 0.2, 1 - codes, codes)
    new, new_codes, _ = problem(rng, 2000)
    new_codes = np.where(rng.random(2000) < 0.2, 1 - new_codes, new_codes)
    fit = fit_regions(Examples(rows.initial, np.eye(2)[noisy], rows.weight), noisy, unit, distance)
    network = Network(np.zeros((3, 3)), np.zeros(3), 0.8, ACTIVATIONS["sigmoid"])
    predicted = raw_scores(fit.readout, NUMPY, network, new.initial)
    said = ((fit.outside - np.eye(2)[noisy]) ** 2).sum(axis=1).mean()
    true = ((predicted - np.eye(2)[new_codes]) ** 2).sum(axis=1).mean()
    assert said == pytest.approx(true, abs=0.02 + 0.6 / n**0.5)


def test_boxes_that_are_one(rng):
    boxes = Boxes(np.full((1, 2), -BEYOND), np.full((1, 2), BEYOND))
    assert boxes.codes(rng.random((5, 2))).tolist() == [0] * 5
