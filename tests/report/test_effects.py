"""How each feature acts, as the report has it: the model's effects, in words and in the geometry of the charts."""

import re

import numpy as np
import pytest

from cogmap import Knowledge, LTCNClassifier, TabularClassifier
from cogmap.effects.effects import feature_effect, most_relevant
from cogmap.report import report_facts, to_html
from cogmap.report.effects import BOTTOM, COLOURS, LEFT, NAMES, RIGHT, TOP, effect_chart
from cogmap.report.words import percent
from tests.report.conftest import HOSTILE, Elements


@pytest.fixture(scope="module")
def people_effects(pages):
    return pages["people"][1]["effects"]


def section(page):
    return page.partition('<section id="effects"')[2].partition("</section>")[0]


def test_effects_are_those_of_the_most_relevant_columns(people_effects, tabular, passengers, pages, stack, iris):
    for facts, model, table in (
        (people_effects, tabular, passengers.drop(columns="survived")),
        (pages["iris"][1]["effects"], stack, iris.drop(columns="target")),
    ):
        assert [one["name"] for one in facts["columns"]] == most_relevant(model)
        assert 4 <= len(facts["columns"]) <= 6
        for one in facts["columns"]:
            expected = feature_effect(model, table, one["name"])
            np.testing.assert_allclose(one["effect"], expected.effect.T)
            np.testing.assert_allclose(one["high"], expected.high.T)
            assert one["rows"] == expected.rows.tolist()
    assert people_effects["classes"] == ["yes"]
    assert pages["iris"][1]["effects"]["classes"] == ["setosa", "versicolor", "virginica"]


def test_words_say_where_the_class_is_least_and_most_likely(people_effects):
    (sex,) = (one for one in people_effects["columns"] if one["name"] == "sex")
    low, high = (percent(share) for share in sorted(sex["effect"][0]))
    assert sex["words"] == f"The average probability of yes goes from {low} for male to {high} for female."
    (age,) = (one for one in people_effects["columns"] if one["name"] == "age")
    assert re.search(r" at [\d.]+|where it is missing", age["words"])


def test_curves_are_drawn_where_their_numbers_are(people_effects):
    (age,) = (one for one in people_effects["columns"] if one["name"] == "age")
    chart = effect_chart(age)
    (line,) = chart["lines"]
    heights = [BOTTOM - y for _, y in line["points"]]
    np.testing.assert_allclose(heights, np.array(age["effect"][0][:-1]) * (BOTTOM - TOP), atol=0.06)
    across = np.array([x for x, _ in line["points"]])
    assert across[0] == LEFT
    assert across[-1] < RIGHT - 40
    np.testing.assert_allclose(np.corrcoef(across, age["values"])[0, 1], 1.0, atol=1e-6)
    assert line["beside"][0] == pytest.approx(BOTTOM - age["effect"][0][-1] * (BOTTOM - TOP), abs=0.06)
    assert chart["x"][-1]["text"] == "missing"
    assert len(line["band"]) == 2 * len(line["points"])
    assert len(chart["rug"]) == min(len(age["rug"]), 200)
    assert np.diff([mark["at"] for mark in chart["x"]]).min() > 20


def test_bars_are_as_long_as_their_probability(people_effects):
    (deck,) = (one for one in people_effects["columns"] if one["name"] == "deck")
    chart = effect_chart(deck)
    widths = [bar["parts"][0]["width"] for bar in chart["bars"]]
    np.testing.assert_allclose(widths, np.array(deck["effect"][0]) * (RIGHT - NAMES), atol=0.11)
    assert [bar["name"] for bar in chart["bars"]] == ["A", "B", "C", "missing"]
    tops = [bar["parts"][0]["top"] for bar in chart["bars"]]
    assert np.diff(tops).min() > chart["thick"]


def test_numbers_outside_of_probabilities_are_drawn_at_their_ends():
    one = {"is_number": True, "values": [0.0, 1.0], "missing": False, "rug": [0.5], "is_date": False}
    chart = effect_chart(one | {"effect": [[-0.1, 1.2]], "low": [[0.0, 0.0]], "high": [[1.0, 1.0]]})
    assert chart["lines"][0]["points"] == [(LEFT, BOTTOM), (RIGHT, TOP)]


def test_the_page_shows_each_effect_with_its_words(pages):
    for path, facts in pages.values():
        part = section(path.read_text(encoding="utf-8"))
        assert part.count("<figure>") == len(facts["effects"]["columns"])
        words = "".join("".join(parts) for tag, parts in Elements(part).text.items() if tag == "figcaption")
        for one in facts["effects"]["columns"]:
            assert one["words"] in words
        assert part.count("<polygon") == (
            sum(one["is_number"] for one in facts["effects"]["columns"]) if len(facts["effects"]["classes"]) == 1 else 0
        )


def test_names_from_data_are_text(pages):
    page = pages["hostile"][0].read_text(encoding="utf-8")
    assert HOSTILE not in section(page)
    assert HOSTILE in Elements(section(page)).text["h3"]


def test_fills_have_the_colours_of_the_lines(pages):
    page = pages["iris"][0].read_text(encoding="utf-8")
    assert tuple(re.findall(r"\.c\d \{ stroke: (#[0-9a-f]{6})", page)) == COLOURS


@pytest.mark.filterwarnings("ignore::cogmap.errors.NoInformationWarning")
def test_a_model_that_may_use_no_column_has_a_flat_effect(passengers):
    X, y = passengers[["fare", "class"]], passengers["survived"]
    model = TabularClassifier(LTCNClassifier(knowledge=Knowledge().irrelevant("fare").irrelevant("class"))).fit(X, y)
    facts = report_facts(model, X, y, n_folds=2)
    share = percent((y == "yes").mean())
    (one,) = facts["effects"]["columns"]
    assert one["words"] == f"It hardly moves the probability of any class: yes stays at {share}."
    assert one["words"] in section(to_html(facts)).replace("&nbsp;", "\u00a0")


def test_a_number_that_is_always_missing_has_a_bar(tabular, passengers):
    facts = report_facts(tabular, passengers.assign(age=np.nan), "survived", n_folds=2)
    (age,) = (one for one in facts["effects"]["columns"] if one["name"] == "age")
    assert (age["values"], age["missing"]) == ([], True)
    assert [bar["name"] for bar in effect_chart(age)["bars"]] == ["missing"]
    assert "</html>" in to_html(facts)
