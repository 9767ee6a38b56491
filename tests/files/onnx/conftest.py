import numpy as np
import pytest

from cogmap import LTCNClassifierCV
from cogmap.core.readout.ridge import IncrementReadout
from cogmap.core.readout.shrunken import ShrunkReadout
from cogmap.core.resemblance.regions import RegionReadout
from tests.files.onnx.running import TRAIN, X, Y


@pytest.fixture(scope="package")
def stack():
    """Return a stack of networks with and without terms, and cases, for text classes."""
    names = np.array(["barolo", "grignolino", "barbera d'été"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cogmap.estimators.tuned.stack_weights", lambda members: np.full(len(members), 0.2))
        clf = LTCNClassifierCV(terms=(None, 3), max_iter=3).fit(X[TRAIN], names[Y[TRAIN]])
    readouts = {type(model.readout) for model, _ in clf.fitted_.members}
    assert readouts == {ShrunkReadout, IncrementReadout, RegionReadout}
    assert len(clf.fitted_.networks) > 1
    assert len(clf.fitted_.members) > len(clf.fitted_.networks)
    return clf


@pytest.fixture(scope="package")
def stack_file(stack, tmp_path_factory):
    return stack.to_onnx(tmp_path_factory.mktemp("stack") / "stack.onnx", contributions=True)
