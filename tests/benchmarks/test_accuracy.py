"""Rivals are compared on the same sets, with corrected tests; what is too slow is ended and said to be."""

import numpy as np
import pytest
from scipy.stats import wilcoxon

pd = pytest.importorskip("pandas")


def rows_of(method, accuracies, dataset, error=None):
    """Return five folds of a method; folds without an accuracy were not finished."""
    return [
        {"dataset": dataset, "seed": 1, "fold": fold, "method": method, "error": None if np.isfinite(a) else error}
        | dict.fromkeys(("kappa", "accuracy", "log_loss"), a)
        for fold, a in enumerate(accuracies)
    ]


def test_holm_rejects_as_stepping_down_does():
    from accuracy import holm

    p = np.random.default_rng(0).uniform(size=9) ** 4
    for level in (0.001, 0.01, 0.05, 0.2):
        rejected = np.zeros(len(p), dtype=bool)
        for step, i in enumerate(np.argsort(p)):
            if p[i] > level / (len(p) - step):
                break
            rejected[i] = True
        np.testing.assert_array_equal(holm(p) <= level, rejected)


def test_a_method_is_compared_where_it_finished_every_fold():
    from accuracy import against, by_dataset, summary

    rng = np.random.default_rng(1)
    rows = []
    for k in range(8):
        ours = rng.uniform(0.8, 0.9, 5)
        rows += rows_of("LTCNClassifierCV", ours, f"set {k}") + rows_of("SVM", ours - 0.01 * (k + 1), f"set {k}")
    rows += rows_of("SVM", [0.1, 0.1, 0.1, 0.1, np.nan], "slow set", "too slow: more than 9 s")
    rows += rows_of("LTCNClassifierCV", [1.0] * 5, "slow set")
    part = pd.DataFrame(rows)
    accuracy = by_dataset(part, "accuracy")
    assert accuracy.SVM.count() == 8
    difference = 0.01 * np.arange(1, 9)
    expected = f"{difference.mean():+.4f} ({wilcoxon(difference).pvalue:.1g})"
    assert against(accuracy, "LTCNClassifierCV", ["SVM"]) == {"SVM": expected}
    line = next(line for line in summary(part, "LTCNClassifierCV").splitlines() if line.startswith("| SVM"))
    assert "| 8 (1 not finished) |" in line
    assert expected in line


def test_halves_hold_all_sets_and_tear_no_family_apart():
    from data import HALVES, MORE, PAPER, family, half

    for group in (PAPER, MORE):
        found = {}
        for name in group:
            found.setdefault(family(name), set()).add(half(name))
        assert all(len(halves) == 1 for halves in found.values())
        counts = [sum(half(name) == which for name in group) for which in HALVES]
        assert min(counts) > len(group) / 3


@pytest.mark.slow
def test_what_is_too_slow_is_ended_and_said_to_be():
    from accuracy import attempt, fresh_process

    pool = fresh_process()
    row, new = attempt(pool, ("digits", 42, 0, "random forest"), threads=1, limit=0)
    new.shutdown()
    assert row["error"] == "too slow: more than 0 s"
    assert row["accuracy"] == ""
    assert new is not pool


def test_rows_that_are_forgotten_are_only_those_of_the_method(tmp_path, monkeypatch):
    import accuracy

    monkeypatch.setattr(accuracy, "RESULTS", tmp_path)
    for method in ("SVM", "EBM"):
        for dataset in ("iris", "wine"):
            accuracy.write(accuracy.blank(dataset, 42, 0, method) | {"accuracy": 0.5})
    accuracy.forget(["SVM"], ["iris"], [42])
    kept = accuracy.read()[["dataset", "method"]].itertuples(index=False, name=None)
    assert sorted(kept) == [("iris", "EBM"), ("wine", "EBM"), ("wine", "SVM")]
