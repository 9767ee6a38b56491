"""What an explanation says in words."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cogmap import LTCNClassifier
from cogmap.errors import NoInformationWarning
from cogmap.explain.words import odds_words
from tests.explain.conftest import ROWS

NUMBER = r"([+-]\d+\.\d\d)"


def test_the_text_tells_the_facts(explained, wine):
    model, explanation = explained
    X = wine[0][ROWS]
    text = explanation.to_text(3)
    label = explanation.predicted[3]
    assert text.startswith(f"Row {X.index[3]} is classified as {label} with a probability of ")
    assert f"the next class is {explanation.runner_up[3]} with" in text
    assert f"in log-odds of {label} against the average of all classes, is" in text
    k = list(model.classes_).index(label)
    values = explanation.attributions[3, :, k]
    strongest = int(values.argmax())
    odds = odds_words(values[strongest], label)
    assert f"{X.columns[strongest]} = {X.iloc[3, strongest]:.4g} ({values[strongest]:+.2f}, {odds})" in text
    flips = explanation.flips([3])
    assert len(flips) == 0 or f"{flips.feature[0]} from" in text
    with pytest.raises(IndexError, match="Row 99"):
        explanation.to_text(99)


def test_the_numbers_of_the_text_add_up(explained):
    _, explanation = explained
    for row in (0, 7):
        text = explanation.to_text(row)
        total = float(re.search(rf"is {NUMBER} in all", text).group(1))
        k = list(explanation.classes).index(explanation.predicted[row])
        assert total == pytest.approx(explanation.evidence[row, k], abs=0.00501)
        parts = [float(value) for value in re.findall(NUMBER, text)]
        assert sum(parts) - total == pytest.approx(total, abs=0.005 * len(parts))


def test_a_lay_reader_sees_nothing_of_the_dynamics(explained):
    _, explanation = explained
    for row in (0, 7):
        text = explanation.to_text(row)
        for word in ("iteration", "fixed point", "limit cycle", "begins with", "states", "reasoning", "score"):
            assert word not in text
        assert explanation.to_text(row, details=True).startswith(text)


def test_the_details_say_when_it_was_decided(explained):
    _, explanation = explained
    for row in (0, 7):
        first, second = explanation.predicted[row], explanation.runner_up[row]
        text = explanation.to_text(row, details=True)
        k = list(explanation.classes).index(first)
        assert f"{explanation.contributions(first)[row, 0].sum():+.2f} from the features as they are" in text
        came = re.search(r"How the evidence came about: (.*?)\. In", text).group(1)
        parts = [float(value) for value in re.findall(NUMBER, came)]
        assert sum(parts) == pytest.approx(explanation.evidence[row, k], abs=0.005 * len(parts))
        steps = explanation.contributions(first, second)[row].sum(axis=1)
        ordered = np.sort(explanation.scores[row])
        margins = ordered[-1] - ordered[-2] - np.cumsum(steps[::-1])[::-1]  # before each iteration
        decided = max((t for t in range(1, len(steps)) if margins[t] <= 0), default=0)
        assert ("from the start" in text) == (decided == 0)
        assert (f"from step {decided} of" in text) == (decided > 0)
        assert ("comes to rest after" in text) == (explanation.dynamics.period[row] == 1)


def test_a_model_without_evidence_says_so():
    with pytest.warns(NoInformationWarning):
        model = LTCNClassifier().fit(np.eye(40), np.arange(40) % 4 > 0)
    explanation = model.explain(np.eye(40)[:2])
    assert not explanation.attributions.any()
    text = explanation.to_text(0)
    assert "is +1.10 in all: class True is 3 times as likely as class False. Of the rest, other rows have +1.10" in text


def test_a_class_that_a_metric_prefers_is_named_as_such(rng):
    X = rng.normal(size=(200, 2))
    model = LTCNClassifier(max_iter=0).fit(X, X[:, 0] + rng.normal(size=200) > 1)
    decision = replace(model.fitted_.decision, shift=np.array([0.0, 2.0]))
    model.fitted_ = replace(model.fitted_, decision=decision)
    odds = model.decision_function(X)
    row = int(np.flatnonzero((odds < -0.1) & (odds > -1.9))[0])
    explanation = model.explain(X[[row]])
    assert explanation.predicted.tolist() == model.predict(X[[row]]).tolist() == [True]
    assert "although False is more likely" in explanation.to_text(0)


def test_a_notebook_shows_the_evidence_and_escapes_names():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = ["<b>", "a & b", "c", "d"]
    explanation = LTCNClassifier(max_iter=1).fit(X, np.array(["<i>x</i>", "y", "z"])[y]).explain(X[:7])
    page = explanation._repr_html_()
    assert page.count("<table") == 5
    assert "2 more rows" in page
    assert "<b>" not in page
    assert "<i>" not in page
    assert "&lt;b&gt;" in page
    assert "a &amp; b" in page
    assert "http" not in page
    assert "log-odds of &lt;i&gt;x&lt;/i&gt; against the average of all classes" in page
    assert f">{explanation.evidence[0, 0]:+.2f}<" in page
