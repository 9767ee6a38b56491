"""Models, and reports about them."""

from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_iris

from cogmap import Knowledge, LTCNClassifier, LTCNClassifierCV, TabularClassifier
from cogmap.explain import relevance
from tests.people import people

pytest.importorskip("jinja2")
pytest.importorskip("networkx")

HOSTILE = "<script>document.title='broken'</script>"
QUOTES = "\"'><img src=x onerror=\"document.title='broken'\">"
CLOSES = "</script><b>&amp;"


@pytest.fixture(scope="package", autouse=True)
def _few_scores():
    """Let relevance be a mean over few rows: the reports are asked whether they show the models' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relevance, "SCORES", 2**12)
        yield


@pytest.fixture(scope="session")
def iris():
    """Return the table with names for classes."""
    data = load_iris(as_frame=True)
    return data.frame.assign(target=np.asarray(data.target_names)[data.target])


@pytest.fixture(scope="session")
def stack(iris):
    """Return a stack of networks and remembered rows alike."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cogmap.estimators.tuned.stack_weights", lambda members: np.full(len(members), 0.25))
        return LTCNClassifierCV(terms=None, pairs=False).fit(iris.drop(columns="target"), iris["target"])


@pytest.fixture(scope="session")
def passengers():
    return people().drop(columns="id")


@pytest.fixture(scope="session")
def tabular(passengers):
    knowledge = Knowledge().sign("age", "fare", "+", author="A. Steward", reason="savings").irrelevant("port")
    network = LTCNClassifier(max_iter=4, alpha=0.1, knowledge=knowledge)
    return TabularClassifier(network).fit(passengers.drop(columns="survived"), passengers["survived"])


@pytest.fixture(scope="session")
def hostile():
    """Return a table whose names, values and classes are markup."""
    table = people(120).drop(columns=["id", "deck", "class"])
    table["port"] = table["port"].replace("S", CLOSES)
    return table.rename(columns={"age": HOSTILE, "survived": QUOTES}).assign(
        **{QUOTES: np.where(table["survived"] == "yes", CLOSES, HOSTILE)}
    )


@pytest.fixture(scope="package")
def pages(tmp_path_factory, stack, iris, tabular, passengers, hostile):
    """Return paths of the reports about the three tables, and the facts in them."""
    from cogmap.report import write_report

    folder = tmp_path_factory.mktemp("reports")
    knowledge = Knowledge().forbid(HOSTILE, "fare", author=QUOTES, reason=CLOSES)
    network = TabularClassifier(LTCNClassifier(knowledge=knowledge)).fit(hostile.drop(columns=QUOTES), hostile[QUOTES])
    made = {
        "iris": (stack, iris, "target"),
        "people": (tabular, passengers, "survived"),
        "hostile": (network, hostile, QUOTES),
    }
    return {
        name: (folder / f"{name}.html", write_report(*arguments, folder / f"{name}.html"))
        for name, arguments in made.items()
    }


class Elements(HTMLParser):
    """The elements of a page in order, each with its attributes, and the text in each kind of element."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.open, self.text = [], [], {}
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)
