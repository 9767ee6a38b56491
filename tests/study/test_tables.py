import io

import numpy as np
import pandas as pd
import pytest

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
    assert svm["Δ kappa"] == pytest.approx(svm["kappa"] - 0.7671)
    assert svm["seconds"] == pytest.approx((2 + 4 + 1) / 3)
    assert table.loc["LTCN (paper grid)", "paper kappa"] == 0.7613
    assert np.isnan(table.loc["LTCN (paper grid)", "Δ kappa"]), "one dataset of three is not compared"
    assert "HyRS" not in table.index
    assert list(table["kappa"]) == sorted(table["kappa"], reverse=True)


def test_binary_problems_are_those_of_the_binary_classifiers(results):
    table = binary_table(results).set_index("method")
    assert table.loc["LTCN", "kappa"] == pytest.approx(0.7)
    assert table.loc["HyRS", "paper kappa"] == 0.6117


def test_the_ablations_swapped_pairs_are_put_right(results):
    table = ablation_table(results).set_index("method")
    assert table.loc["random inner weights", "paper kappa"] == 0.7305
    assert table.loc["random outer weights", "paper kappa"] == -0.015
    assert table.loc["LTCN", "paper kappa"] == 0.7613


def test_with_and_without_the_leak(results):
    table = leak_table(results).set_index("method")
    assert table.loc["SVM", "cardiotocography-3"] == pytest.approx(1.0)
    assert table.loc["SVM", "cardiotocography-3-clean"] == pytest.approx(0.9)


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


def test_markdown_and_csv_hold_the_same(results, tmp_path):
    table = all_table(results)
    paths = {path.suffix: path for path in save(table, "all", tmp_path)}
    pd.testing.assert_frame_equal(pd.read_csv(paths[".csv"]), table, check_dtype=False)
    lines = [line for line in paths[".md"].read_text().splitlines() if line.startswith("|")]
    assert len(lines) == len(table) + 2
    assert {line.count("|") for line in lines} == {table.shape[1] + 1}
    compared = int(table["Δ kappa"].first_valid_index())
    assert f"{table['Δ kappa'][compared]:+.4f}" in lines[2 + compared]


def test_markdown_leaves_gaps_empty():
    assert markdown(pd.read_csv(io.StringIO("a,b\nx,\n"))).splitlines()[-1] == "| x |  |"
