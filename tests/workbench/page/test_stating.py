"""Statements: by mouse and by keyboard, refused in words, undone, from two tabs, and kept when the browser goes."""

import pytest

from tests.workbench.page.conftest import show, visited

A, B, C = "petal width (cm)", "sepal width (cm)", "petal length (cm)"


def select_edge(page, source=A, target=B):
    page.get_by_role("button", name="Map", exact=True).click()
    page.locator(f".node[aria-label^='{source}']").click()
    page.get_by_label("Edge to").select_option(target)


def state(page, kind, author="A. Botanist", reason="they grow apart", **values):
    page.get_by_label(kind).check()
    for label, value in values.items():
        page.get_by_label(label.replace("_", " "), exact=True).fill(str(value))
    page.get_by_label("Who states it").fill(author)
    page.get_by_label("Why").fill(reason)
    page.get_by_role("button", name="State it and refit").click()


def stated(page, count):
    """Wait for a number of statements; return what was stated last, and by whom and why."""
    page.get_by_role("heading", name=f"{count} statement").wait_for()
    statements = page.bench.state()["statements"]
    assert len(statements) == count
    return statements[-1] if statements else None


def test_each_statement_is_made_by_a_click(opened):
    page = opened("iris")
    made = [
        ("No such edge", (A, B), {}, f"no edge {A} → {B}"),
        ("Exactly this weight", (B, A), {"Weight": -0.25}, f"{B} → {A} = -0.25"),
        ("Positive or 0", (A, C), {}, f"{A} → {C} is positive or 0"),
        ("Negative or 0", (C, A), {}, f"{C} → {A} is negative or 0"),
    ]
    for count, (kind, edge, values, claim) in enumerate(made, start=1):
        select_edge(page, *edge)
        state(page, kind, **values)
        last = stated(page, count)
        assert (last["claim"], last["author"], last["reason"]) == (claim, "A. Botanist", "they grow apart")
    assert page.locator(".knowledge .statements strong").all_text_contents() == [claim for *_, claim in made]
    select_edge(page, B, C)
    state(page, "Between two bounds", At_least=-0.5, At_most=0.1)
    stated(page, 6)
    bounds = [(one["kind"], one["value"]) for one in page.bench.state()["statements"][4:]]
    assert bounds == [("at_least", -0.5), ("at_most", 0.1)]
    assert page.complaints == []


def test_a_column_is_declared_irrelevant_with_the_keyboard_alone(opened):
    page = opened("iris")
    page.locator(".node[tabindex='0']").focus()
    name = page.evaluate("document.activeElement.getAttribute('aria-label').split(',')[0]")
    page.keyboard.press("Enter")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("K. Board")
    page.keyboard.press("Tab")
    page.keyboard.type("it was measured twice")
    page.keyboard.press("Enter")
    last = stated(page, 1)
    assert (last["kind"], last["source"], last["author"]) == ("irrelevant", name, "K. Board")


def test_a_bias_is_stated(opened):
    page = opened("iris")
    page.locator(".node[tabindex='0']").focus()
    name = page.evaluate("document.activeElement.getAttribute('aria-label').split(',')[0]")
    page.keyboard.press("Enter")
    page.get_by_text(f"State the bias of {name}").first.click()
    form = page.get_by_role("form", name=f"State the bias of {name} and refit")
    form.get_by_label("Bias").fill("0.25")
    form.get_by_label("Who states it").fill("A. Botanist")
    form.get_by_label("Why").fill("it never rests at 0")
    form.get_by_role("button", name="State the bias").click()
    last = stated(page, 1)
    assert (last["kind"], last["source"], last["value"]) == ("bias", name, 0.25)


def test_an_edge_of_the_matrix_is_forbidden_with_the_keyboard_alone(opened):
    page = opened("iris")
    page.get_by_role("button", name="Matrix").click()
    page.get_by_role("grid").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "author":
            break
    page.keyboard.type("K. Board")
    page.keyboard.press("Tab")
    page.keyboard.type("no mechanism")
    page.keyboard.press("Enter")
    last = stated(page, 1)
    assert (last["kind"], last["reason"]) == ("forbid", "no mechanism")
    assert page.locator(".cell.stated").count() == 1


def test_nothing_is_stated_without_a_name_and_a_reason(opened):
    page = opened("iris")
    select_edge(page)
    state(page, "No such edge", author="", reason="")
    assert page.evaluate("document.activeElement.name") == "author"
    state(page, "No such edge", author="A. Botanist", reason="  ")
    page.locator(".wrong").wait_for()
    assert page.bench.state()["statements"] == []


def test_a_contradiction_is_told_in_words_and_can_be_replaced(opened):
    page = opened("iris")
    select_edge(page)
    state(page, "Exactly this weight", Weight=0.5)
    stated(page, 1)
    state(page, "No such edge", reason="a second look")
    assert "contradicts" in page.locator(".wrong").text_content()
    assert page.bench.state()["version"] == 1
    page.get_by_label("Withdraw earlier statements").check()
    page.get_by_role("button", name="State it and refit").click()
    page.locator(".knowledge").get_by_text("no edge").first.wait_for()
    assert [one["kind"] for one in page.bench.state()["statements"]] == ["forbid"]


def test_a_statement_is_withdrawn_undone_and_redone_and_the_history_grows(opened):
    page = opened("iris")
    select_edge(page)
    state(page, "No such edge")
    stated(page, 1)
    page.locator(".knowledge").get_by_role("button", name="Withdraw: ").click()
    form = page.locator(".knowledge form")
    form.get_by_label("Why").fill("it was too bold")
    form.get_by_role("button", name="Withdraw it and refit").click()
    stated(page, 0)
    page.get_by_role("button", name="Undo").click()
    stated(page, 1)
    page.locator(".network").click(position={"x": 5, "y": 5})
    page.get_by_role("tab", name="Map", exact=True).focus()
    page.keyboard.press("Control+z")
    stated(page, 0)
    page.keyboard.press("Control+Shift+z")
    stated(page, 1)
    show(page, "History")
    shown = page.locator(".entry .badge").all_text_contents()
    assert shown == ["Redone", "Undone", "Undone", "Withdrawn", "Stated", "Begun"]


@pytest.mark.slow
def test_two_tabs_that_edit_at_once_are_told(opened):
    page = opened("iris")
    other = visited(page.context.new_page(), page.url_of_bench)
    select_edge(page)
    select_edge(other)
    state(page, "No such edge", reason="first")
    stated(page, 1)
    state(other, "Positive or 0", reason="second")
    other.locator(".notice").wait_for()
    assert [one["reason"] for one in page.bench.state()["statements"]] == ["first"]
    other.get_by_role("heading", name="1 statement").wait_for()
    other.close()


def test_nothing_is_lost_when_browser_and_process_are_closed(opened, tmp_path):
    session = tmp_path / "iris.session.json"
    page = opened("iris", session=session)
    select_edge(page)
    state(page, "No such edge", reason="kept")
    stated(page, 1)
    again = opened("iris", session=session)
    assert again.locator(".knowledge .statements").text_content().count("kept") == 1


def test_a_page_without_its_key_says_what_to_do(opened, browser):
    page = opened("iris")
    context = browser.new_context()
    stranger = context.new_page()
    stranger.goto(page.url_of_bench.partition("#")[0])
    assert "cogmap workbench" in stranger.locator("main p").text_content()
    context.close()


def test_the_key_does_not_stay_in_the_address_and_survives_a_reload(opened):
    page = opened("iris")
    assert "token" not in page.url
    page.reload()
    page.get_by_role("tab", name="Map", exact=True).wait_for()
