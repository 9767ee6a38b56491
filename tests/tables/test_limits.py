"""Files that are too large, and what is not one: each refused by one sentence, with bounded work."""

import gzip
import io
import os
import threading
import zipfile

import numpy as np
import pandas as pd
import pytest

from cogmap import DataFileError, LTCNClassifier, stream
from cogmap.errors import TooLargeError
from cogmap.intake import memory
from cogmap.intake.progress import Meter
from cogmap.tables import csv_parts, layout, limits, lines
from cogmap.tables.contents import Contents
from cogmap.tables.parts import open_parts
from cogmap.tables.table import read_table

READERS = {
    "at once": lambda path: read_table(path).frame,
    "in parts": lambda path: pd.concat(_scanned(path)()),
}


def _scanned(path):
    parts = open_parts(path)
    parts.scan(Meter(lambda _: None))
    return parts


@pytest.fixture(params=READERS)
def read(request):
    return READERS[request.param]


@pytest.fixture
def short(monkeypatch):
    """Let a line have 1,000 characters and a chunk 64."""
    for module in (limits, csv_parts, layout, lines):
        monkeypatch.setattr(module, "LONGEST_LINE", 1000, raising=False)
        monkeypatch.setattr(module, "CHUNK", 64, raising=False)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("content", [b"x" * 10_000, b"1," * 5_000, b"a,b\n1,2\n" + b"3" * 10_000])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_line_that_is_too_long_is_refused(content, pack, read, tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(pack(content))
    line = content.count(b"\n") + 1
    with pytest.raises(DataFileError, match=f"data.csv, line {line}: more than 1,000 characters without a line end"):
        read(path)


@pytest.mark.usefixtures("short")
def test_no_more_is_read_of_a_file_without_lines_than_the_limit(tmp_path, monkeypatch):
    """Work is counted: it does not grow with the file."""
    path, taken = tmp_path / "data.csv", []
    path.write_bytes(b"x" * 1_000_000)

    class Counting(io.FileIO):
        def read(self, size=-1):
            found = super().read(size)
            taken.append(len(found))
            return found

    monkeypatch.setattr(Contents, "open", lambda self: Counting(self.path))
    with pytest.raises(DataFileError, match="more than 1,000 characters"):
        open_parts(path)
    assert sum(taken) < 4_000


@pytest.mark.usefixtures("short")
def test_lines_up_to_the_limit_are_read_also_with_old_line_ends(read, tmp_path):
    path = tmp_path / "data.csv"
    names = [f"column{j:04}" for j in range(80)]
    rows = [names, *([str(i * j) for j in range(80)] for i in range(40))]
    for end in ("\n", "\r\n", "\r"):
        path.write_bytes(end.join(map(",".join, rows)).encode())
        found = read(path)
        assert list(found) == names
        assert found["column0079"].tolist() == [79 * i for i in range(40)]


def test_a_value_that_is_too_long_is_not_called_an_empty_file(read, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x" * (1 << 20) + ",b\n1,2\n3,4\n")
    with pytest.raises(DataFileError, match="line 1: a value has more than 131,072 characters: shorten it"):
        read(path)
    path.write_text("a,b\n1,2\n3," + "y" * (1 << 18) + "\n")
    with pytest.raises(DataFileError, match="line 3: a value has more than 131,072 characters: shorten it"):
        read(path)


def test_too_many_columns_are_refused(read, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_COLUMNS", 10)
    path = tmp_path / "data.csv"
    path.write_text("," * 10 + "\n" + "," * 10 + "\n")
    with pytest.raises(DataFileError, match="has 11 columns, and at most 10 are read"):
        read(path)


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_file_that_swells_is_refused(kind, read, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "HARMLESS", 10_000)
    path = tmp_path / f"data.{kind}"
    if kind == "csv":
        path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 500_000))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/workbook.xml", b" " * 2_000_000)
    with pytest.raises(DataFileError, match=r"when it is decompressed, more than 200 times its size: decompress it"):
        read(path)
    monkeypatch.setattr(limits, "HARMLESS", 10**8)
    if kind == "csv":
        assert len(read(path)) == 500_000


def test_no_more_is_decompressed_than_allowed(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "HARMLESS", 1 << 21)
    taken = []
    unpacked = gzip.GzipFile.read

    def counted(self, size=-1):
        found = unpacked(self, size)
        taken.append(len(found))
        return found

    monkeypatch.setattr(gzip.GzipFile, "read", counted)
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * (1 << 23)))
    for read in READERS.values():
        taken.clear()
        with pytest.raises(DataFileError, match="when it is decompressed"):
            read(path)
        assert sum(taken) < (1 << 21) + 200 * path.stat().st_size + (4 << 20)


def test_what_takes_more_memory_than_there_is_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "1,2\n" * 1000)
    for module in (limits, memory):
        monkeypatch.setattr(module, "available", lambda: 10_000)
    with pytest.raises(
        TooLargeError, match=r"data.csv at once takes about .* KB of memory, and there are 10 KB: fit it"
    ):
        read_table(path)
    pd.DataFrame({"a": np.zeros(10_000), "b": 1}).to_parquet(tmp_path / "zeros.parquet")
    with pytest.raises(TooLargeError, match=r"zeros.parquet at once takes about"):
        read_table(tmp_path / "zeros.parquet")


def test_pipes_and_devices_are_read_or_refused_in_words(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("a,b\n1,2\n",))
    writer.start()
    assert read_table(pipe).frame.to_dict("list") == {"a": [1], "b": [2]}
    writer.join()
    with pytest.raises(DataFileError, match="is a pipe, which can be read once only: save what it gives to a file"):
        open_parts(pipe)
    with pytest.raises(DataFileError, match="is a pipe or a device, which can be read once only"):
        stream.fit(pipe, target="b")
    for read in READERS.values():
        with pytest.raises(DataFileError, match="/dev/zero cannot be read: it is a device"):
            read("/dev/zero")
        with pytest.raises(DataFileError, match="cannot be read: it is a folder"):
            read(tmp_path)


# Memory of a fit


def test_a_network_that_cannot_fit_into_memory_is_refused_before_it_is_asked_for(monkeypatch, rng):
    monkeypatch.setattr(memory, "available", lambda: 10**6)
    X, y = rng.normal(size=(20, 300)), np.arange(20) % 2
    message = r"A network of 300 concepts and 2 classes takes at least 2.31 MB of memory, and there are 1 MB: use fewer"
    with pytest.raises(TooLargeError, match=message):
        LTCNClassifier().fit(X, y)
    with pytest.raises(TooLargeError, match=message):
        LTCNClassifier(alpha=1.0).partial_fit(X, y)
    with pytest.raises(TooLargeError, match="A network of 300 concepts"):
        LTCNClassifier(terms=3).fit(X[:, :100], y)
    with pytest.raises(TooLargeError, match=r"A network of 2 concepts and 99 classes takes at least 1.58 MB"):
        LTCNClassifier().fit(rng.normal(size=(198, 2)), np.arange(198) % 99)
    X[:, 50:] = 1.0
    X[:, 0] += 5 * y
    LTCNClassifier(max_iter=1).fit(X, y)


def test_a_fit_takes_at_least_what_is_counted(rng):
    """Otherwise a fit that would succeed might be refused."""
    import tracemalloc

    X, y = rng.normal(size=(60, 400)), np.arange(60) % 2
    X[:, 0] += 5 * y
    tracemalloc.start()
    LTCNClassifier().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak > 8 * 400 * (memory.MATRICES * 400 + memory.TABLES * 60)


def test_what_is_available_is_what_the_system_says():
    import resource

    found = memory.available()
    assert found is not None
    assert 0 < found <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (2**36, hard))
    try:
        assert memory._own_limit() < 2**36
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def test_files_that_a_container_has_cached_count_as_free(tmp_path):
    from cogmap.intake.memory import _group_limit

    assert _group_limit(tmp_path) is None
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("990\n")
    (tmp_path / "memory.stat").write_text("anon 300\nfile 690\nkernel 0\n")
    assert _group_limit(tmp_path) == 700
    (tmp_path / "memory.max").write_text("max\n")
    assert _group_limit(tmp_path) is None
