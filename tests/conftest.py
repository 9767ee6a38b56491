"""Shared data: scikit-learn's own sets always, the paper's where COGMAP_DATA points at them."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

# Where CI is set, every run draws the same examples; other runs search on, and print what reproduces a failure.
# None has a deadline: how long an example takes is a matter of the machine.
settings.register_profile("ci", derandomize=True, database=None, deadline=None)
settings.register_profile("search", print_blob=True, deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "search")


@pytest.fixture(scope="session")
def paper_data():
    """Return a loader of the paper's datasets by name; skip where they are not on this machine."""
    directory = os.environ.get("COGMAP_DATA")
    if not directory or not Path(directory).is_dir():
        pytest.skip("COGMAP_DATA does not point at the paper's datasets")

    def load(name):
        table = pd.read_csv(Path(directory) / f"{name}.csv.gz", header=None)
        return table.iloc[:, :-1].to_numpy(float), table.iloc[:, -1].to_numpy()

    return load


@pytest.fixture
def rng():
    return np.random.default_rng(0)
