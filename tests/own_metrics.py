"""A stack that remembers rows in regions with metrics of their own: what tells classes apart differs by region."""

from functools import cache

import numpy as np
import pytest

from cogmap import LTCNClassifierCV
from cogmap.core.resemblance import metric, regions, ways
from cogmap.core.resemblance.regions import RegionReadout


@cache
def fitted_stack(heard="straight"):
    """Return a stack of one network and its remembered rows, by straight distances or their squares and along the axes.

    Its rows are returned too, and the readout in whose regions metrics differ.
    """
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(600, 4)).round(3)
    wave = np.where(X[:, 0] > 0.5, np.sin(6 * X[:, 1]), np.sin(6 * X[:, 2]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions.cut_boxes, "__defaults__", (200,))
        patch.setattr(metric, "SQUARE_ROWS", 0)
        patch.setitem(ways.HEARD, "squared", (heard,))
        patch.setattr("cogmap.estimators.tuned.stack_weights", lambda members: np.full(len(members), 0.4))
        model = LTCNClassifierCV(inner="slopes", terms=None, max_iter=2, pairs=False).fit(X, wave > 0)
    readouts = [member.readout for member, _ in model.fitted_.members if isinstance(member.readout, RegionReadout)]
    assert [readout.own is not None for readout in readouts] == [True, False]
    assert [readout.metric.distance for readout in readouts] == [heard, "axes"]
    return model, X, readouts[0]
