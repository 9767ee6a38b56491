import numpy as np
import pytest

from cogmap import LTCNClassifier, LTCNClassifierCV
from cogmap.core.resemblance import regions


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.uniform(0, 100, 400), rng.uniform(-1, 1, 400), rng.normal(size=400)])
    return X, (np.sin(X[:, 0] / 8) > 0).astype(int)


@pytest.fixture(scope="module")
def model(problem):
    """Return a stack of remembered rows in regions of at most 150, with and without terms."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions.cut_boxes, "__defaults__", (150,))
        patch.setattr("cogmap.estimators.tuned.worthwhile_weights", lambda members: np.full(len(members), 0.2))
        return LTCNClassifierCV(inner="slopes", max_iter=2).fit(*problem)


def test_what_tells_the_classes_apart_makes_rows_alike(model):
    frame = model.resemblance()
    assert set(frame.network) == {"no terms", "5 terms"}
    assert frame.groupby("network").share.sum().tolist() == pytest.approx([1, 1])
    assert frame[frame.network == "no terms"].concept.iloc[0] == "x0"
    assert frame[frame.network == "5 terms"].concept.iloc[0].startswith("x0 is ")


def test_rules_say_which_rows_a_region_has(model, problem):
    """Read as a person would, from the text alone."""
    X, frame = problem[0], model.regions()
    plain = frame[frame.network == "no terms"]
    assert frame.groupby("network").cases.sum().tolist() == [400, 400]
    assert len(plain) > 2
    for rule, cases in zip(plain.rule, plain.cases, strict=True):
        inside = np.ones(400, dtype=bool)
        for part in rule.split(" and "):
            name, word, number = part.replace("is ", "").replace("at most", "most").split()
            column = X[:, int(name[1:])]
            inside &= column > float(number) if word == "above" else column <= float(number)
        assert abs(inside.sum() - cases) <= 2  # numbers are shown with four digits


def test_a_small_table_is_one_region_and_a_model_without_cases_has_none(problem):
    X, y = problem
    small = LTCNClassifierCV(inner="slopes", terms=None, pairs=False, combine="best").fit(X, y)
    assert small.regions().values.tolist() == [["", "every row", 400]]
    for method in ("regions", "resemblance"):
        with pytest.raises(ValueError, match="remembers no rows in regions"):
            getattr(LTCNClassifier(max_iter=1).fit(X, y), method)()
