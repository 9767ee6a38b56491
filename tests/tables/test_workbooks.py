"""Sheets against the tables that were written to them."""

import datetime as dt
import io
import zipfile

import pandas as pd
import pytest

pytest.importorskip("python_calamine")
pytest.importorskip("openpyxl")
import openpyxl

from cogmap import DataFileError
from cogmap.estimators import tabular_stream
from cogmap.intake.progress import Meter
from cogmap.tables.parts import open_parts
from cogmap.tables.table import read_table
from tests.people import people


def book(path, **sheets):
    """Write lists of rows as sheets."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def assert_people(frame):
    """Assert that a frame holds the passengers; what stands for missing may be NaN or None."""
    found, expected = (table.astype(object).where(table.notna(), "missing") for table in (frame, people()))
    pd.testing.assert_frame_equal(found, expected)


def test_a_frame_comes_back_as_it_was_written(tmp_path):
    people().to_excel(tmp_path / "people.xlsx", index=False)
    table = read_table(tmp_path / "people.xlsx")
    assert_people(table.frame)
    assert table.notes == ()
    (tmp_path / "people.xlsx").rename(tmp_path / "people.dat")
    assert_people(read_table(tmp_path / "people.dat").frame)


def test_parts_are_the_rows_of_the_sheet(tmp_path):
    people().to_excel(tmp_path / "people.xlsx", index=False)
    parts = open_parts(tmp_path / "people.xlsx")
    parts.scan(Meter(lambda _: None))
    assert_people(pd.concat(parts()))
    assert (parts.n_rows, parts.names) == (300, list(people()))
    assert parts.n_bytes >= 300 * 8 * 8


def test_a_sheet_is_fitted_as_the_same_csv_file(tmp_path):
    frame = people().drop(columns="id")
    frame.to_excel(tmp_path / "people.xlsx", index=False)
    frame.to_csv(tmp_path / "people.csv", index=False)
    X = frame.drop(columns="survived")
    book, text = (tabular_stream.fit(tmp_path / f"people.{kind}", target="survived") for kind in ("xlsx", "csv"))
    assert (book.classifier.predict_proba(X) == text.classifier.predict_proba(X)).all()


def test_sheets_are_chosen_by_name_and_the_first_by_default(tmp_path):
    path = book(tmp_path / "x.xlsx", one=[["a", "b"], [1, 2]], two=[["c"], [3], [4]])
    table = read_table(path)
    assert list(table.frame) == ["a", "b"]
    assert "sheet 'one' was read; there are also 'two'." in table.notes[0]
    assert read_table(path, sheet="two").frame.to_dict("list") == {"c": [3, 4]}
    assert read_table(path, sheet="two").notes == ()
    with pytest.raises(DataFileError, match="has no sheet 'three': its sheets are 'one', 'two'"):
        read_table(path, sheet="three")
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    for read in (read_table, open_parts):
        with pytest.raises(DataFileError, match=r"x.csv is no workbook, and has no sheet 'one'"):
            read(tmp_path / "x.csv", sheet="one")


def test_where_the_table_begins_is_found_out(tmp_path):
    rows = [[], [None], [None, "age", None, "sex"], [None, 31, None, "f"], [], [None, "?", None, "m"]]
    table = read_table(book(tmp_path / "x.xlsx", one=rows))
    assert list(table.frame) == ["age", "sex"]
    assert table.frame["age"].isna().tolist() == [False, True]
    assert table.frame["sex"].tolist() == ["f", "m"]


def test_header_dates_and_truth(tmp_path):
    path = book(tmp_path / "x.xlsx", one=[[1, True], [2, False], [3, True]])
    table = read_table(path)
    assert "has no header: its columns are called x0 … x1" in table.notes[0]
    assert table.frame["x1"].tolist() == [True, False, True]
    assert list(read_table(path, header=True).frame) == ["1", "True"]
    day = dt.datetime(2024, 5, 6)
    dated = read_table(book(tmp_path / "y.xlsx", one=[["when", "n"], [day, 1], [day, 2]])).frame
    assert pd.api.types.is_datetime64_any_dtype(dated["when"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "Sheet 'one' of .* is empty"),
        ([["a", "b"]], "Sheet 'one' of .* has a header but no rows"),
        ([["a", "a"], [1, 2]], "more than one column called 'a'"),
    ],
)
def test_sheets_that_are_no_table(rows, message, tmp_path):
    with pytest.raises(DataFileError, match=message):
        read_table(book(tmp_path / "x.xlsx", one=rows), header=True if rows else None)


def test_damaged_workbooks_are_one_sentence(tmp_path):
    path = book(tmp_path / "x.xlsx", one=[["a", "b"], [1, 2]])
    content = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name, found in members.items():
        for damaged in (b"", found[: len(found) // 2], b"<x>" + found):
            with zipfile.ZipFile(path, "w") as archive:
                for member, whole in members.items():
                    archive.writestr(member, damaged if member == name else whole)
            message = str(path)
            try:
                assert read_table(path).frame.size
            except DataFileError as error:
                message = str(error)
            assert str(path) in message
            assert "\n" not in message
    for cut in (4, 100, len(content) - 30):
        path.write_bytes(content[:cut])
        with pytest.raises(DataFileError, match="is a damaged workbook"):
            read_table(path)
    path.write_bytes(b"\xd0\xcf\x11\xe0 nothing")
    with pytest.raises(DataFileError, match="is a damaged workbook"):
        read_table(path)


def test_an_archive_of_something_else_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("x.csv", "a,b\n1,2\n")
    with pytest.raises(DataFileError, match="is a zip archive and no workbook: unpack it"):
        read_table(tmp_path / "x.zip")


def test_the_extra_is_named(tmp_path, monkeypatch):
    import sys

    path = book(tmp_path / "x.xlsx", one=[["a"], [1]])
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ImportError, match=r'x.xlsx needs pandas and calamine: pip install "cogmap\[excel\]"'):
        read_table(path)
