import csv
import gzip
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogmap import DataFileError
from cogmap.tables.layout import MARKS
from cogmap.tables.table import read_table
from tests.malformed import malformed
from tests.people import people


def read(folder, text, name="data.csv", **options):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_table(path, **options)


def refusal(folder, text, name="data.csv"):
    with pytest.raises(DataFileError) as error:
        read(folder, text, name)
    message = str(error.value)
    assert message.startswith(str(folder / name))
    assert message.endswith((".", "?"))
    return message.removeprefix(str(folder / name))


# Truth: what was written


@pytest.mark.filterwarnings("ignore:Mismatched null-like values:FutureWarning")  # pandas before 3
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_frame_comes_back_as_it_was_written(delimiter, tmp_path):
    frame = people()
    path = tmp_path / "people.csv"
    frame.to_csv(path, sep=delimiter, index=False)
    table = read_table(path)
    pd.testing.assert_frame_equal(table.frame, frame, check_dtype=False)
    assert table.notes == ()


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=8)


@given(
    rows=st.integers(1, 3).flatmap(lambda k: st.lists(st.lists(TEXT, min_size=k, max_size=k), min_size=1, max_size=6)),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
)
def test_any_text_survives(rows, delimiter, tmp_path_factory):
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([[f"name {j}" for j in range(len(rows[0]))], *rows])
    frame = read(tmp_path_factory.mktemp("csv"), file.getvalue(), delimiter=delimiter, header=True).frame
    assert frame.shape == (len(rows), len(rows[0]))
    for j, name in enumerate(frame):
        values = [row[j] for row in rows]
        if pd.api.types.is_object_dtype(frame[name]) or pd.api.types.is_string_dtype(frame[name]):
            missing = frame[name].isna()
            there = [v for v, m in zip(values, missing, strict=True) if not m]
            # A column of TRUE and FALSE beside empty cells holds truth values.
            found = [v if isinstance(v, str) else str(v).upper() for v in frame[name][~missing]]
            assert found == [
                v if isinstance(w, str) else v.upper() for v, w in zip(there, frame[name][~missing], strict=True)
            ]
            assert all(v.lower().strip() in MARKS or v.startswith(("#N/A", "-")) or v in ("1.#IND", "1.#QNAN")
                       for v, m in zip(values, missing, strict=True) if m)  # fmt: skip


def test_numbers_are_read_to_the_last_bit(tmp_path, rng):
    numbers = rng.normal(size=500) * 10.0 ** rng.integers(-200, 200, 500)
    point, comma = ("a;b\n" + "".join(f"{v!r};1\n" for v in numbers.tolist()) for _ in range(2))
    np.testing.assert_array_equal(read(tmp_path, point).frame["a"], numbers)
    np.testing.assert_array_equal(read(tmp_path, comma.replace(".", ",")).frame["a"], numbers)


@pytest.mark.parametrize("write", ["to_parquet", "to_feather"])
def test_parquet_and_feather(write, tmp_path):
    pytest.importorskip("pyarrow")
    frame = people()
    for name in ("people.parquet", "people.dat"):
        getattr(frame, write)(tmp_path / name)
        pd.testing.assert_frame_equal(read_table(tmp_path / name).frame, frame, check_dtype=False)


def test_arrow_streams(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pandas(people())
    with pa.ipc.new_stream(tmp_path / "people.arrow", table.schema) as stream:
        stream.write_table(table)
    pd.testing.assert_frame_equal(read_table(tmp_path / "people.arrow").frame, people(), check_dtype=False)


# What is found out


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a,b\n1,2\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
        ("1,2,x\n3,4,y\n", {"x0": [1, 3], "x1": [2, 4], "x2": ["x", "y"]}),
        ("red,1\nblue,?\nblue,2\n", {"x0": ["red", "blue", "blue"], "x1": [1, None, 2]}),
        ("red,s\nblue,m\nred,s\n", {"x0": ["red", "blue", "red"], "x1": ["s", "m", "s"]}),
        ("colour,size\nred,s\nblue,m\n", {"colour": ["red", "blue"], "size": ["s", "m"]}),
        ("name;1999;2000\n4;1;2\n", {"name": [4], "1999": [1], "2000": [2]}),
        ("a;b\n1,5;x\n2,5;y\n", {"a": [1.5, 2.5], "b": ["x", "y"]}),
        ("a;b\n1.5;1,5\n2.5;2,5\n", {"a": [1.5, 2.5], "b": ["1,5", "2,5"]}),
        ("a\tb\n1\t \n2\tNA\n3\t?\n", {"a": [1, 2, 3], "b": [None, None, None]}),
        ("a,b\n 1, red\n2,  blue\n", {"a": [1, 2], "b": ["red", "blue"]}),
        ("\n \na,b\r\n\r\n1,2\r  \n3,4", {"a": [1, 3], "b": [2, 4]}),
        (",a\n0,2\n1,3\n", {"x0": [0, 1], "a": [2, 3]}),
        ('a,b\n"x, y","say ""hi"""\nz,"two\nlines"\n', {"a": ["x, y", "z"], "b": ['say "hi"', "two\nlines"]}),
        ("a,b\ntrue,1\nfalse,2\n", {"a": [True, False], "b": [1, 2]}),
        ("a\n1\n2\n", {"a": [1, 2]}),
        ("\ufeffa,b\n1,2\n", {"a": [1], "b": [2]}),
        ("größe,b\n1,2\n".encode("utf-16"), {"größe": [1], "b": [2]}),
    ],
)
def test_delimiter_header_and_types_are_found_out(text, columns, tmp_path):
    frame = read(tmp_path, text).frame
    assert list(frame) == list(columns)
    for name, values in columns.items():
        assert [None if pd.isna(v) else v for v in frame[name]] == values


def test_what_was_decided_is_said(tmp_path):
    assert "has no header: its columns are called x0 … x1." in read(tmp_path, "1,2\n3,4\n").notes[0]
    table = read(tmp_path, "name,age\nJürgen,4\n".encode("latin-1"))
    assert "is not UTF-8 (line 2): it was read as Latin-1." in table.notes[0]
    assert table.frame["name"].tolist() == ["Jürgen"]


def test_a_user_can_decide(tmp_path):
    assert list(read(tmp_path, "1,2\n3,4\n", header=True).frame) == ["1", "2"]
    assert len(read(tmp_path, "a,b\nc,d\n", header=False).frame) == 2
    assert list(read(tmp_path, "a;b,c\nd;e,f\n", delimiter=",").frame) == ["a;b", "c"]
    for wrong in ("", ",,", '"', "\n", " "):
        with pytest.raises(ValueError, match="must be one character"):
            read(tmp_path, "a,b\n", delimiter=wrong)


def test_compressed(tmp_path):
    packed = gzip.compress(b"a,b\n1,2\n")
    for name in ("data.csv.gz", "data.csv"):
        assert read(tmp_path, packed, name).frame.to_dict("list") == {"a": [1], "b": [2]}


# What is refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", " is empty."),
        ("\n\n", " is empty."),
        ("a,b\n", " has a header but no rows."),
        ("a,a\n1,2\n", " has more than one column called 'a': rename them."),
        ("a,b\n1,2\n3\n", ", line 3: 1 value where the first row has 2"),
        ('a,b\n"1\n\n",2\n3,4,5\n', ", line 5: 3 values where the first row has 2"),
        ('a,b\n1,"2\n3,4\n', ", line 2: unexpected end of data; is a quote left open?"),
        ('a,b\n1,2\n"3"x,4\n', ", line 3: ',' expected after '\"'; is a quote left open?"),
        ("a,b\n1,\x002\n", " is not a text file: line 2 holds the character '\\x00'."),
        (b"\x89PNG\r\n\x1a\n\x00\x00", " is not a text file"),
        (b"PK\x03\x04abc", " is a damaged workbook or zip archive: File is not a zip file."),
        (b"\xff\xfea", " is a damaged UTF-16 file"),
        (b"\x1f\x8b\x08\x00abc", " is a damaged gzip file"),
        (b"PAR1 nothing", " is not a readable Parquet, Arrow or Feather file"),
    ],
)
def test_malformed_files_are_refused_in_one_sentence(text, message, tmp_path):
    assert refusal(tmp_path, text).startswith(message)


def test_names_that_promise_too_much(tmp_path):
    assert refusal(tmp_path, "a,b\n1,2\n", "data.csv.gz").startswith(" is not a gzip file")
    assert refusal(tmp_path, "a,b\n1,2\n", "data.parquet").startswith(" is not a readable Parquet")
    with pytest.raises(DataFileError, match="cannot be read: No such file"):
        read_table(tmp_path / "absent.csv")


@pytest.mark.parametrize("seed", range(200))
def test_a_malformed_file_loads_or_is_refused(seed, tmp_path):
    content, suffix = malformed(np.random.default_rng(seed))
    path = tmp_path / f"data{suffix}"
    path.write_bytes(content)
    message = f"{path} is fine"
    try:
        assert read_table(path).frame.size > 0
    except DataFileError as error:
        message = str(error)
    assert message.startswith(str(path))
