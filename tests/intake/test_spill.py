"""Blocks in temporary files: the same blocks, whatever the disk does, and nothing left behind."""

import errno
import os

import numpy as np
import pytest

from cogmap import LTCNClassifier, stream
from cogmap.core.sums import sources
from cogmap.intake import blocks as intake
from cogmap.intake import spill
from cogmap.intake.spill import Spill


@pytest.fixture
def on_disk(monkeypatch):
    """Let nothing stay in memory."""
    monkeypatch.setattr(spill, "IN_MEMORY", 0)


def blocks(log):
    """Yield three blocks, and note each pass in `log`."""
    log.append("pass")
    for k in range(3):
        yield {"rows": np.asfortranarray(np.arange(12.0).reshape(4, 3) + k), "number": k}


def read(found):
    return [(block["number"], block["rows"].tolist(), block["rows"].flags.f_contiguous) for block in found]


@pytest.mark.usefixtures("on_disk")
def test_blocks_are_computed_once_and_keep_their_memory_order(tmp_path):
    log = []
    with Spill(tmp_path) as keep:
        kept = keep(lambda: blocks(log), 100)
        expected = read(blocks([]))
        assert [read(kept()) for _ in range(3)] == [expected] * 3
        assert log == ["pass"]
        assert [one["number"] == other["number"] for one, other in zip(kept(), kept(), strict=True)] == [True] * 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("on_disk")
def test_a_pass_that_is_broken_off_is_not_taken_for_a_whole_one(tmp_path):
    with Spill(tmp_path) as keep:
        kept = keep(lambda: blocks([]), 100)
        next(iter(kept()))
        assert read(kept()) == read(kept()) == read(blocks([]))


@pytest.mark.usefixtures("on_disk")
def test_a_disk_that_is_full_means_computing_anew(tmp_path, monkeypatch):
    def full(block, file, protocol):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(spill.pickle, "dump", full)
    log = []
    with Spill(tmp_path) as keep:
        kept = keep(lambda: blocks(log), 100)
        assert read(kept()) == read(kept()) == read(blocks([]))
    assert log == ["pass", "pass"]


@pytest.mark.usefixtures("on_disk")
def test_what_would_fill_the_disk_is_not_begun(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "KEPT_BYTES", 1000)
    with Spill(tmp_path) as keep:
        start = lambda: blocks([])  # noqa: E731 # its identity counts
        assert keep(start, 10**18) is start


def test_small_blocks_stay_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(spill.tempfile, "TemporaryFile", lambda **_: pytest.fail("a file was opened"))
    log = []
    with Spill(tmp_path) as keep:
        kept = keep(lambda: blocks(log), 100)
        assert read(kept()) == read(kept())
    assert log == ["pass"]


@pytest.mark.usefixtures("on_disk")
def test_where_nothing_can_be_written_nothing_is(monkeypatch):
    def nowhere():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setenv("TMPDIR", "/nowhere")
    monkeypatch.setattr(spill.tempfile, "gettempdir", nowhere)
    monkeypatch.setattr(sources, "KEPT_BYTES", 0)
    log = []
    with Spill() as keep:
        kept = keep(lambda: blocks(log), 100)
        assert read(kept()) == read(kept())
    assert log == ["pass", "pass"]


def test_the_folder_is_named_where_it_is_none(tmp_path):
    with pytest.raises(ValueError, match=r"scratch='.*absent' is not a folder"):
        Spill(tmp_path / "absent")


@pytest.mark.parametrize("alpha", ["loo", 1.0])
def test_a_fit_is_the_same_from_memory_from_disk_and_computed_anew(alpha, tmp_path, monkeypatch, rng):
    X = rng.normal(size=(1200, 3))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    source = [(X[i : i + 200], y[i : i + 200]) for i in range(0, 1200, 200)]
    monkeypatch.setattr(intake, "MOST_ROWS", 100)
    monkeypatch.setattr(sources, "BLOCK_ROWS", 384)
    model = LTCNClassifier(alpha=alpha, max_iter=5)
    in_memory = stream.fit(source, model, scratch=tmp_path)
    monkeypatch.setattr(spill, "IN_MEMORY", 0)
    monkeypatch.setattr(sources, "KEPT_BYTES", 0)
    on_disk, anew = stream.fit(source, model, scratch=tmp_path), stream.fit(source, model, scratch=False)
    expected = model.fit(X, y).predict_proba(X)
    for found in (in_memory, on_disk, anew):
        assert (found.predict_proba(X) == expected).all()
    assert list(tmp_path.iterdir()) == []
