"""Tables in parts against the same tables read at once."""

import gzip

import numpy as np
import pandas as pd
import pytest

from cogmap.errors import DataFileError
from cogmap.intake.progress import Meter
from cogmap.tables import csv_parts, limits
from cogmap.tables.parts import open_parts
from cogmap.tables.table import read_table
from tests.people import people


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(limits, "PART_ROWS", 37)


def scanned(path, **options):
    table = open_parts(path, **options)
    table.scan(Meter(lambda _: None))
    return table


def frame():
    """Return columns whose type shows late, quotes, delimiters and line ends in values, and a part without values."""
    table = people()
    row = np.arange(len(table))
    return table.assign(
        late=np.where(row < 200, (row % 5).astype(str), "x"),
        flag=np.where(row % 3 == 0, None, row % 2 == 0),
        truth=np.where(row < 100, "True", "7"),
        note=np.where(row % 7 == 0, 'a "word", and\n another', "b"),
        blank=np.where((row >= 37) & (row < 74), np.nan, row * 1.1),
        count=pd.Series(row, dtype=object).where((row < 37) | (row >= 74)),
        truths=pd.Series(row % 2 == 0, dtype=object).where((row < 37) | (row >= 74)),
        words=pd.Series(np.where(row % 2, "a", "b")).where((row < 37) | (row >= 74)),
        empty=np.nan,
    )


def write(path, kind):
    table = frame()
    if kind == "parquet":
        table.to_parquet(path, row_group_size=80)
    elif kind == "feather":
        table.to_feather(path)
    elif kind == "old feather":
        table.assign(flag=table["flag"].astype("boolean")).to_feather(path, version=1)
    elif kind == "arrow stream":
        import pyarrow as pa

        content = pa.Table.from_pandas(table)
        with pa.ipc.new_stream(path, content.schema) as stream:
            stream.write_table(content, max_chunksize=50)
    else:
        options = {
            "csv": {},
            "gzip": {"compression": "gzip"},
            "semicolons": {"sep": ";", "decimal": ","},
            "utf-16": {"encoding": "utf-16"},
            "latin-1": {"encoding": "latin-1"},
            "windows": {"lineterminator": "\r\n"},
        }
        table.rename(columns={"port": "häfen"}).to_csv(path, index=False, **options[kind])


KINDS = [
    "csv",
    "gzip",
    "semicolons",
    "utf-16",
    "latin-1",
    "windows",
    "parquet",
    "feather",
    "old feather",
    "arrow stream",
]


@pytest.mark.filterwarnings("ignore:Feather V1 files are deprecated")
@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_the_table(kind, tmp_path):
    path = tmp_path / "table"
    write(path, kind)
    whole, table = read_table(path), scanned(path)
    parts = list(table())
    assert len(parts) > 5
    assert table.n_rows == len(whole.frame)
    assert tuple(table.notes) == whole.notes
    for part in parts:
        pd.testing.assert_series_equal(part.dtypes, whole.frame.dtypes)
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), whole.frame)


@pytest.mark.parametrize("kind", ["csv", "gzip", "parquet", "arrow stream"])
def test_a_file_of_one_part_is_read_as_at_once(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "PART_ROWS", 300)
    write(tmp_path / "table", kind)
    table = scanned(tmp_path / "table")
    (only,) = table()
    pd.testing.assert_frame_equal(only, read_table(tmp_path / "table").frame)


def test_no_more_is_looked_through_than_the_rows_that_are_needed(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "1,2\n" * 100 + "1,2,3\n")
    table = open_parts(path)
    table.scan(Meter(lambda _: None), last=70)
    assert sum(map(len, table())) == 74
    with pytest.raises(DataFileError, match="line 102: 3 values"):
        open_parts(path).scan(Meter(lambda _: None), last=99 + 37)


def test_a_byte_that_is_not_utf_8_far_down_makes_all_of_the_file_latin_1(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_parts, "CHUNK", 100)
    path = tmp_path / "table.csv"
    path.write_bytes("größe,y\n".encode() + b"1,a\n" * 200 + b"2,\xe4\n")
    whole, table = read_table(path), scanned(path)
    assert tuple(table.notes) == whole.notes == (f"{path} is not UTF-8 (line 202): it was read as Latin-1.",)
    pd.testing.assert_frame_equal(pd.concat(list(table()), ignore_index=True), whole.frame)


def test_blank_lines_and_tables_without_a_header(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("\n  \n" + "1,2\n   \n3,4\n\n" * 60)
    whole, table = read_table(path), scanned(path)
    assert table.names == ["x0", "x1"]
    pd.testing.assert_frame_equal(pd.concat(list(table()), ignore_index=True), whole.frame)


def broken(line):
    lines = ["a,b", *["1,2"] * 100]
    lines[90] = line
    return "\n".join(lines).encode() + b"\n"


@pytest.mark.parametrize(
    "content",
    [
        broken("1,2,3"),
        broken("1"),
        broken('"1,2'),
        broken("1,\x01"),
        b"a,a\x01\n1,2\n",
        b"",
        b"a,b\n",
        b"a,a\n1,2\n",
        gzip.compress(broken("1,2"))[:-9],
        b"PAR1 but no more",
        b"PK\x03\x04 an archive",
        b"\xff\xfea\x00,",
    ],
    ids=range(12),
)
def test_what_is_wrong_is_said_as_of_a_table_read_at_once(content, tmp_path):
    path = tmp_path / "table"
    path.write_bytes(content)
    with pytest.raises(DataFileError) as whole:
        read_table(path)
    with pytest.raises(DataFileError) as parts:
        scanned(path)
    if b"PAR1" in content:  # other functions of pyarrow have other reasons
        assert str(parts.value).startswith(f"{path} is not a readable Parquet, Arrow or Feather file: ")
    else:
        assert str(parts.value) == str(whole.value)


def test_a_file_that_is_not_there_or_not_zipped(tmp_path):
    with pytest.raises(DataFileError, match="cannot be read: No such file"):
        open_parts(tmp_path / "absent.csv")
    (tmp_path / "plain.csv.gz").write_text("a,b\n1,2\n")
    with pytest.raises(DataFileError, match="is not a gzip file"):
        open_parts(tmp_path / "plain.csv.gz")
    with pytest.raises(ValueError, match="must be one character"):
        open_parts(tmp_path / "plain.csv.gz", delimiter="ab")


def test_estimates_before_the_file_is_read(tmp_path, rng):
    table = pd.DataFrame(rng.normal(size=(30_000, 4)).round(3))
    table.to_csv(tmp_path / "table.csv", index=False)
    table.to_csv(tmp_path / "table.csv.gz", index=False)
    table.rename(columns=str).to_parquet(tmp_path / "table.parquet")
    plain, zipped, parquet = (open_parts(tmp_path / f"table.{kind}") for kind in ("csv", "csv.gz", "parquet"))
    size = (tmp_path / "table.csv").stat().st_size
    assert plain.n_bytes == 8 * size
    assert zipped.n_bytes == pytest.approx(8 * size, rel=0.3)
    assert plain.n_rows == pytest.approx(30_000, rel=0.05)
    assert zipped.n_rows == pytest.approx(30_000, rel=0.3)
    assert (parquet.n_rows, parquet.n_bytes) == (30_000, 40 * 30_000 * 4)
