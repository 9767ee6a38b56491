import io

import numpy as np
import pandas as pd
import pytest

from cogmap.study.datasets import BINARY, PAPER
from cogmap.study.tables import (
    ablation_table,
    all_table,
    binary_table,
    by_dataset,
    dataset_table,
    leak_table,
    markdown,
    paper_numbers,
    ranks_note,
    ranks_table,
    save,
    select,
)
from tests.study.made import frame, rows


@pytest.fixture
def results():
    return select(
        frame(
            rows("banana", "SVM", 0.8, seconds=2.0),
            rows("yeast", "SVM", 0.4, seconds=4.0),
            rows("banana", "LTCN", 0.7),
            rows("yeast", "LTCN", 0.5),
            rows("banana", "DT", 0.6),
            rows("yeast", "DT", 0.3)[:4],
            rows("banana", "LTCN", 0.75, grid="paper"),
            rows("banana", "LTCN", 0.1, grid="phi=0,max_iter=20"),
            rows("banana", "HyRS", 0.55),
            rows("cardiotocography-3", "SVM", 1.0),
            rows("cardiotocography-3-clean", "SVM", 0.9),
            rows("banana", "random inner weights", 0.6),
            rows("banana", "random outer weights", 0.0),
        )
    )


def test_printed_numbers_of_the_paper():
    """Read off the paper's tables again, by eye."""
    printed = paper_numbers("results").astype(float)
    assert len(printed) == 10
    assert printed.loc["SVM"].to_dict() == {"accuracy": 0.8733, "kappa": 0.7671, "seconds": 0.21}
    assert printed["kappa"].idxmax() == "SVM"
    assert float(paper_numbers("binary").loc["LTCN", "kappa"]) == 0.7189
    datasets = paper_numbers("datasets")
    assert len(datasets) == 30
    assert datasets.loc["spambase", "rows"] == "846"


def test_a_dataset_counts_when_every_fold_is_there(results):
    kappa = by_dataset(results)
    assert kappa.loc["yeast", "SVM"] == pytest.approx(0.4)
    assert np.isnan(kappa.loc["yeast", "DT"])
    assert "LTCN (paper grid)" in kappa
    assert not any("phi" in name for name in kappa)


def test_all_classifiers_beside_the_paper(results):
    table = all_table(results).set_index("method")
    svm = table.loc["SVM"]
    assert svm["sets"] == 3
    assert svm["kappa"] == pytest.approx((0.8 + 0.4 + 1.0) / 3)
    assert svm["seconds"] == pytest.approx((2 + 4 + 1) / 3)
    assert "Δ kappa" not in table, "three datasets are not compared with the paper's thirty"
    assert "HyRS" not in table.index
    assert list(table["sets"]) == [3, 2, 1, 1]
    assert list(table.index[:2]) == ["SVM", "LTCN"]


def whole(**kappas):
    """Return made-up results on all of the paper's datasets."""
    return select(frame(*(rows(name, method.replace("_", " "), k) for name in PAPER for method, k in kappas.items())))


def test_only_what_is_finished_on_the_papers_datasets_is_set_beside_them():
    found = whole(SVM=0.7, LTCN=0.6, LTCN_slopes=0.5)
    found = found[(found["method"] != "LTCN") | (found["dataset"] != "yeast")]
    table = all_table(found).set_index("method")
    assert table.loc["SVM", "Δ kappa"] == pytest.approx(0.7 - 0.7671)
    assert table.loc["LTCN slopes", "Δ kappa"] == pytest.approx(0.5 - 0.7613)
    assert np.isnan(table.loc["LTCN", "Δ kappa"])
    assert np.isnan(table.loc["LTCN", "paper kappa"])


def test_binary_problems_are_those_of_the_binary_classifiers(results):
    table = binary_table(results).set_index("method")
    assert table.loc["LTCN", "kappa"] == pytest.approx(0.7)
    assert "Δ kappa" not in table
    ten = select(frame(*(rows(name, method, 0.6) for name in BINARY for method in ("HyRS", "LTCN"))))
    table = binary_table(ten).set_index("method")
    assert table.loc["HyRS", "Δ kappa"] == pytest.approx(0.6 - 0.6117)
    assert table.loc["LTCN", "Δ kappa"] == pytest.approx(0.6 - 0.7189)


def test_methods_are_named_after_grid_and_inner_folds():
    found = frame(rows("iris", "DT", 0.5, grid="paper"), rows("iris", "DT", 0.6, grid="paper"))
    found.loc[6:, "inner"] = 5
    authors = frame(rows("iris", "LTCN slopes", 0.5, grid="authors")).assign(inner=5, scale="file")
    names = list(dict.fromkeys(select(pd.concat([found, authors]))["method"]))
    assert names == ["DT (paper grid)", "DT (paper grid), 5 inner folds", "LTCN slopes (authors grid)"]


def test_the_ablations_swapped_pairs_are_put_right():
    table = ablation_table(whole(LTCN=0.7, random_inner_weights=0.6, random_outer_weights=0.0)).set_index("method")
    assert table.loc["random inner weights", "paper kappa"] == 0.7305
    assert table.loc["random outer weights", "paper kappa"] == -0.015
    assert table.loc["LTCN", "paper kappa"] == 0.7613


def test_with_and_without_the_leak(results):
    table = leak_table(results).set_index("method")
    assert table.loc["SVM", "cardiotocography-3"] == pytest.approx(1.0)
    assert table.loc["SVM", "cardiotocography-3-clean"] == pytest.approx(0.9)
    assert table.loc["SVM", "Δ of the mean"] == pytest.approx(0.1 / 30)


def test_ranks_leave_out_what_is_not_finished(results):
    kept = results[results["dataset"].isin(["banana", "yeast"])]
    table = ranks_table(kept).set_index("classifier")
    assert set(table.index) == {"SVM", "LTCN"}
    assert table.loc["SVM", "rank"] == 1.5
    assert "DT" in ranks_note(kept)


@pytest.mark.usefixtures("paper_data")
def test_datasets_beside_the_paper():
    table = dataset_table(names=("vehicle", "spambase", "cardiotocography-10", "cardiotocography-10-clean"))
    table = table.set_index("dataset")
    assert table.loc["vehicle", "differs"] == ""
    assert table.loc["spambase", "differs"] == "rows, features"
    assert table.loc["cardiotocography-10", "target leak"] == "10 columns"
    assert table.loc["cardiotocography-10-clean", "target leak"] == ""


def test_markdown_and_csv_hold_the_same(tmp_path):
    table = all_table(whole(SVM=0.7, LTCN=0.6))
    paths = {path.suffix: path for path in save(table, "all", tmp_path)}
    read = pd.read_csv(paths[".csv"]).fillna({"rounding": ""})
    pd.testing.assert_frame_equal(read, table, check_dtype=False)
    lines = [line for line in paths[".md"].read_text().splitlines() if line.startswith("|")]
    assert len(lines) == len(table) + 2
    assert {line.count("|") for line in lines} == {table.shape[1] + 1}
    compared = int(table["Δ kappa"].first_valid_index())
    assert f"{table['Δ kappa'][compared]:+.4f}" in lines[2 + compared]


def test_markdown_leaves_gaps_empty():
    assert markdown(pd.read_csv(io.StringIO("a,b\nx,\n"))).splitlines()[-1] == "| x |  |"
