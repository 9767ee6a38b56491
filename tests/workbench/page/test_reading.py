"""What if, before and after, rows and files: what is shown is what Python answers."""

import re

import pytest

from tests.workbench.page.conftest import eventually, show


def percents(texts):
    return [float(re.sub("[^0-9.]", "", text)) / 100 for text in texts]


def probabilities(page):
    return percents(page.locator(".outcome td.number").all_text_contents())


def approximately(expected):
    return pytest.approx([one["probability"] for one in expected["probabilities"]], abs=0.006)


def test_probabilities_follow_the_slider(opened):
    page = opened("iris")
    show(page, "What if")
    slider = page.get_by_role("slider", name="petal length (cm)")
    for value in ("1.5", "6"):
        slider.fill(value)
        expected = page.bench.what_if({"petal length (cm)": float(value)})
        eventually(page, lambda: probabilities(page), approximately(expected))
        assert page.locator(".outcome .predicted").text_content() == expected["predicted"]
        total = page.locator(".evidence tr:last-child td.number")
        wanted = pytest.approx(expected["evidence"]["total"], rel=1e-2)
        eventually(page, lambda total=total: float(total.text_content().replace("−", "-")), wanted)
    page.get_by_role("button", name="Set petal length (cm) back").click()
    page.get_by_text("as at the beginning").wait_for()
    assert page.complaints == []


def test_lists_dates_and_missing_values_can_be_chosen(opened):
    page = opened("people")
    show(page, "What if")
    page.get_by_label("Row", exact=True).fill("3")
    page.get_by_role("button", name="Take this row").click()
    page.get_by_text("row 3, truly").wait_for()
    page.get_by_label("sex", exact=True).select_option("female")
    page.get_by_label("joined", exact=True).fill("2024-01-05")
    page.locator(".control", has_text="age").get_by_label("missing").check()
    expected = page.bench.what_if({"sex": "female", "joined": "2024-01-05", "age": None}, row=3)
    eventually(page, lambda: probabilities(page), approximately(expected))


def test_the_states_of_all_concepts_are_drawn_and_written(opened):
    page = opened("iris")
    show(page, "What if")
    one = page.bench.what_if()["trajectory"][0]
    assert page.locator(".trajectory .chart .line").count() == len(one["concepts"])
    page.get_by_text("All states as numbers").click()
    first = page.locator(".trajectory tbody tr").filter(has_text=one["concepts"][0]).locator("td").all_text_contents()
    assert [float(text.replace("−", "-")) for text in first] == pytest.approx(
        [state[0] for state in one["states"]], rel=6e-3
    )


def test_the_smallest_changes_are_marked_and_applied(opened):
    page = opened("people")
    show(page, "What if")
    page.get_by_role("button", name="Search the smallest changes").click()
    found = page.bench.changes()
    page.locator(".flips .choice").wait_for()
    assert page.locator(".turn").count() == len(found["one"])
    page.get_by_role("button", name="Two columns").click()
    assert page.locator(".flips li").count() == min(len(found["two"]), 10)
    page.locator(".flips li button").first.click()
    page.locator(".outcome .predicted", has_text=found["two"][0]["class"]).wait_for()


def test_scenarios_are_kept_and_laid_side_by_side(opened):
    page = opened("iris")
    show(page, "What if")
    for name, value in (("short", "1.5"), ("long", "6")):
        page.get_by_role("slider", name="petal length (cm)").fill(value)
        page.get_by_label("Keep this row as").fill(name)
        page.get_by_role("button", name="Keep", exact=True).click()
        page.locator(".kept strong", has_text=name).wait_for()
    page.get_by_role("columnheader", name="long").wait_for()
    kept = page.bench.compare_scenarios()
    assert page.locator(".scenarios tr.strong td").all_text_contents() == [
        one["predicted"] for one in kept["scenarios"]
    ]
    assert page.locator(".scenarios tr.differs td").all_text_contents() == ["1.5", "6"]
    page.get_by_role("button", name="Remove short").click()
    page.locator(".kept strong", has_text="short").wait_for(state="detached")
    assert [one["name"] for one in page.bench.scenarios()["scenarios"]] == ["long"]


def test_before_and_after_is_what_was_measured(opened):
    page = opened("iris", refit=True)
    page.bench.forbid("petal width (cm)", "sepal width (cm)", author="A", reason="b")
    page.reload()
    show(page, "Before and after")
    expected = page.bench.compare()
    after = [float(text) for text in page.locator(".card dd:not(.hint)").all_text_contents()]
    assert after == pytest.approx([one["after"] for one in expected["scores"]], rel=1e-3)
    assert f"{expected['n_changed_rows']} row" in page.locator(".grid h3").first.text_content()
    assert page.locator(".figures figure").count() == len(expected["effects"])
    edges = page.get_by_role("region", name="Edges whose weight changes")
    edges.get_by_role("button", name="petal width (cm) → sepal width (cm)").click()
    assert page.locator(".panel .weight span").text_content() == "0"
    assert page.locator(".edge.stated").count() == 1
    show(page, "History")
    page.get_by_role("button", name="Compare entry 1").click()
    page.locator(".card").first.wait_for()
    assert page.locator(".card").count() == 3


def test_rows_are_filtered_sorted_and_explained(opened):
    page = opened("iris", refit=True)
    show(page, "Rows")
    page.get_by_role("button", name="Errors").click()
    wrong = page.bench.rows(filter="errors")
    page.get_by_text(f"of {wrong['total']},").wait_for()
    assert page.locator("table.rows tbody tr").count() == wrong["total"]
    page.get_by_role("button", name="probability").click()
    page.get_by_role("columnheader", name="probability ↑").wait_for()
    wanted = [one["probability"] for one in page.bench.rows(filter="errors", sort="probability")["rows"]]
    cells = page.locator("table.rows tbody td.number:nth-child(4)")
    eventually(page, lambda: percents(cells.all_text_contents()), pytest.approx(wanted, abs=0.006))
    button = page.get_by_role("button", name="Explain row").first
    row = int(button.text_content())
    button.focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=f"Row {row}, truly").wait_for()
    assert page.bench.explain(row=row)["text"] in page.locator(".panel").text_content()
    page.get_by_role("button", name="What if this row were different?").click()
    page.get_by_text(f"row {row}, truly").wait_for()


def test_files_are_written_where_the_page_says(opened, tmp_path):
    page = opened("iris", refit=True)
    page.bench.forbid("petal width (cm)", "sepal width (cm)", author="A", reason="they grow apart")
    page.reload()
    show(page, "Files")
    for title, name in (
        ("The statements", "iris-knowledge.toml"),
        ("The history", "iris-history.md"),
        ("The model", "iris-stated.cogmap"),
    ):
        form = page.get_by_role("form", name=title)
        form.get_by_role("button", name="Write").click()
        form.get_by_role("status").wait_for()
        assert (tmp_path / name).stat().st_size > 0
    form.get_by_role("button", name="Write").click()
    form.get_by_role("alert").wait_for()
    form.get_by_role("button", name="Replace it").click()
    form.get_by_role("status").wait_for()
    assert page.locator(".files li").count() == 3
    form = page.get_by_role("form", name="The statements")
    form.get_by_text("What is in it").click()
    assert form.locator("pre").text_content() == (tmp_path / "iris-knowledge.toml").read_text(encoding="utf-8")
