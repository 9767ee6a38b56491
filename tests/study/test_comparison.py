import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cogmap.study.comparison import against, average_ranks, cliques, complete, critical_difference, friedman, holm


@pytest.fixture
def scores(rng):
    return pd.DataFrame(rng.uniform(size=(12, 4)) + np.array([0.5, 0, 0, 0.02]), columns=list("abcd"))


def test_ranks_share_ties_and_put_the_largest_first():
    table = pd.DataFrame({"a": [3.0, 1.0], "b": [2.0, 1.0], "c": [1.0, 0.0]})
    assert average_ranks(table).to_dict() == {"a": 1.25, "b": 1.75, "c": 3.0}


def test_friedman_from_its_formula(scores):
    n, k = scores.shape
    ranks = average_ranks(scores)
    expected = 12 * n / (k * (k + 1)) * ((ranks**2).sum() - k * (k + 1) ** 2 / 4)
    statistic, p = friedman(scores)
    assert statistic == pytest.approx(expected)
    assert p == pytest.approx(stats.chi2.sf(expected, k - 1))
    assert np.isnan(friedman(scores[["a", "b"]])[0])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values):
    p = np.array(p_values)
    corrected = holm(p)
    assert (corrected >= p - 1e-15).all()
    for level in (0.01, 0.05, 0.3):
        rejected, order = np.zeros(len(p), dtype=bool), np.argsort(p, kind="stable")
        for step, index in enumerate(order):
            if p[index] * (len(p) - step) >= level:
                break
            rejected[index] = True
        assert (rejected == (corrected < level)).all()


def test_against_counts_and_tests_differences(scores):
    table = against(scores, "a").set_index("classifier")
    difference = scores["b"] - scores["a"]
    assert table.loc["b", "wins"] == (difference > 0).sum()
    assert table.loc["b", "difference"] == pytest.approx(difference.mean())
    assert table.loc["b", "p"] == stats.wilcoxon(scores["b"], scores["a"]).pvalue
    assert against(scores.assign(b=scores["a"]), "a").set_index("classifier").loc["b", "p"] == 1


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_difference_of_demsars_table(k, q):
    """The critical values for α = .05 printed in Demšar (2006), table 5a."""
    assert critical_difference(k, 30) == pytest.approx(q * np.sqrt(k * (k + 1) / 180), abs=2e-3)


def test_cliques_are_the_longest_runs_within_the_difference():
    ranks = pd.Series({"a": 1.0, "b": 1.5, "c": 2.2, "d": 4.0})
    assert cliques(ranks, 1.0) == [(1.0, 1.5), (1.5, 2.2)]
    assert cliques(ranks, 5.0) == [(1.0, 4.0)]
    assert cliques(ranks, 0.1) == []


def test_incomplete_columns_are_named():
    whole, left_out = complete(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.nan]}))
    assert list(whole) == ["a"]
    assert left_out == ["b"]
