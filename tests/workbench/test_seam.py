import inspect
import json
import logging
from itertools import pairwise

import pytest

from cogmap import LTCNClassifier
from cogmap.workbench import Workbench, seam
from tests.workbench.conftest import SAID


def test_every_call_is_a_documented_method_of_the_same_name():
    for name in seam.NAMES:
        method = getattr(Workbench, name)
        assert callable(method)
        assert inspect.getdoc(method), name


def test_answers_are_plain_json(changed):
    for name, payload in (
        ("state", {}),
        ("progress", {}),
        ("map", {}),
        ("history", {}),
        ("compare", {}),
        ("what_if", {}),
        ("changes", {}),
        ("explain", {"row": 3}),
        ("rows", {}),
        ("scenarios", {}),
        ("maps", {}),
        ("files", {}),
    ):
        status, data = seam.answer(changed, name, payload)
        assert status == 200, (name, data)
        assert json.loads(json.dumps(data, allow_nan=False)) == data


@pytest.mark.parametrize(
    ("name", "payload", "status", "kind", "words"),
    [
        ("nothing", {}, 404, "refused", "There is no call 'nothing'"),
        ("stat", {}, 404, "refused", "did you mean 'state'"),
        ("__init__", {}, 404, "refused", "There is no call"),
        ("put", {"history": 1}, 404, "refused", "There is no call"),
        ("close", {}, 404, "refused", "There is no call"),
        ("state", [], 400, "mistake", "The payload is no object"),
        ("state", None, 400, "mistake", "The payload is no object"),
        ("state", {"self": 1}, 400, "mistake", "takes no 'self'"),
        ("what_if", {"rwo": 3}, 400, "mistake", "takes no 'rwo'"),
        ("what_if", {"row": "3"}, 400, "mistake", "'row' of 'what_if' must be a whole number or nothing"),
        ("what_if", {"row": True}, 400, "mistake", "must be a whole number"),
        ("what_if", {"values": [1]}, 400, "mistake", "'values' of 'what_if' must be an object"),
        ("what_if", {"class": 3}, 400, "mistake", "'class' of 'what_if' must be text"),
        ("fix", {"source": "a", "target": "b", **SAID}, 400, "mistake", "'fix' needs 'value'"),
        ("fix", {"source": "a", "target": "b", "value": "1", **SAID}, 400, "mistake", "must be a number"),
        ("withdraw", {"numbers": ["1"], **SAID}, 400, "mistake", "must be a list"),
        ("undo", {"version": 17}, 409, "conflict", "There is no version 17"),
        ("export", {"what": "model", "file": "/etc/passwd"}, 400, "mistake", "is no name of a file"),
    ],
)
def test_calls_that_cannot_be_are_answered_in_words(raw_bench, name, payload, status, kind, words):
    answered, data = seam.answer(raw_bench, name, payload)
    assert (answered, data["error"]["kind"]) == (status, kind)
    assert words in data["error"]["message"]
    assert raw_bench.state()["version"] == 0


def test_what_went_wrong_inside_stays_in_the_log(raw_bench, monkeypatch, caplog):
    def broken(self):
        raise RuntimeError("a secret of the machine")

    monkeypatch.setattr(Workbench, "state", broken)
    with caplog.at_level(logging.ERROR):
        status, data = seam.answer(raw_bench, "state", {})
    assert (status, data["error"]["kind"]) == (500, "failure")
    assert "secret" not in data["error"]["message"]
    assert "a secret of the machine" in caplog.text


def test_hostile_names_of_columns_and_classes_stay_text(iris):
    names = ["<script>alert(1)</script>", "__proto__", "'; DROP TABLE x", "\u202e\x07"]
    X, y = iris[0].set_axis(names, axis=1), iris[1].replace("setosa", "</script><b>")
    bench = Workbench(LTCNClassifier(max_iter=2, alpha=0.1).fit(X, y), X, y, refit=False)
    for source, target in pairwise(names):
        state = bench.call("forbid", {"source": source, "target": target, **SAID})
    assert [one["name"] for one in state["columns"]] == names
    answer = json.loads(json.dumps(bench.call("what_if", {"values": dict.fromkeys(names, 1.0)})))
    assert set(answer["values"]) == set(names)
    assert answer["probabilities"][0]["class"] == "</script><b>"
    text = bench.history_text()
    assert "<script>" not in text
    assert "\\<script\\>" in text
