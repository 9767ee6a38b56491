"""Graphs that take a raw table, against what Python makes of the same table."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import onnx
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from cogmap import LTCNClassifier, TabularClassifier
from cogmap.files.onnx import table_inputs
from cogmap.files.onnx.dates import date_parts
from cogmap.files.onnx.graph import Graph, hstack
from cogmap.files.onnx.table import encoded
from cogmap.tables import dates
from cogmap.tables.columns import Column
from cogmap.tables.description import describe
from tests.files.onnx.running import assert_same, column_input, inputs_of, run, run_graph
from tests.people import people

pytestmark = [
    pytest.mark.filterwarnings("ignore::cogmap.errors.UnseenValueWarning"),
    pytest.mark.filterwarnings("ignore::cogmap.errors.NoInformationWarning"),
]

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
NUMBERS = st.floats(-1e6, 1e6)
DATES = st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def encode(columns, frame, dtype="float64"):
    """Return what the graph makes of a table before the network sees it."""
    inputs = table_inputs(columns, dtype)
    graph = Graph(i.name for i in inputs)
    result = graph.output(encoded(graph, columns), "result")
    types = {"string": TensorProto.STRING, "double": TensorProto.DOUBLE, "float": TensorProto.FLOAT}
    described = [helper.make_tensor_value_info(i.name, types[i.type], ["rows", 1]) for i in inputs]
    outputs = [helper.make_tensor_value_info(result, TensorProto.DOUBLE, None)]
    proto = helper.make_graph(graph.nodes, "graph", described, outputs, initializer=graph.constants)
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 2)]
    content = helper.make_model(proto, opset_imports=imports, ir_version=7).SerializeToString()
    return run(content, {i.name: column_input(frame[i.name], f"tensor({i.type})") for i in inputs})[result]


def naive(column, value):
    """Return the concepts of one value, written as the documentation says it."""
    missing = pd.isna(value)
    if missing:
        value = column.fill
    found = []
    if column.kind in ("number", "boolean"):
        found = [float(value)]
    elif column.kind == "category":
        found = [float(value == category) for category in column.categories]
        if len(column.categories) == 2 and not column.other:
            found = [float(value == category) for category in column.categories if category != column.fill]
        elif column.other:
            found.append(float(value not in column.categories))
    return found + [float(missing)] * column.missing


@st.composite
def columns(draw):
    """Return the description of a column, learned from values, and new values for it."""
    kind = draw(st.sampled_from(["number", "boolean", "category"]))
    values = {"number": NUMBERS, "boolean": st.booleans(), "category": TEXTS}[kind]
    known = draw(st.lists(values, min_size=1, max_size=6))
    seen = draw(st.lists(st.one_of(st.none(), st.sampled_from(known)), min_size=1, max_size=30))
    new = draw(st.lists(st.one_of(st.none(), st.sampled_from(known), values), min_size=1, max_size=20))
    declared = None if kind == "boolean" else kind
    series = pd.Series(seen, dtype=object)
    column = describe(
        series, draw(TEXTS), np.ones(len(seen)), declared=declared, max_categories=draw(st.integers(2, 7))
    )
    return column, pd.Series(new, dtype=object)


@given(columns())
@settings(max_examples=100)
def test_a_column_becomes_the_numbers_of_encode(drawn):
    column, new = drawn
    if column.needed:
        found = encode([column], {column.name: new})
        assert found.tolist() == [naive(column, value) for value in new]
        assert found.tobytes() == column.encode(new).tobytes()


@st.composite
def tables(draw):
    """Return a table to fit, its classes, and new rows with missing and unknown values in every column."""
    names = draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
    kinds = {"number": NUMBERS, "boolean": st.booleans(), "category": TEXTS, "date": DATES}
    seen, new, categorical = {}, {}, []
    for name in names:
        kind = draw(st.sampled_from(list(kinds)))
        values = kinds[kind]
        known = draw(st.lists(values, min_size=2, max_size=4, unique=True))
        holes = st.one_of(st.none(), st.sampled_from(known))
        seen[name] = known + draw(st.lists(holes, min_size=22, max_size=22)) + [None] * (6 - len(known))
        new[name] = draw(st.lists(st.one_of(holes, values), min_size=8, max_size=8))
        categorical += [name] * (kind == "category")
    classes = draw(st.sampled_from([["no", "yes", "été"], [3, 5, 7], [True, False]]))
    # The class follows from the last column, so that there is something to learn.
    y = [classes[known.index(value) % len(classes) if value in known else 0] for value in seen[name]]
    return pd.DataFrame(seen, dtype=object), np.array(y), pd.DataFrame(new, dtype=object), categorical


def of_seven_innovations():
    """Return a table of 28 rows, one of which has a leverage of 1, where the gate's cap would be 1 too."""
    flag = [False, True, *[None] * 19, False, False, True, *[None] * 4]
    code = ["0", "1", "000", "00", *[None] * 16, "0", "000", "000", None, None, "000", None, None]
    y = np.array(["no", "yes", "été", *["no"] * 18, "été", "été", "no", "no", "été", "no", "no"])
    X = pd.DataFrame({"0": flag, "00": code}, dtype=object)
    return X, y, pd.DataFrame({"0": [None], "00": [None]}, dtype=object), ["00"]


@given(tables())
@example(of_seven_innovations())
@settings(max_examples=25)
def test_any_table_is_classified_as_in_python(tmp_path_factory, drawn):
    X, y, new, categorical = drawn
    clf = TabularClassifier(LTCNClassifier(max_iter=2), categorical=categorical).fit(X, y)
    path = clf.to_onnx(tmp_path_factory.mktemp("table") / "model.onnx")
    rows = pd.concat([X, new])
    found = run(path, inputs_of(path, rows))
    assert_same(clf.classifier_, clf.encode(rows), found)


@pytest.fixture(scope="module")
def passengers():
    """Return a fitted model of text, numbers, true and false, constants and missing values, and other passengers."""
    X, new = (people(300, seed).drop(columns=["survived", "id"]) for seed in (0, 1))
    for frame, whole in ((X, 3), (new, 2)):
        place = np.arange(len(frame))
        frame["adult"] = (frame["age"] > 18).astype(object).where(place % 7 > 0, None)
        frame["place"] = [f"p{i % 30}" for i in place]
        frame["same"] = np.where(place % whole, "x", None)
        frame["seven"] = np.where(place % whole, 7.0, np.nan)
        frame["never"] = "used"
    model = TabularClassifier(categorical=["class", "place"]).fit(X, people(300)["survived"])
    return model, pd.concat([X, new.replace({"S": "Southampton"})], ignore_index=True)


def test_a_raw_table_is_classified_as_in_python(passengers, tmp_path):
    model, rows = passengers
    kinds = {column.name: column for column in model.columns_}
    assert kinds["place"].other
    assert kinds["same"].missing
    path = model.to_onnx(tmp_path / "people.onnx", contributions=True)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    found = run(path, inputs_of(path, rows))
    assert_same(model.classifier_, model.encode(rows), found)
    np.testing.assert_array_equal(found["label"], model.predict(rows))
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(rows), rtol=0, atol=1e-6)
    total = found["base"] + found["contributions"].sum(axis=(1, 2)) + found.get("cases", 0)
    np.testing.assert_allclose(total, found["scores"], atol=1e-9 * np.abs(found["contributions"]).max())


def test_the_graph_encodes_to_the_last_bit(passengers):
    model, rows = passengers
    np.testing.assert_array_equal(encode(model.columns_, rows), model.encode(rows).to_numpy())


def test_each_needed_column_is_an_input_that_says_what_it_takes(passengers, tmp_path):
    model, _ = passengers
    proto = onnx.load(model.to_onnx(tmp_path / "people.onnx"))
    text, number = TensorProto.STRING, TensorProto.DOUBLE
    expected = {"age": number, "sex": text, "class": text, "fare": number, "port": text, "deck": text, "adult": number,
                "place": text, "same": text, "seven": number}  # fmt: skip
    assert {i.name: i.type.tensor_type.elem_type for i in proto.graph.input} == expected
    shapes = [[d.dim_param or d.dim_value for d in i.type.tensor_type.shape.dim] for i in proto.graph.input]
    assert shapes == [["rows", 1]] * len(expected)
    assert [imported.domain for imported in proto.opset_import] == ["", "ai.onnx.ml"]
    assert {node.op_type for node in proto.graph.node if node.domain} == {"LabelEncoder"}
    (listed,) = (json.loads(item.value) for item in proto.metadata_props if item.key == "inputs")
    assert [i["name"] for i in listed] == list(expected)
    assert {i["name"]: i["missing"] for i in listed}["sex"] == ""
    assert {i["name"]: i["missing"] for i in listed}["age"] == "NaN"
    assert listed[1]["categories"] == ["female", "male"]
    assert [i["meaning"] for i in listed[:2]] == [
        "Number; NaN where missing.",
        "Category as text, the number 1 as '1'; '' where missing.",
    ]
    assert listed[-1]["meaning"] == "Anything: only whether it is missing counts; NaN where missing."


def test_without_text_the_operators_are_plain(tmp_path):
    X = people()[["age", "fare"]]
    proto = onnx.load(TabularClassifier(LTCNClassifier()).fit(X, X["fare"] > 5).to_onnx(tmp_path / "model.onnx"))
    assert [imported.domain for imported in proto.opset_import] == [""]


@pytest.mark.parametrize("opset", [13, 17, 21])
def test_any_opset(opset, passengers, tmp_path):
    model, rows = passengers
    path = model.to_onnx(tmp_path / "people.onnx", opset=opset)
    assert_same(model.classifier_, model.encode(rows), run(path, inputs_of(path, rows)))


def test_float32_columns_cost_their_rounding_only(passengers, tmp_path):
    model, rows = passengers
    path = model.to_onnx(tmp_path / "people.onnx", dtype="float32")
    given = inputs_of(path, rows)
    assert given["fare"].dtype == np.float32
    rounded = rows.assign(**{name: rows[name].astype(np.float32) for name in ("age", "fare")})
    assert_same(model.classifier_, model.encode(rounded), run(path, given))


@pytest.mark.parametrize("n_rows", [0, 1, 2])
def test_any_number_of_rows(n_rows, passengers, tmp_path):
    model, rows = passengers
    path = model.to_onnx(tmp_path / "people.onnx")
    found = run(path, {name: values[:n_rows] for name, values in inputs_of(path, rows).items()})
    assert found["label"].tolist() == model.predict(rows)[:n_rows].tolist()
    assert found["probabilities"].shape == (n_rows, 2)


def test_the_empty_text_may_be_a_rare_category():
    values = pd.Series(["red"] * 9 + ["blue"] * 8 + ["", "green"], dtype=object)
    column = describe(values, "colour", np.ones(len(values)), declared="category", max_categories=3)
    assert column.other
    (given,) = table_inputs([column])
    assert given.missing == "missing"
    assert encode([column], {"colour": pd.Series(["", "missing"])}).tolist() == [[0, 0, 1], [0, 1, 0]]


def test_the_empty_text_may_be_the_only_value():
    values = pd.Series(["", None] * 9, dtype=object)
    column = describe(values, "colour", np.ones(len(values)), declared="category", max_categories=3)
    assert column.kind == "constant"
    assert encode([column], {"colour": pd.Series(["", "missing"])}).tolist() == [[0], [1]]


def test_the_empty_text_may_be_a_category(tmp_path):
    colours = ["", "red", "missing", None] * 9
    model = TabularClassifier(LTCNClassifier()).fit(pd.DataFrame({"colour": colours}), ["a", "b", "c", "d"] * 9)
    path = model.to_onnx(tmp_path / "model.onnx")
    (listed,) = (json.loads(item.value) for item in onnx.load(path).metadata_props if item.key == "inputs")
    assert listed[0]["missing"] == "missingmissing"
    given = {"colour": np.array([["", "red", "missing", "missingmissing"]], dtype=object).T}
    assert run(path, given)["label"].tolist() == model.predict(pd.DataFrame({"colour": colours[:4]})).tolist()
    assert run(path, given)["label"].tolist() == ["a", "b", "c", "d"]


NAMES = ["label", "scores", "probabilities", "contributions", "base", "X", "rows", "constant_0", "Cast_0", "Concat_1"]


def test_a_column_may_have_any_name(tmp_path, rng):
    X = pd.DataFrame(rng.normal(size=(40, len(NAMES))), columns=NAMES)
    model = TabularClassifier(LTCNClassifier()).fit(X, X["label"] > 0)
    path = model.to_onnx(tmp_path / "model.onnx", contributions=True)
    found = run(path, inputs_of(path, X))
    assert list(found) == ["label_", "scores_", "probabilities_", "contributions_", "base_"]
    assert_same(model.classifier_, model.encode(X), {name[:-1]: value for name, value in found.items()})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("", "a", "column with an empty name cannot be an input of an ONNX graph: name it"),
        ("colour", "\ud800", r"Column 'colour' cannot be part of an ONNX file: '\\ud800' is not valid Unicode"),
        ("\ud800", "a", r"Column '\\ud800' cannot be part"),
    ],
)
def test_text_that_a_graph_cannot_hold_is_refused(name, value, message):
    with pytest.raises(ValueError, match=message):
        table_inputs([Column(name, "category", "b", ("b", "c", value))])


def test_the_network_alone_takes_what_encode_returns(passengers, tmp_path):
    model, rows = passengers
    found = run(model.classifier_.to_onnx(tmp_path / "network.onnx"), model.encode(rows).to_numpy())
    np.testing.assert_array_equal(found["label"], model.predict(rows))


MOMENTS = st.datetimes(timezones=st.just(UTC))


@settings(max_examples=40)
@given(st.lists(MOMENTS, min_size=1, max_size=50), MOMENTS)
def test_the_parts_of_dates_are_those_of_the_calendar(moments, first):
    seconds = np.array([[(moment - EPOCH) / timedelta(seconds=1)] for moment in moments])
    start = (first - EPOCH) / timedelta(seconds=1)
    found = run_graph(lambda values: hstack([*date_parts(values, start).values()]), seconds)
    # Far from 1970 a float does not hold every microsecond: the calendar is asked about the moment that it holds.
    whole = [EPOCH + timedelta(seconds=float(value)) for value in seconds[:, 0]]
    calendar = [[moment.year, moment.month, moment.isoweekday()] for moment in whole]
    assert found[:, :3].tolist() == calendar
    hours = [moment.hour + moment.minute / 60 + (moment.second + moment.microsecond / 1e6) / 3600 for moment in whole]
    np.testing.assert_allclose(found[:, 3], hours, rtol=0, atol=1e-7)
    np.testing.assert_allclose(found[:, 4], (seconds[:, 0] - start) / 86_400, rtol=1e-15)
    np.testing.assert_array_equal(found, np.hstack([*dates.date_parts(seconds, start).values()]))


@pytest.fixture(scope="module")
def sales():
    """Return a model of dates, times of day and amounts of money, a raw table, and what a graph takes of it."""
    rng = np.random.default_rng(0)
    sold = pd.Series(pd.Timestamp("2019-11-03") + pd.to_timedelta(rng.integers(0, 10**8, 200), unit="s"))
    sold[rng.random(200) < 0.1] = pd.NaT
    opened = rng.integers(0, 24 * 60, 200)
    price = np.round(rng.uniform(900, 9000, 200), 2)
    X = pd.DataFrame(
        {
            "sold": sold,
            "written": sold.dt.strftime("%d.%m.%Y %H:%M:%S"),
            "opened": [f"{minute // 60:02}:{minute % 60:02}" for minute in opened],
            "price": [f"${value:,.2f}" for value in price],
        }
    )
    given = pd.DataFrame({"sold": sold, "written": sold, "opened": opened * 60, "price": price})
    model = TabularClassifier(LTCNClassifier()).fit(X, np.where(sold.dt.month.fillna(1) > 6, "late", "early"))
    assert [column.kind for column in model.columns_] == ["date", "date", "date", "number"]
    assert model.columns_[0].missing
    return model, X, given


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dates_and_money_are_numbers(sales, dtype, tmp_path):
    model, X, given = sales
    path = model.to_onnx(tmp_path / "sales.onnx", dtype=dtype)
    types = [i.type.tensor_type.elem_type for i in onnx.load(path).graph.input]
    assert types == [TensorProto.DOUBLE] * 3 + [TensorProto.FLOAT if dtype == "float32" else TensorProto.DOUBLE]
    rounded = X.assign(price=given["price"].astype(dtype))
    assert_same(model.classifier_, model.encode(rounded), run(path, inputs_of(path, given)))
    np.testing.assert_array_equal(encode(model.columns_, given), model.encode(X).to_numpy())
    (listed,) = (json.loads(item.value) for item in onnx.load(path).metadata_props if item.key == "inputs")
    assert [i["meaning"].partition(";")[0] for i in listed] == [
        "Date in seconds since 1970-01-01 UTC",
        "Date in seconds since 1970-01-01 UTC",
        "Time of day in seconds",
        "Number, without the unit and the marks between digits that the table has",
    ]
