"""Figures on the Agg canvas, and what can be seen on them."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from cogmap import LTCNClassifier
from cogmap.explain import relevance

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="package", autouse=True)
def _few_scores():
    """Let relevance be a mean over few rows: the pictures are asked whether they show the models' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relevance, "SCORES", 2**12)
        yield


@pytest.fixture(scope="package")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="package")
def fitted(wine):
    return LTCNClassifier(max_iter=3).fit(*wine)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def corners(text):
    """Return the corners of a text's box on the page, turned as the text is, shape (4, 2)."""
    rotation = np.radians(text.get_rotation())
    turned = text.get_window_extent()
    text.set_rotation(0)
    level = text.get_window_extent()
    text.set_rotation(np.degrees(rotation))
    anchor = text.get_transform().transform(text.get_unitless_position())
    turn = np.array([[np.cos(rotation), np.sin(rotation)], [-np.sin(rotation), np.cos(rotation)]])
    found = anchor + (level.corners()[[0, 1, 3, 2]] - anchor) @ turn
    np.testing.assert_allclose([found.min(axis=0), found.max(axis=0)], [turned.min, turned.max], atol=2)
    return found


def apart(one, other):
    """Say whether a line separates two convex sets of points: then one of the first's sides is parallel to it."""
    for points, others in ((one, other), (other, one)):
        sides = np.roll(points, -1, axis=0) - points
        for normal in np.c_[-sides[:, 1], sides[:, 0]]:
            if (points @ normal).max() <= (others @ normal).min() or (others @ normal).max() <= (points @ normal).min():
                return True
    return False


def marks_on_page(ax):
    """Return points all along the outlines of the patches and around the nodes of axes, on the page."""
    found = [np.empty((0, 2))]
    for patch in ax.patches:
        outline = patch.get_transform().transform_path(patch.get_path()).interpolated(20)
        found.extend(outline.to_polygons(closed_only=False))
    circle = np.linspace(0, 2 * np.pi, 24)
    for collection in ax.collections:
        radius = np.sqrt(collection.get_sizes()) / 2 * ax.figure.dpi / 72
        for centre, r in zip(ax.transData.transform(collection.get_offsets()), radius, strict=True):
            found.append(centre + r * np.c_[np.cos(circle), np.sin(circle)])
    return np.vstack(found)


def inside(box, points):
    """Say which points lie in a convex box of four corners, in order around it."""
    sides = np.roll(box, -1, axis=0) - box
    across = [side[0] * (points - c)[:, 1] - side[1] * (points - c)[:, 0] for side, c in zip(sides, box, strict=True)]
    return (np.array(across) > 0).all(axis=0) | (np.array(across) < 0).all(axis=0)


def texts_of(figure):
    legends = [ax.get_legend() for ax in figure.axes] + figure.legends
    texts = [t for ax in figure.axes for t in [*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label, *ticks(ax)]]
    texts += [t for legend in legends if legend is not None for t in legend.get_texts()]
    return [t for t in [*texts, *figure.texts] if t.get_visible() and t.get_text().strip()]


def ticks(ax):
    if not ax.axison:
        return []
    return [tick.label1 for axis in (ax.xaxis, ax.yaxis) for tick in axis.get_major_ticks() if in_view(axis, tick)]


def in_view(axis, tick):
    low, high = sorted(axis.get_view_interval())
    return tick.label1.get_visible() and low <= tick.get_loc() <= high


@pytest.fixture
def assert_legible():
    """Return a check: every text of a figure is inside it, and on no other text; with `marks`, on no mark either."""

    def check(figure, *, marks=False):
        figure.draw_without_rendering()
        texts = texts_of(figure)
        boxes = np.array([corners(text) for text in texts])
        low, high = boxes.min(axis=1), boxes.max(axis=1)
        for k, (text, box) in enumerate(zip(texts, boxes, strict=True)):
            assert ((box >= 0) & (box <= figure.bbox.size)).all(), f"{text} is cut off"
            near = (low[:k] < high[k]).all(axis=1) & (low[k] < high[:k]).all(axis=1)
            for other in np.flatnonzero(near):
                assert apart(box, boxes[other]), f"{text} overlaps {texts[other]}"
        for ax in figure.axes if marks else ():
            drawn = marks_on_page(ax)
            for text in ax.texts:
                assert not inside(corners(text), drawn).any(), f"{text} lies on a mark"

    return check
