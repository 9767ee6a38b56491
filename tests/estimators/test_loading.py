from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from cogmap import LTCNClassifier, LTCNClassifierCV, ModelFileError, TabularClassifier, load
from cogmap.estimators.loading import restored
from cogmap.files.model import read

X, Y = load_iris(return_X_y=True)


@pytest.fixture
def saved(tmp_path):
    """Return a function that saves a model and reads its file as plain values."""
    return lambda model: read(model.save(tmp_path / "model.cogmap"))


def test_a_file_is_plain_values_until_a_class_is_made_of_them(saved):
    model = LTCNClassifier(max_iter=2, tol=1e-6).fit(X, Y)
    content = saved(model)
    assert (content.name, content.path) == ("LTCNClassifier", "model")
    assert content.parameters["max_iter"] == 2
    assert content.attributes["fitted_"].tol == 1e-6
    assert "_members" not in content.attributes
    assert content.attributes["fitted_"].scores(X).tobytes() == model.fitted_.scores(X).tobytes()
    again = restored(content)
    assert again.fitted_ is content.attributes["fitted_"]
    assert vars(again).keys() == vars(model).keys()


def test_a_parameter_that_the_file_lacks_has_its_default(saved):
    content = saved(LTCNClassifier(max_iter=2, tol=1e-6).fit(X, Y))
    parameters = {name: value for name, value in content.parameters.items() if name != "cases"}
    assert restored(replace(content, parameters=parameters)).cases is False


def test_parameters_are_judged_by_the_estimator(saved):
    content = saved(LTCNClassifierCV(max_iter=2).fit(X, Y))
    for change, sentence in (
        ({"evil": 1}, r"model\.parameters has the unknown key 'evil'"),
        ({"phi": 2.0}, "the estimator refuses its parameters: phi=2.0 must be"),
        ({"phi": (0.1, 0.2, 0.3, 0.4)}, "results for each combination of the grids"),
        ({"max_iter": 2**40}, "max_iter must be at most 1000000"),
    ):
        with pytest.raises(ModelFileError, match=sentence):
            restored(replace(content, parameters=content.parameters | change))


def test_what_no_file_may_hold_is_not_saved(tmp_path):
    model = LTCNClassifier(max_iter=2).fit(X, Y).set_params(phi=2.0)
    with pytest.raises(ModelFileError, match=r"cannot be saved as .*refuses its parameters: phi=2.0"):
        model.save(tmp_path / "model.cogmap")
    table = TabularClassifier(LTCNClassifier(max_iter=2)).fit(X, Y)
    table.classifier_.set_params(inner=np.eye(3))
    with pytest.raises(ModelFileError, match=r"cannot be saved as .*refuses its parameters: inner must be"):
        table.save(tmp_path / "model.cogmap")
    assert not list(tmp_path.iterdir())


def test_a_network_within_a_table_is_made_again_too(tmp_path):
    frame = pd.DataFrame({"colour": ["red", "blue", "green"] * 20, "size": np.arange(60) / 7})
    model = TabularClassifier(LTCNClassifier(max_iter=1, phi=0.5)).fit(frame, np.arange(60) // 20)
    again = load(model.save(tmp_path / "model.cogmap"))
    assert isinstance(again.classifier, LTCNClassifier)
    assert again.classifier.phi == again.classifier_.phi == 0.5
    assert not hasattr(again.classifier, "fitted_")
    assert (again.predict_proba(frame) == model.predict_proba(frame)).all()
    assert clone(again).fit(frame, np.arange(60) // 20).columns_ == model.columns_


def test_a_class_of_the_same_name_is_not_the_librarys(tmp_path):
    impostor = type("LTCNClassifier", (LTCNClassifier,), {"__module__": __name__})
    with pytest.raises(ModelFileError, match="model is a LTCNClassifier, which no file can hold"):
        impostor(max_iter=1).fit(X, Y).save(tmp_path / "model.cogmap")
