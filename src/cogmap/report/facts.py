"""All that a report says, as plain data: dicts, lists, text, numbers and None."""

from typing import Any

from numpy.typing import ArrayLike

from .effects import effects
from .explained_rows import explained_rows
from .importance import importance
from .network_map import network_maps
from .notes import notes
from .overview import overview
from .quality import quality
from .reasoning import dynamics, formation
from .statements import statements
from .subject import subject
from .unseen import unseen


def report_facts(model: Any, frame: Any, target: str | ArrayLike, *, n_folds: int = 5) -> dict[str, Any]:
    """Compute what a report says about a model and rows of known class.

    Parameters
    ----------
    model : LTCNClassifier, LTCNClassifierCV or TabularClassifier
        A fitted model.
    frame : DataFrame of shape (n_samples, n_columns)
        Rows, most often those that the model was fitted on, with the columns by name; others are left out.
    target : str or array-like of shape (n_samples,)
        The column of `frame` that holds the classes, or the classes.
    n_folds : int, default=5
        Folds of the cross-validation; fewer where a class has fewer rows.

    Returns
    -------
    dict
        Facts by section, as JSON can hold them: ``overview``, ``quality``, ``maps``, ``relevance``, ``effects``,
        ``dynamics``, ``formation``, ``explained``, ``knowledge`` and ``notes``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cogmap import LTCNClassifier
    >>> from cogmap.report import report_facts
    >>> data = load_iris(as_frame=True).frame
    >>> model = LTCNClassifier().fit(data.drop(columns="target"), data["target"])
    >>> facts = report_facts(model, data, "target")
    >>> facts["quality"]["cross_validated"]["accuracy"] > 0.9
    True
    """
    if n_folds < 2:
        raise ValueError(f"n_folds={n_folds!r} must be 2 or larger.")
    about = subject(model, frame, target)
    told = unseen(about, n_folds)
    return {
        "overview": overview(about),
        "quality": quality(about, told),
        "maps": network_maps(about),
        "relevance": importance(about),
        "effects": effects(about),
        "dynamics": dynamics(about),
        "formation": formation(about),
        "explained": explained_rows(about, told),
        "knowledge": statements(about, told.n_folds),
        "notes": notes(about),
    }
