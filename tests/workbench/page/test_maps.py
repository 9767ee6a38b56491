"""Maps beside the model: loaded, simulated with concepts held, compared, merged."""

import pytest

from tests.workbench.page.conftest import eventually, show

HERS = "source,target,weight\nrain,flood,0.8\ndam,flood,-0.6\nflood,dam,0.3\n"
HIS = "source,target,weight\nrain,flood,0.4\ndam,flood,0.5\nflood,dam,0.3\n"


@pytest.fixture
def loaded(opened):
    """Return the view of maps with those of two experts."""
    page = opened("iris")
    show(page, "Maps")
    files = [("hers.csv", HERS), ("his.csv", HIS)]
    page.locator("input[type=file]").set_input_files(
        [{"name": name, "mimeType": "text/csv", "buffer": text.encode()} for name, text in files]
    )
    page.locator("th[scope=row]", has_text="his").first.wait_for()
    page.names = [one["name"] for one in page.bench.maps()["maps"] if "file" in one["from"]]
    assert len(page.names) == 2
    return page


def test_a_map_without_a_classifier_settles_under_held_concepts(loaded):
    page = loaded
    page.get_by_label("Map", exact=True).select_option(page.names[0])
    page.get_by_role("checkbox", name="Hold rain").check()
    page.get_by_role("slider", name="rain, held at").fill("1")
    expected = page.bench.simulate(page.names[0], clamp={"rain": 1.0})
    cells = page.locator("table.held tbody td:last-child")
    wanted = pytest.approx([expected["final"][name] for name in expected["concepts"]], rel=6e-3)
    eventually(page, lambda: [float(t.replace("−", "-")) for t in cells.all_text_contents()], wanted)
    assert page.get_by_text(expected["text"]).is_visible()
    page.get_by_label("Activation").select_option("tanh")
    turned = page.bench.simulate(page.names[0], clamp={"rain": 1.0}, activation="tanh")
    wanted = pytest.approx([turned["final"][name] for name in turned["concepts"]], rel=6e-3)
    eventually(page, lambda: [float(t.replace("−", "-")) for t in cells.all_text_contents()], wanted)
    page.get_by_label("Keep this run as").fill("a wet year")
    page.get_by_role("button", name="Keep", exact=True).click()
    page.get_by_role("columnheader", name="a wet year").wait_for()
    assert page.complaints == []


def test_two_maps_are_compared_edge_by_edge(loaded):
    page = loaded
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_label("One").select_option(page.names[0])
    page.get_by_label("Other").select_option(page.names[1])
    rows = page.get_by_role("region", name="Edges that differ").locator("tbody tr")
    eventually(page, lambda: {row.split("\t")[0] for row in rows.all_inner_texts()}, {"rain → flood", "dam → flood"})
    assert "−0.6" in rows.filter(has_text="dam → flood").text_content()


def test_two_maps_are_merged_and_their_disagreements_shown(loaded):
    page = loaded
    page.get_by_role("button", name="Merge", exact=True).click()
    for name in page.names:
        page.get_by_role("checkbox", name=name).check()
    page.get_by_label("Rule").select_option("mean")
    page.get_by_label("Name").fill("both")
    page.locator("form.merge").get_by_role("button", name="Merge").click()
    page.get_by_role("status").filter(has_text="both is made").wait_for()
    opposed = page.get_by_role("region", name="Disagreements").locator("tbody tr", has_text="dam → flood")
    assert "opposite" in opposed.text_content()
    merged = page.bench.show_map("both")
    dam, flood = (merged["concepts"].index(name) for name in ("dam", "flood"))
    assert merged["weights"][dam][flood] == pytest.approx((-0.6 + 0.5) / 2)


def test_a_file_that_is_no_map_is_refused_in_words(opened):
    page = opened("iris")
    show(page, "Maps")
    page.locator("input[type=file]").set_input_files({"name": "x.json", "mimeType": "text/plain", "buffer": b"{"})
    page.locator(".notice").wait_for()
    assert "x.json" in page.locator(".notice").text_content()
