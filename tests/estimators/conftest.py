"""Rows for all estimators: numbers, raw tables, and a model of one."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import minmax_scale

from cogmap import LTCNClassifier, TabularClassifier
from tests.people import people


@pytest.fixture(scope="session")
def iris():
    """Return rows that are scaled, and their classes."""
    X, y = load_iris(return_X_y=True)
    return minmax_scale(X), y


@pytest.fixture(scope="session")
def table():
    frame = people()
    return frame.drop(columns=["survived", "id"]), frame["survived"]


@pytest.fixture(scope="session")
def fitted(table):
    return TabularClassifier(LTCNClassifier()).fit(*table)


@pytest.fixture(scope="session")
def orders():
    rng = np.random.default_rng(3)
    when = pd.Series(pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 700 * 24, 240), unit="h"))
    price = pd.Series(rng.lognormal(7, 1, 240).round(2))
    frame = pd.DataFrame(
        {
            "Unnamed: 0": range(240),
            "order": [f"A-{k}" for k in rng.permutation(240)],
            "sold": when.dt.strftime("%d/%m/%Y %H:%M").where(when.index % 40 > 0),
            "price": price.map("${:,.2f}".format),
            "city": rng.choice(["Rome", "Oslo", "Bern"], 240),
        }
    )
    return frame, pd.Series(np.where((when.dt.month >= 10) | (price > 3000), "late", "in time")), when, price
