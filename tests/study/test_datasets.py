import numpy as np
import pandas as pd
import pytest
from sklearn import datasets as sklearn_datasets
from sklearn.datasets import load_iris
from sklearn.utils import Bunch

from cogmap.study.datasets import LEAK, LEAKING, NAMES, OPENML, PAPER, UnknownDatasetError, load


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("COGMAP_DATA", raising=False)
    rows = [[0.1, 2, "b"], [0.2, 3, "a"], [0.3, 4, "b"]]
    pd.DataFrame(rows).to_csv(tmp_path / "mine.csv.gz", header=False, index=False)
    pd.DataFrame(rows).to_csv(tmp_path / "plain.csv", header=False, index=False)
    return tmp_path


@pytest.mark.parametrize("name", ["mine", "plain"])
def test_reads_a_file_of_the_folder_with_the_class_last(folder, name):
    data = load(name, folder)
    np.testing.assert_array_equal(data.X, [[0.1, 2], [0.2, 3], [0.3, 4]])
    assert data.y.tolist() == [1, 0, 1]
    assert data.classes.tolist() == ["a", "b"]
    assert data.source.startswith(str(folder))


def test_the_environment_names_the_folder_and_the_argument_wins(folder, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("COGMAP_DATA", str(folder))
    assert len(load("mine").y) == 3
    with pytest.raises(UnknownDatasetError, match="mine"):
        load("mine", tmp_path_factory.mktemp("other"))


def test_scikit_learns_own_sets_need_no_folder():
    np.testing.assert_array_equal(load("iris").X, load_iris().data)
    assert load("iris").source == "scikit-learn"


def test_errors_name_the_dataset_and_the_way_out(folder):
    with pytest.raises(UnknownDatasetError, match=r"'nothing'.*--data-dir.*banana"):
        load("nothing")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        load("banana", folder / "absent")
    (folder / "text.csv").write_text("a,b,1\n1,2,0\n")
    with pytest.raises(ValueError, match=r"text\.csv holds text"):
        load("text", folder)


def test_classes_smaller_than_the_folds_are_left_out(folder):
    data = load("mine", folder).without_rare(2)
    assert data.classes.tolist() == ["b"]
    assert data.y.tolist() == [0, 0]


def fake_openml(monkeypatch, frame, target):
    asked = []

    def fetch(data_id, **options):
        asked.append(data_id)
        return Bunch(data=frame, target=target)

    monkeypatch.setattr(sklearn_datasets, "fetch_openml", fetch)
    return asked


def test_what_the_folder_lacks_comes_from_openml_and_says_so(folder, monkeypatch):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": pd.Categorical(["no", "yes", "no"])})
    asked = fake_openml(monkeypatch, frame, pd.Series(["1", "2", "1"]))
    data = load("bank", folder)
    assert asked == [OPENML["bank"].data_id]
    assert data.X.tolist() == [[1, 0], [2, 1], [3, 0]]
    assert "OpenML" in data.source


def test_one_class_against_the_others_for_keels_sets(monkeypatch, folder):
    fake_openml(monkeypatch, pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]}), pd.Series(["van", "bus", "saab", "van"]))
    assert load("vehicle0", folder).y.tolist() == [1, 0, 0, 1]


def test_an_unreachable_openml_names_the_file_to_provide(monkeypatch, folder):
    def fetch(**options):
        raise OSError("no route")

    monkeypatch.setattr(sklearn_datasets, "fetch_openml", fetch)
    with pytest.raises(ConnectionError, match=r"banana\.csv\.gz"):
        load("banana", folder)


def test_names_are_those_of_the_paper_and_more():
    assert len(PAPER) == 30
    assert {"iris", "cardiotocography-3-clean"} <= set(NAMES)


@pytest.mark.usefixtures("paper_data")
def test_the_clean_sets_lack_the_one_hot_of_the_class():
    ten = load("cardiotocography-10")
    block = ten.X[:, LEAK]
    assert (block.sum(axis=1) == 1).all()
    assert len(np.unique(np.column_stack([block.argmax(axis=1), ten.y]), axis=0)) == 10
    for name in LEAKING:
        np.testing.assert_array_equal(load(name + "-clean").X, load(name).X[:, :25])


@pytest.mark.usefixtures("paper_data")
def test_keels_binary_sets_are_one_class_of_the_whole():
    """The sizes of the classes van, saab, bus and opel, and of NUC and ME3, in the donors' files."""
    sizes = {"vehicle0": 199, "vehicle1": 217, "vehicle2": 218, "vehicle3": 212, "yeast1": 429, "yeast3": 163}
    for name, size in sizes.items():
        assert np.bincount(load(name).y).min() == size
