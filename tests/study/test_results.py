import pytest

from cogmap.study.protocol import COLUMNS
from cogmap.study.results import Results, frame, merge, read, write


def row(dataset="iris", classifier="SVM", fold="0", **values):
    key = {"dataset": dataset, "classifier": classifier, "grid": "small", "inner": "3", "scale": "fold", "seed": "42"}
    return dict.fromkeys(COLUMNS, "") | key | {"fold": fold} | values


def test_a_row_is_in_the_file_when_it_was_added(tmp_path):
    path = tmp_path / "new" / "results.csv"
    with Results(path) as results:
        results.add(row(kappa=0.5, params='{"C": 1, "kernel": "rbf"}'))
        assert read(path)[0]["params"] == '{"C": 1, "kernel": "rbf"}'
    assert float(frame(path)["kappa"][0]) == 0.5


@pytest.mark.parametrize(
    "half", ["iris,SVM,small,3,fold,42,1,0.9", 'iris,SVM,small,3,fold,42,1,0.9,1,1,1,1,"{""C', "x"]
)
def test_a_half_written_line_is_dropped(tmp_path, half):
    path = tmp_path / "results.csv"
    with Results(path) as results:
        results.add(row(kappa=0.5))
    complete = path.read_text()
    path.write_text(complete + half)
    assert len(read(path)) == 1
    with Results(path) as results:
        assert len(results.rows) == 1
        results.add(row(fold="1", kappa=0.25))
    assert [found["fold"] for found in read(path)] == ["0", "1"]


def test_a_half_written_header_is_dropped(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("dataset,cla")
    with Results(path) as results:
        results.add(row())
    assert len(read(path)) == 1


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is no results file"):
        read(path)
    path.write_text(",".join(COLUMNS) + "\niris,SVM\n")
    with pytest.raises(ValueError, match="Line 2"):
        read(path)


def test_one_run_at_a_time(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "results.csv"
    with Results(path), pytest.raises(RuntimeError, match="Another run"), Results(path):
        pass


def test_rows_have_one_order_whatever_the_order_of_arrival(tmp_path):
    rows = [row("zoo"), row("iris", "DT"), row("iris", "SVM", "all"), row("iris", "SVM", "1"), row("banana", "new")]
    for name, given in (("a.csv", rows), ("b.csv", rows[::-1])):
        write(tmp_path / name, given)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    found = [(r["dataset"], r["classifier"], r["fold"]) for r in read(tmp_path / "a.csv")]
    assert found == [
        ("banana", "new", "0"),
        ("iris", "SVM", "1"),
        ("iris", "SVM", "all"),
        ("iris", "DT", "0"),
        ("zoo", "SVM", "0"),
    ]


def test_merging_prefers_results_to_errors_and_later_to_earlier():
    first = [row(kappa="0.1"), row(fold="1", error="timeout"), row(fold="2", kappa="0.3")]
    second = [row(kappa="0.2"), row(fold="1", kappa="0.4"), row(fold="2", error="timeout")]
    assert [found["kappa"] for found in merge([first, second])] == ["0.2", "0.4", "0.3"]
