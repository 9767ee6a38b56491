from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize
from scipy.spatial.distance import cdist
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import cohen_kappa_score, log_loss
from sklearn.utils.estimator_checks import (
    check_dict_unchanged,
    check_estimators_pickle,
    check_fit_idempotent,
    check_methods_sample_order_invariance,
    check_methods_subset_invariance,
    parametrize_with_checks,
)

from cogmap import LTCNClassifier, LTCNClassifierCV, NoInformationWarning
from cogmap.core.constants import AXES_CONCEPTS
from cogmap.core.decision.decision import class_covariance, decide
from cogmap.core.resemblance import metric
from cogmap.core.sums.rows import JudgeScores
from cogmap.estimators import tuned
from cogmap.estimators.grid import block_labels
from cogmap.estimators.stacking import (
    LEAST_WEIGHT,
    ONE_HOT,
    groundwork,
    least_squares,
    stack_weights,
)
from tests.core.resemblance.test_cases import CDIST, bordered


@parametrize_with_checks([LTCNClassifierCV(inner="slopes", terms=None, pairs=False)])
@pytest.mark.filterwarnings("ignore::cogmap.NoInformationWarning")  # some checks fit noise
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        check_dict_unchanged,
        check_estimators_pickle,
        check_fit_idempotent,
        check_methods_sample_order_invariance,
        check_methods_subset_invariance,
    ],
)
@pytest.mark.filterwarnings("ignore::cogmap.NoInformationWarning")
def test_scikit_learn_conformance_of_the_whole_grid(check):
    """The checks that more members could break: what is kept, copied and computed row by row."""
    check("LTCNClassifierCV", LTCNClassifierCV())


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.mark.parametrize("scoring", ["squared_error", "error", "kappa", "log_loss"])
def test_best_is_the_single_classifier_with_those_parameters(wine, scoring):
    X, y = wine
    search = LTCNClassifierCV(
        combine="best", scoring=scoring, cases=False, phi=(0.5, 0.9), terms=None, pairs=False
    ).fit(X, y)
    single = LTCNClassifier(**search.best_params_).fit(X, y)
    np.testing.assert_allclose(search.decision_function(X), single.decision_function(X), rtol=1e-9)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.cv_results_["rank_test_score"].min() == 1
    assert len(search.cv_results_["params"]) == 4


def member(raw, codes, weight, ground=None):
    network, scores = SimpleNamespace(between=class_covariance(raw, codes, weight)), JudgeScores(raw, codes, weight)
    return SimpleNamespace(scores=scores, network=network, ground=ground, model=object())


def test_a_member_that_went_astray_leaves_the_others_their_weights(rng):
    codes, weight = rng.integers(0, 3, 400), np.ones(400)
    good = np.eye(3)[codes] + rng.normal(size=(400, 3)) / 4
    astray = 1e9 * rng.normal(size=(400, 3))
    found = stack_weights([member(raw, codes, weight) for raw in (good, astray)])
    np.testing.assert_array_equal(found, [1.0, 0.0])


def test_members_of_a_small_squared_error_that_decide_badly_are_left_out(rng):
    """Scores of the least squared error may be worse to decide by: here they are wrong for one row in eight."""
    codes, weight = np.arange(400) % 4, np.ones(400)
    target = np.eye(4)[codes]
    exact = 0.2 * target + 0.01 * rng.normal(size=(400, 4))
    wrong = rng.random(400) < 0.12
    close = np.where(wrong[:, None], np.eye(4)[(codes + 1) % 4], target) * 0.9
    assert (least_squares([JudgeScores(raw, codes, weight) for raw in (exact, close)]) > 0).all()
    assert stack_weights([member(raw, codes, weight) for raw in (exact, close)])[1] == 0


def test_a_stack_has_the_least_log_loss_that_scores_of_one_decision_allow(rng):
    """A general solver finds the same weights."""
    codes, weight = rng.integers(0, 3, 600), rng.uniform(0.5, 2, 600)
    target = np.eye(3)[codes]
    raws = [target + rng.normal(size=(600, 3)) * scale for scale in (0.5, 0.6, 0.7)]
    prior = weight @ target / weight.sum()
    start = least_squares([JudgeScores(raw, codes, weight) for raw in raws])
    summed = (1 - start.sum()) * prior + np.tensordot(start, raws, 1)
    judged, between = JudgeScores(summed, codes, weight), class_covariance(summed, codes, weight)
    decision = decide(judged, between, "accuracy", ONE_HOT, corrected=False)

    def loss(factors):
        scores = sum(f * (raw - prior) for f, raw in zip(factors, raws, strict=False)) @ decision.projection
        return log_loss(codes, softmax(scores + factors[3] * decision(prior[None]), axis=1), sample_weight=weight)

    expected = minimize(loss, np.ones(4), bounds=[(0, None)] * 3 + [(None, None)], tol=1e-12).x[:3]
    found = stack_weights([member(raw, codes, weight) for raw in raws])
    np.testing.assert_allclose(found, expected / expected.sum(), atol=2e-3)  # the smoothing of 1 / (n + 2)


def test_rows_are_remembered_by_both_distances(wine):
    search = LTCNClassifierCV(inner="slopes", pairs=False).fit(*wine)
    tried = [(params["terms"], params["cases"]) for params in search.cv_results_["params"]]
    assert tried == [(None, False), (5, False), (None, True), (None, "axes")]


def test_many_concepts_are_compared_by_straight_distances_alone(rng):
    X, y = rng.normal(size=(60, AXES_CONCEPTS + 1)), np.arange(60) % 2
    for width, expected in ((AXES_CONCEPTS, [False, True, "axes"]), (AXES_CONCEPTS + 1, [False, True])):
        search = LTCNClassifierCV(inner="slopes", pairs=False, terms=None).fit(X[:, :width], y)
        assert [params["cases"] for params in search.cv_results_["params"]] == expected


def test_more_rows_than_are_judged_in_folds_may_be_remembered_in_terms(rng, monkeypatch):
    """Each network's concepts alone, by the squared error of rows that are left out: the smaller one is taken."""
    for module in (tuned, metric):
        monkeypatch.setattr(module, "METRIC_FOLDS", {200: 2})
    remember, tried = tuned.remember, []

    def error(fit):
        raw, codes, weight = fit.scores
        return float(weight @ ((raw - np.eye(2)[codes]) ** 2).sum(axis=1))

    def compared(known, models, distance, ground):
        assert ground is None  # where one model is taken, and not a stack
        fit = remember(known, models, distance)
        assert error(fit) == min(error(remember(known, [model], distance)) for model in models)
        tried.append((distance, len(models)))
        return fit

    monkeypatch.setattr(tuned, "remember", compared)
    X = rng.normal(size=(400, 3)).round(1)
    y = (np.abs(X[:, 0]) > 0.7) ^ (rng.random(400) < 0.1)
    for n, models in ((400, 2), (150, 1)):
        tried.clear()
        LTCNClassifierCV(inner="slopes", pairs=False, n_jobs=1, combine="best").fit(X[:n], y[:n])
        assert tried == [("straight", models), ("axes", models)]


@pytest.fixture
def wavy(rng):
    """Three classes that a line and a wave tell apart, and the limits that make 300 rows many."""
    X = rng.uniform(size=(600, 3)).round(3)
    score = X[:, 0] + 0.4 * np.sin(9 * X[:, 1]) + 0.1 * rng.normal(size=600)
    with pytest.MonkeyPatch.context() as patch:
        for module in (tuned, metric):
            patch.setattr(module, "METRIC_FOLDS", {200: 2})
        patch.setattr(metric, "METRIC_GROUP", 120)
        yield X, np.digitize(score, [0.4, 0.8])


@pytest.mark.parametrize("place", [1, 2])
def test_many_rows_are_remembered_for_what_the_rest_of_the_stack_leaves(place, wavy, monkeypatch):
    """The rest is a fit without them; what it leaves of the rows, each from outside, is their kernel ridge."""
    X, y = wavy
    given = {"inner": "slopes", "terms": None}
    rest = LTCNClassifierCV(cases=False, **given).fit(X[:300], y[:300])
    tried = []
    monkeypatch.setattr(tuned, "stack_weights", lambda members: tried.extend(members) or np.eye(len(members))[place])
    model = LTCNClassifierCV(**given).fit(X[:300], y[:300])
    found, said = tried[place], rest.fitted_.raw(X)
    rows, outside = found.network.judges, found.ground.scores.raw
    raw = found.ground.raw(np.vstack([X, rows.X]), np.arange(600, 900))
    np.testing.assert_allclose(raw, np.vstack([said, outside]), atol=1e-9)
    # Everything is linear in what is said of rows, so that their own kernel ridge is what is added.
    z, new = (found.model.readout.metric(found.model.concepts(part)) for part in (rows.X, X))
    scipys = CDIST[found.model.readout.metric.distance]
    a, q = bordered(np.exp(-cdist(z, z, scipys)), np.eye(3)[rows.codes] - outside, np.full(300, found.solved.alpha))
    expected = said + np.exp(-cdist(new, z, scipys)) @ a + q
    np.testing.assert_allclose(model.fitted_.raw(X), expected, atol=1e-6)
    # Reported are the weights of the models that are asked: the rest has its own.
    weights = model.cv_results_["stack_weight"]
    np.testing.assert_allclose(weights, np.insert(rest.cv_results_["stack_weight"], 1, np.eye(2)[place - 1]), atol=1e-9)
    np.testing.assert_array_equal([weight for _, weight in model.fitted_.members], weights[weights > 0])


@pytest.mark.parametrize(("combine", "n"), [("best", 300), ("stack", 190)])
def test_rows_are_remembered_beside_nothing(combine, n, wavy, monkeypatch):
    """Where one network is chosen, and where rows are judged in folds."""
    monkeypatch.setattr(tuned, "groundwork", None)
    X, y = wavy
    LTCNClassifierCV(inner="slopes", terms=None, combine=combine).fit(X[:n], y[:n])


def test_of_two_classes_rows_are_remembered_beside_the_rest_and_not_for_what_it_leaves(wavy, monkeypatch):
    """The rest chooses how: of one way, the fit is that without it."""
    remember, compared = tuned.remember, []

    def both(known, models, distance, ground):
        fits = remember(known, models[:1], distance, ground), remember(known, models[:1], distance)
        scores = [(one.scores.raw, one.between) for one in fits]
        compared.append(ground.taken)
        for pair in zip(*scores, strict=True):
            np.testing.assert_array_equal(*pair)
        return fits[0]

    monkeypatch.setattr(tuned, "remember", both)
    monkeypatch.setattr(metric, "METRIC_CONCEPTS", 0)  # of straight distances one kind of metric
    X, y = wavy
    LTCNClassifierCV(inner="slopes", terms=None, n_jobs=1).fit(X[:300], y[:300] > 0)
    assert compared == [False, False]


def test_rows_that_say_next_to_nothing_beside_the_rest_are_no_members(wavy, rng):
    X, _ = wavy
    y = (X[:, 0] + 0.2 * rng.normal(size=600) > 0.5).astype(int)
    model = LTCNClassifierCV(inner="slopes", terms=None).fit(X, y)
    assert [params["cases"] for params in model.cv_results_["params"]] == [False, False]
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("taken", [True, False])
def test_there_is_no_groundwork_where_the_rest_tells_nothing(taken):
    codes = np.arange(30) % 3
    assert groundwork([member(np.full((30, 3), 1 / 3), codes, np.ones(30))], taken) is None


def test_terms_are_those_of_the_last_inner_weights(wine):
    """A grid of terms is multiplied by all others; "auto" is not."""
    plain = {"cases": False, "pairs": False, "max_iter": 1}
    sparing = LTCNClassifierCV(**plain).fit(*wine).cv_results_["params"]
    named = [(params["inner"], params["terms"]) for params in sparing]
    assert named == [("slopes", None), ("stable-regression", None), ("stable-regression", 5)]
    every = LTCNClassifierCV(terms=(None, 5), **plain).fit(*wine).cv_results_["params"]
    assert len(every) == 4


def test_many_features_are_not_multiplied_by_terms(rng):
    X, y = rng.normal(size=(40, 61)), np.arange(40) % 2
    X[:, 0] += 3 * y
    search = LTCNClassifierCV(inner="slopes", max_iter=1).fit(X, y)
    assert {params["terms"] for params in search.cv_results_["params"]} == {None}


def test_pairs_are_a_member_that_shares_a_network(rng):
    """Two features act together alone: the sign of their product is the class, beside two that are noise."""
    X = rng.uniform(-1, 1, size=(600, 4))
    y = (X[:, 1] * X[:, 3] > 0).astype(int)
    model = LTCNClassifierCV(cases=False, terms=None).fit(X[:400], y[:400])
    params = model.cv_results_["params"]
    assert [one.get("pairs", False) for one in params] == [False, False, True]
    assert model.cv_results_["param_pairs"].tolist() == [False, False, True]
    assert model.cv_results_["stack_weight"][2] > 0.5
    assert len(model.fitted_.networks) == len({id(one.network) for one, _ in model.fitted_.members})
    assert model.inner_weights_.shape == 2 * (4 * len(model.fitted_.networks),)
    assert model.score(X[400:], y[400:]) > 0.9
    assert clone(model).set_params(pairs=False).fit(X, y).cv_results_["param_pairs"].tolist() == [False, False]


@pytest.mark.parametrize("options", [{"terms": 3}, {"pairs": False}])
def test_pairs_are_left_out(rng, options):
    X = rng.uniform(size=(200, 3))
    model = LTCNClassifierCV(cases=False, **options).fit(X, (X[:, 0] > 0.5).astype(int))
    assert not model.cv_results_["param_pairs"].any()
    with pytest.raises(ValueError, match="pairs=True is unknown"):
        LTCNClassifierCV(pairs=True).fit(X, (X[:, 0] > 0.5).astype(int))


def test_weights_to_begin_with_are_the_non_negative_least_squares(rng):
    codes, weight = rng.integers(0, 3, 80), rng.uniform(0.5, 2, 80)
    target = np.eye(3)[codes]
    members = [target * scale + rng.normal(size=(80, 3)) / 2 for scale in (0.9, 0.7, -0.5)]
    found = least_squares([JudgeScores(raw, codes, weight) for raw in members])
    prior = weight @ target / weight.sum()
    root = np.sqrt(weight)[:, None]
    design = np.column_stack([((m - prior) * root).ravel() for m in members])
    expected = lsq_linear(design, ((target - prior) * root).ravel(), bounds=(0, np.inf)).x
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert found[2] == 0


def test_members_that_tell_little_are_left_out(rng):
    codes, weight = rng.integers(0, 3, 400), np.ones(400)
    target = np.eye(3)[codes]
    good = target + rng.normal(size=(400, 3)) / 4
    poor = target / 20 + rng.normal(size=(400, 3))
    found = stack_weights([member(raw, codes, weight) for raw in (poor, good)])
    np.testing.assert_array_equal(found, [0.0, 1.0])


def test_members_that_tell_little_but_are_asked_anyway_are_not_left_out(rng):
    codes, weight = rng.integers(0, 3, 4000), np.ones(4000)
    target = np.eye(3)[codes]
    good, fair = target + rng.normal(size=(4000, 3)), target + 4 * rng.normal(size=(4000, 3))
    members = [member(fair, codes, weight), member(good, codes, weight)]
    assert stack_weights(members)[0] == 0
    members[1].ground = SimpleNamespace(members=[(members[0].model, 1.0)])
    assert 0 < stack_weights(members)[0] < LEAST_WEIGHT


def test_of_many_members_that_are_all_light_some_stay(rng):
    """Each of twelve that err alike would have less than a tenth of all weight: they must not all be left out."""
    codes, weight = rng.integers(0, 3, 900), np.ones(900)
    raws = [np.eye(3)[codes] + rng.normal(size=(900, 3)) for _ in range(12)]
    found = stack_weights([member(raw, codes, weight) for raw in raws])
    assert found.sum() == pytest.approx(1)
    assert np.count_nonzero(found) > 1
    assert found[found > 0].min() >= LEAST_WEIGHT


def test_a_model_that_reads_no_iteration_has_one_for_scikit_learn(wine, monkeypatch):
    """Its checks ask for one; the outer weights say that none is read."""
    monkeypatch.setattr(tuned, "stack_weights", lambda members: np.eye(len(members))[1])
    model = LTCNClassifierCV(inner="slopes", terms=None, pairs=False).fit(*wine)
    assert model.n_iter_ == 1
    assert model.trajectory(wine[0]).shape[1] == len(model.outer_weights_) == 1
    assert not model.outer_weights_.any()


def test_the_stack_is_one_network(wine):
    """States and outer weights of the published network give the raw scores of rows that the gate lets through."""
    X, y = wine
    model = LTCNClassifierCV(cases=False, max_iter=2, activation=("sigmoid", "tanh"), terms=None, pairs=False).fit(X, y)
    states = model.trajectory(X)
    assert model.inner_weights_.shape == 2 * (len(model.concept_names_),)
    assert states.shape == (178, model.n_iter_ + 1, len(model.concept_names_))
    raw = np.einsum("ntm,tmk->nk", states, model.outer_weights_) + model.outer_bias_
    exact = np.abs(raw - model.fitted_.raw(X.to_numpy())).max(axis=1) < 1e-6
    assert exact.mean() > 0.9
    n_blocks = (model.cv_results_["stack_weight"] > 0).sum()
    assert len(model.concept_names_) == 13 * n_blocks
    blocks = model.inner_weights_.reshape(n_blocks, 13, n_blocks, 13)
    for i in range(n_blocks):
        assert not blocks[i, :, np.arange(n_blocks) != i].any()


def test_relevance_has_one_value_a_feature_whatever_the_blocks(wine):
    model = LTCNClassifierCV(terms=(None, 3), cases=False, pairs=False).fit(*wine)
    assert model.relevance().shape == (13,)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert "fixed point" in str(model.diagnose(wine[0]))


def test_probabilities_agree_with_predict_and_are_better_than_the_prior():
    X, y = load_breast_cancer(return_X_y=True)
    model = LTCNClassifierCV().fit(X[::4], y[::4])
    probability = model.predict_proba(X[1::2])
    assert (model.classes_[probability.argmax(axis=1)] == model.predict(X[1::2])).all()
    assert log_loss(y[1::2], probability) < log_loss(y[1::2], np.full((len(y[1::2]), 2), [1 - y.mean(), y.mean()])) / 2


@pytest.mark.parametrize("name", ["vehicle", "yeast", "winequality-red"])
def test_the_order_of_the_training_rows_does_not_matter(name, paper_data):
    X, y = paper_data(name)
    X, y = X[:200], y[:200]
    order = np.random.default_rng(0).permutation(len(X))
    scores = LTCNClassifierCV().fit(X, y).decision_function(X)
    permuted = LTCNClassifierCV().fit(X[order], y[order]).decision_function(X)
    np.testing.assert_allclose(permuted, scores, rtol=0, atol=1e-6 * np.abs(scores).max())


def test_cases_help_where_neighbours_matter(paper_data):
    X, y = paper_data("winequality-red")
    kept = np.isin(y, np.flatnonzero(np.bincount(y.astype(int)) > 4))
    X, y = X[kept], y[kept]
    train = np.random.default_rng(0).random(len(X)) < 0.6
    plain = LTCNClassifierCV(inner="slopes", terms=None, pairs=False, cases=False)
    kappa = [
        cohen_kappa_score(y[~train], model.fit(X[train], y[train]).predict(X[~train]))
        for model in (plain, clone(plain).set_params(cases="auto"))
    ]
    assert kappa[1] > kappa[0] + 0.05


def test_the_number_of_jobs_changes_no_bit(wine):
    X, y = wine[0][::2], wine[1][::2]
    expected = LTCNClassifierCV().fit(X, y).decision_function(X)
    for n_jobs in (1, 2, -1):
        assert (LTCNClassifierCV(n_jobs=n_jobs).fit(X, y).decision_function(X) == expected).all()


def test_weights_are_frequencies():
    X, y = load_iris(return_X_y=True)
    times = np.random.default_rng(0).integers(0, 3, len(X))
    model = LTCNClassifierCV()
    weighted = clone(model).fit(X, y, sample_weight=times).decision_function(X)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, rtol=0, atol=1e-6 * np.abs(repeated).max())


def test_no_varying_feature_predicts_the_most_frequent_class():
    with pytest.warns(NoInformationWarning):
        model = LTCNClassifierCV().fit(np.ones((5, 2)), ["a", "b", "b", "b", "a"])
    assert list(model.predict([[1, 1], [2, 3]])) == ["b", "b"]


@pytest.mark.parametrize("X", [[0, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2]])
@pytest.mark.filterwarnings("ignore::cogmap.NoInformationWarning")
def test_a_handful_of_rows_is_fitted(X):
    """Also where all rows that teach a metric are alike."""
    y = np.arange(len(X)) % 2
    assert np.isfinite(LTCNClassifierCV().fit(np.array(X, float)[:, None], y).predict_proba([[0.0], [1.0]])).all()


def test_a_column_out_of_range_is_named(wine):
    with pytest.raises(ValueError, match=r"column 'alcohol' goes from 11\.03 to 14\.83"):
        LTCNClassifierCV(scaling=None).fit(*wine)


def test_labels_say_how_blocks_differ():
    base = {"phi": 0.8, "activation": "tanh", "inner": "slopes", "scaling": None, "terms": None, "max_iter": 3}
    assert block_labels([base]) == [""]
    assert block_labels([base, base | {"inner": "regression", "terms": 3}]) == [
        " [slopes, no terms]",
        " [regression, 3 terms]",
    ]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"phi": ()}, "phi is an empty grid"),
        ({"phi": (0.5, 2)}, "phi=2 must be a number from 0 to 1"),
        ({"combine": "vote"}, "combine='vote' is unknown: use one of 'stack', 'best'."),
        ({"scoring": "f1"}, "scoring='f1' is unknown"),
        ({"cases": True}, "cases=True is unknown: use one of 'auto', False."),
        ({"n_jobs": 0}, "n_jobs=0 must be None or a whole number that is not 0"),
    ],
)
def test_bad_parameters_are_named(wine, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LTCNClassifierCV(**parameters).fit(*wine)


@pytest.mark.parametrize("noise", [0.0, 1e-12, -1e-12])
def test_rounding_does_not_decide_between_perfect_fits(noise):
    """The simplest wins, whichever of them comes out ahead by rounding; a real difference decides."""
    simple = SimpleNamespace(loo={"squared_error": -1e-29 - noise**2}, complexity=(False, 4, 5.0))
    larger = SimpleNamespace(loo={"squared_error": -1e-29 + noise**2}, complexity=(False, 4, 9.0))
    better = SimpleNamespace(loo={"squared_error": 1e-3}, complexity=(True, 4, 50.0))
    search = LTCNClassifierCV()
    assert search._best([larger, simple]) is simple
    assert search._best([simple, larger]) is simple
    assert search._best([simple, larger, better]) is better
