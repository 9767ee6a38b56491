import sys
from itertools import combinations

import matplotlib.pyplot as plt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogmap.plots.drawing import data_frame, panels, short_names, shortened, signed


@given(st.text(max_size=60), st.integers(3, 40))
def test_a_short_name_keeps_both_ends(name, width):
    short = shortened(name, width)
    assert len(short) == min(len(name), width)
    head, _, tail = short.partition("…") if len(name) > width else (name, "", "")
    assert name.startswith(head)
    assert name.endswith(tail)


@given(st.lists(st.text("ab", min_size=0, max_size=12), max_size=6), st.integers(3, 8))
def test_different_names_stay_different(names, width):
    short = short_names(names, width)
    assert len(short) == len(names)
    for (one, a), (other, b) in combinations(zip(short, names, strict=True), 2):
        assert (one == other) == (a == b)


def test_ends_tell_terms_apart():
    assert short_names(["od280/od315_of_diluted_wines is low", "od280/od315_of_diluted_wines is high"]) == [
        "od280/od315_of…es is low",
        "od280/od315_of…s is high",
    ]


def test_signed_numbers():
    assert [signed(0.12345), signed(-2e-9)] == ["+0.123", "−2e−09"]


def test_panels_use_given_axes_in_order():
    axes = plt.subplots(2, 2)[1]
    assert panels(axes, 3, 2, (1, 1)).tolist() == axes.ravel()[:3].tolist()
    assert panels(axes[0, 0], 1, 2, (1, 1)).tolist() == [axes[0, 0]]


def test_too_few_axes_are_an_error():
    with pytest.raises(ValueError, match="3 panels need as many axes, but ax has 1"):
        panels(plt.subplots()[1], 3, 2, (1, 1))


def test_panels_of_a_new_figure_that_are_not_needed_are_hidden():
    drawn = panels(None, 4, 3, (1, 1))
    figure = drawn[0].figure
    assert [ax.get_visible() for ax in figure.axes] == [True] * 4 + [False] * 2


def test_missing_pandas_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "cogmap\[plot\]"'):
        data_frame({})
