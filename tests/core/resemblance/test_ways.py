"""Remembered rows in regions against kernel ridges of each region, solved naively, and rows they have not seen."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist

from cogmap.core.constants import METRIC_WORTH, REGION_ROWS
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network
from cogmap.core.readout.terms import raw_scores
from cogmap.core.resemblance import metric, regions
from cogmap.core.resemblance import ways as ways_module
from cogmap.core.resemblance.metric import Examples, spread
from cogmap.core.resemblance.ways import LOOK, best_way, ways, worth_fitting
from cogmap.core.sums.space import NUMPY
from tests.core.resemblance.test_cases import CDIST, WEIGHTS, bordered, weights


def problem(rng, n, kind="ones"):
    initial = rng.random((n, 3))
    initial[:, 2] = initial[:, 2].round(1)
    codes = (np.sin(7 * initial[:, 0]) + initial[:, 1] > 0.7).astype(np.intp)
    weight, unit = weights(kind, n, rng)
    return Examples(initial, np.eye(2)[codes], weight), codes, unit


def mean_of(rows):
    return np.broadcast_to(rows.weight @ rows.target / rows.weight.sum(), rows.target.shape)


def fit_regions(rows, codes, unit, distance="straight"):
    """Remember rows where nothing but the shares of the classes is known."""
    return best_way(ways(rows, codes, unit, distance), mean_of(rows)).refined(codes).fit()


@cache
def fitted_in_small_regions(n, kind, distance):
    """Return rows, new rows and their fit, heard by one distance, which is that of every space."""
    rng = np.random.default_rng(0)
    rows, codes, unit = problem(rng, n, kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions.cut_boxes, "__defaults__", (50,))
        patch.setattr(metric, "SQUARE_ROWS", 0 if distance == "squared" else n + 1)
        patch.setitem(ways_module.HEARD, "squared", ("squared",))
        return rows, rng.random((30, 3)), fit_regions(rows, codes, unit, distance)


@pytest.mark.parametrize(("n", "kind"), [*((120, kind) for kind in WEIGHTS), (900, "fractional")])
@pytest.mark.parametrize("distance", CDIST)
def test_scores_are_those_of_the_kernel_ridge_of_each_region(distance, n, kind, space):
    rows, new, fit = fitted_in_small_regions(n, kind, distance)
    network = Network(np.zeros((3, 3)), np.zeros(3), 0.8, ACTIVATIONS["sigmoid"])
    readout = fit.readout
    assert readout.metric.distance == distance
    region, of_new = readout.boxes.codes(rows.initial), readout.boxes.codes(new)
    scores, resembles = np.zeros((30, 2)), np.zeros((30, n))
    for k in range(len(readout.ends)):
        own = region == k
        cases = readout.metrics[k](rows.initial[own])
        assert len(cases) <= 50
        among = np.exp(-cdist(cases, cases, CDIST[distance]))
        a, q = bordered(among, rows.target[own], fit.alpha / rows.weight[own])
        alike = np.exp(-cdist(readout.metrics[k](new), cases, CDIST[distance]))
        scores[of_new == k] = (alike @ a + q)[of_new == k]
        resembles[:, readout.regions[k]] = np.where(of_new[:, None] == k, alike, 0)
        np.testing.assert_allclose(fit.fitted[own], among @ a + q, atol=1e-6)
    there = space.put(new)
    np.testing.assert_allclose(space.host(raw_scores(readout, space, network, there)), scores, atol=1e-6)
    np.testing.assert_allclose(space.host(readout.resemblance(space, there)), resembles, atol=1e-6)


@pytest.fixture
def many(monkeypatch):
    """Limits that make 700 rows many, in regions of 100."""
    monkeypatch.setattr(metric, "METRIC_FOLDS", {})
    monkeypatch.setattr(metric, "METRIC_GROUP", 150)
    monkeypatch.setattr(regions.cut_boxes, "__defaults__", (100,))


def saved(rows, known, outside):
    """Return what the best weight of both saves of the squared error of what is known, by a general solver."""

    def error(share):
        return (rows.weight * (((1 - share) * known + share * outside - rows.target) ** 2).sum(axis=1)).sum()

    best = minimize_scalar(error, bounds=(0, 1), method="bounded", options={"xatol": 1e-9})
    return 1 - min(best.fun, error(0.0), error(1.0)) / error(0.0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("informed", [False, True])
def test_of_many_rows_the_kind_of_metric_is_that_which_saves_most(informed, seed, many, monkeypatch):
    """Each kind alone, in the regions of the first, by rows that are left out, beside what is known."""
    monkeypatch.setattr(ways_module, "COMPARED_REGIONS", (99, 99))
    first = []
    monkeypatch.setattr(
        ways_module,
        "cut_boxes",
        lambda *given: first[0] if first else first.append(regions.cut_boxes(*given)) or first[0],
    )
    rng = np.random.default_rng(seed)
    rows, codes, unit = problem(rng, 700, "fractional")
    if seed:
        turned = rows.initial[:, :2] @ np.array([[1.0, 1.0], [1.0, -1.0]]) / 2
        codes = (np.sin(9 * turned[:, seed - 1]) > 0.2).astype(np.intp)
        rows = rows._replace(target=np.eye(2)[codes])
    known = 0.6 * mean_of(rows) + 0.4 * rows.target if informed else mean_of(rows)
    known = known + rng.normal(size=known.shape) * 0.1 * informed
    tried = [way.penalised() for way in ways(rows, codes, unit, "straight")]
    savings = [saved(rows, known, way.fit().outside) for way in tried]
    for way, expected in zip(tried, savings, strict=True):
        assert way.gain(known, 99) == pytest.approx(expected, abs=1e-6)
    monkeypatch.setattr(ways_module, "ALIKE", 0.0)
    best = best_way(tried, known)
    assert best.metric is tried[int(np.argmax(savings))].metric
    assert savings[0] != savings[1]


def test_rows_that_say_next_to_nothing_are_not_remembered(many):
    rng = np.random.default_rng(0)
    rows, codes, unit = problem(rng, 700)
    tried = ways(rows, codes, unit, "straight")
    assert worth_fitting(tried, mean_of(rows))
    assert not worth_fitting(tried, 0.99 * rows.target + 0.005)
    noise = rng.integers(0, 2, 700)
    rows = rows._replace(target=np.eye(2)[noise])
    tried = ways(rows, noise, unit, "axes")
    assert max(way.gain(mean_of(rows), 4) for way in tried) < 5 * LOOK


def test_few_rows_are_one_region(rng):
    rows, codes, unit = problem(rng, 300)
    readout = fit_regions(rows, codes, unit).readout
    assert readout.ends.tolist() == [300]
    assert readout.boxes.cut.size == 0
    assert REGION_ROWS == 3000


@pytest.mark.parametrize("folds", [0, 2])
def test_few_rows_of_a_region_choose_for_all(folds, monkeypatch):
    _, codes, way = uneven(800, folds)
    judges = [judge for judges in way._judges(codes) for judge in judges]
    assert all(judge.compared is judge for judge in judges)
    monkeypatch.setattr(ways_module, "COMPARED_ROWS", 40)
    for judge in way._judges(codes)[0]:
        fewer = replace(judge).compared
        assert len(fewer.rows) == 40 < len(judge.rows)
        # Evenly from those who teach and those who judge, each on its side.
        assert fewer.first / 40 == pytest.approx(judge.first / len(judge.rows), abs=1 / 40)
        assert set(fewer.rows[: fewer.first]) < set(judge.rows[: judge.first])
        assert set(fewer.rows[fewer.first :]) < set(judge.rows[judge.first :])
        alone = replace(judge, rows=fewer.rows, first=fewer.first, known={})
        assert fewer.error(way.penalty) == alone.error(way.penalty)
    # What few rows chose is fitted to all.
    fit = way.penalised().refined(codes).fit()
    assert len(fit.readout.cases) == 800


@pytest.mark.parametrize("sharp", [1, 3, 9, 27])
@pytest.mark.parametrize("distance", ["straight", "axes"])
def test_distances_are_heard_as_errs_least(distance, sharp, monkeypatch):
    """Each kind and size alone, by the squared error of those who choose: none that is near errs less."""
    monkeypatch.setattr(metric, "SQUARE_ROWS", 500)
    taught = "axes" if distance == "axes" else "squared"
    # One penalty for all: walks over penalties would begin elsewhere.
    walk = ways_module._penalty
    monkeypatch.setattr(ways_module, "_penalty", lambda folds, start, hopeless=0.0: walk(folds, start, -1.0))
    assert next(folds for most, folds in metric.METRIC_FOLDS.items() if most >= 500) == 3
    rng = np.random.default_rng(sharp)
    initial = rng.random((500, 2))
    codes = (np.sin(3 * sharp * initial[:, 0]) + 0.3 * rng.normal(size=500) > 0).astype(np.intp)
    rows, ones = Examples(initial, np.eye(2)[codes], np.ones(500)), np.ones(500)
    found, places, errors = fit_regions(rows, codes, ones, distance).readout.metric, {}, {}
    choosing = spread(codes)[::3]
    for heard, (place, size) in product(ways_module.HEARD[taught], enumerate(ways_module.UNITS)):
        with monkeypatch.context() as patch:
            patch.setitem(ways_module.HEARD, taught, (heard,))
            patch.setattr(ways_module, "UNITS", (size,))
            alone = fit_regions(rows, codes, ones, distance)
        errors[heard, place] = ((alone.outside - rows.target)[choosing] ** 2).sum()
        places[heard, alone.readout.metric.map[0, 0]] = place
    place = places[found.distance, found.map[0, 0]]
    near = [error for (heard, other), error in errors.items() if abs(other - place) <= (heard == found.distance)]
    assert errors[found.distance, place] == min(near)


@pytest.mark.parametrize(("enough", "heard"), [(300, "squared"), (301, "straight")])
def test_straight_distances_teach_few_rows(enough, heard, monkeypatch):
    rng = np.random.default_rng(0)
    initial = rng.random((300, 2))
    codes = (initial.sum(axis=1) > 1).astype(np.intp)
    monkeypatch.setattr(metric, "SQUARE_ROWS", enough)
    monkeypatch.setitem(ways_module.HEARD, "squared", ("squared",))
    [way] = ways(Examples(initial, np.eye(2)[codes], np.ones(300)), codes, np.ones(300), "straight")
    assert {problem.metric.distance for fold in (way.problems, *way.folds) for problem in fold} == {heard}


@pytest.mark.parametrize("smooth", [True, False])
def test_straight_distances_are_squared_where_classes_are_smooth(smooth, monkeypatch):
    """Rows of a smooth score, and of one that jumps from cell to cell."""
    monkeypatch.setattr(metric, "SQUARE_ROWS", 600)
    rng = np.random.default_rng(1)
    initial = rng.random((600, 2))
    board = np.sign(np.sin(14 * initial[:, 0]) * np.sin(14 * initial[:, 1])) + 0.7 * rng.normal(size=600)
    codes = ((initial.sum(axis=1) - 1 + 0.2 * rng.normal(size=600) if smooth else board) > 0).astype(np.intp)
    rows = Examples(initial, np.eye(2)[codes], np.ones(600))
    found = fit_regions(rows, codes, np.ones(600), "straight").readout.metric.distance
    assert found == ("squared" if smooth else "straight")


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


@cache
def uneven(n, folds):
    """Return rows whose classes other concepts tell apart on either side, their codes, and their way."""
    rng = np.random.default_rng(3)
    initial = rng.random((n, 4))
    one, other = np.sin(6 * initial[:, 1]), np.sin(6 * initial[:, 2])
    codes = (np.where(initial[:, 0] > 0.5, one, other) > 0).astype(np.intp)
    weight = rng.uniform(0.5, 2, n)
    rows, unit = Examples(initial, np.eye(2)[codes], weight), np.minimum(weight, 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metric, "METRIC_FOLDS", {n: folds} if folds else {})
        patch.setattr(metric, "METRIC_GROUP", 150)
        patch.setattr(regions.cut_boxes, "__defaults__", (200,))
        return rows, codes, best_way(ways(rows, codes, unit, "straight"), mean_of(rows))


@pytest.mark.parametrize("folds", [0, 2])
def test_regions_have_metrics_of_their_own_where_these_err_less(folds, space):
    rows, codes, way = uneven(800, folds)
    own = way.refined(codes)
    fit, before = own.fit(), way.fit()
    errors = [(rows.weight * ((one.outside - rows.target) ** 2).sum(axis=1)).sum() for one in (fit, before)]
    assert errors[0] < (1 - METRIC_WORTH) * errors[1]
    metrics = fit.readout.metrics
    assert len({found.map.tobytes() for found in metrics}) == len(metrics) > 2
    # Scores are those of each region's kernel ridge in its metric, in every space.
    new = np.random.default_rng(1).random((50, 4))
    region, expected = fit.readout.boxes.codes(rows.initial), np.zeros((50, 2))
    for k, found in enumerate(metrics):
        z, there = found(rows.initial[region == k]), fit.readout.boxes.codes(new) == k
        penalty = fit.alpha / rows.weight[region == k]
        scipys = CDIST[found.distance]
        a, q = bordered(np.exp(-cdist(z, z, scipys)), rows.target[region == k], penalty)
        expected[there] = np.exp(-cdist(found(new[there]), z, scipys)) @ a + q
    network = Network(np.zeros((4, 4)), np.zeros(4), 0.8, ACTIVATIONS["sigmoid"])
    said = space.host(raw_scores(fit.readout, space, network, space.put(new)))
    np.testing.assert_allclose(said, expected, atol=1e-6)


@pytest.mark.parametrize("folds", [0, 2])
def test_rows_are_judged_in_a_metric_that_others_of_their_region_taught(folds):
    """Changing the classes of rows that judge changes no metric that they are judged in."""
    rows, codes, way = uneven(800, folds)
    for fold in zip(*way._judges(codes), strict=True):
        for judge in fold:
            judging = judge.rows[judge.first :]
            target = rows.target.copy()
            target[judging] = 1 - target[judging]
            changed = replace(judge, all_rows=rows._replace(target=target))
            found, same = (one.taught_further(way.lesson, 2, way.hearing).metric for one in (judge, changed))
            np.testing.assert_array_equal(found.map, same.map)
    judged = np.concatenate([judge.rows[judge.first :] for judges in way._judges(codes) for judge in judges])
    assert sorted(judged) == list(range(800))


def test_noise_teaches_regions_no_metric():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 600)
    rows = Examples(rng.random((600, 5)), np.eye(2)[codes], np.ones(600))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions.cut_boxes, "__defaults__", (150,))
        way = best_way(ways(rows, codes, np.ones(600, dtype=bool), "straight"), mean_of(rows))
        assert len(way.problems) > 2
        assert way.refined(codes) is way
        # Even if they must, what is said of rows from outside is no better than the shares of the classes.
        patch.setattr(ways_module, "METRIC_WORTH", -9.0)
        patch.setattr(ways_module, "_penalty", lambda folds, start: (0.0, start))
        outside = way.refined(codes).fit().outside
    assert ((outside - rows.target) ** 2).sum(axis=1).mean() > 0.49


def test_where_a_fold_has_no_row_of_a_region_all_keep_their_metric():
    _, codes, way = uneven(800, 0)
    few = replace(way.problems[0], rows=way.problems[0].rows[:1])
    problems = [few, *way.problems[1:]]
    lacking = way._replace(problems=problems, folds=[problems])
    assert lacking.refined(codes) is lacking
