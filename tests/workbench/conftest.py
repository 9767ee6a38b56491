"""Small models, and workbenches whose fits run in this process and end before the call that began them."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cogmap import LTCNClassifier, TabularClassifier
from cogmap.workbench import Workbench, held
from cogmap.workbench.fitting import Report, work
from tests.people import people

pytest.importorskip("pandas")

SAID = {"author": "A. Botanist", "reason": "they grow apart"}
EDGE = ("petal width (cm)", "sepal width (cm)")


class Inline:
    """A worker that needs no process."""

    def begin(self, job, tell):
        try:
            work(job, tell)
        except ValueError as error:
            tell(Report("failed", str(error)))

    def stop(self):
        pass

    def wait(self, seconds=None):
        pass

    def close(self):
        pass


def opened(model, X, y, **options):
    """Return a workbench that fits and measures at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held, "Worker", Inline)
        return Workbench(model, X, y, **options)


@pytest.fixture(scope="session")
def iris():
    data = load_iris(as_frame=True)
    return data.data, data.target.map(dict(enumerate(data.target_names))).rename("species")


@pytest.fixture(scope="session")
def network(iris):
    return LTCNClassifier(max_iter=4, alpha=0.1).fit(*iris)


@pytest.fixture(scope="session")
def passengers():
    table = people().drop(columns="id")
    table["joined"] = np.where(np.arange(len(table)) % 3 == 0, "2024-01-05", "2025-11-30")
    table["paid"] = np.arange(len(table)) % 2 == 0
    return table.drop(columns="survived"), table["survived"]


@pytest.fixture(scope="session")
def tabular(passengers):
    return TabularClassifier(LTCNClassifier(max_iter=4, alpha=0.1)).fit(*passengers)


@pytest.fixture(scope="session")
def bench(network, iris):
    """Return a workbench about iris, measured, to look at only."""
    return opened(network, *iris, n_folds=3)


@pytest.fixture(scope="session")
def changed(network, iris):
    """Return one in which an edge is forbidden, to look at only."""
    bench = opened(network, *iris, n_folds=3)
    bench.forbid(*EDGE, **SAID, version=0)
    return bench


@pytest.fixture
def raw_bench(tabular, passengers, tmp_path):
    """Return a workbench about a raw table that fits nothing."""
    return Workbench(tabular, *passengers, folder=tmp_path, refit=False)
