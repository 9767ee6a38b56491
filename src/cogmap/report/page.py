"""Facts to HTML: one file that needs no other, in which nothing but the template is markup.

Easy to get wrong: text in a script is not escaped like text in HTML. The facts are embedded as JSON in which no ``<``
is left, and a content security policy lets the browser run the template's own script only, known by its digest.
"""

import base64
import hashlib
import json
import os
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from ..intake.checks import module
from ..plots.drawing import evidence_text, odds_mark, signed
from ..writing import whole
from .effects import effect_chart
from .facts import report_facts
from .pictures import (
    calibration_chart,
    cumulated,
    formation_chart,
    largest,
    mistakes,
    settling_chart,
    shades,
    waterfall,
)
from .ring import HALF, WHOLE, ring
from .words import KINDS, joints, percent, summary

TEMPLATES = "templates"


def write_report(
    model: Any,
    frame: Any,
    target: str | ArrayLike,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    n_folds: int = 5,
) -> dict[str, Any]:
    """Write a report about a model as one HTML file, which needs no network and no other file.

    Parameters
    ----------
    model : LTCNClassifier, LTCNClassifierCV or TabularClassifier
        A fitted model, also one that was loaded from a file.
    frame : DataFrame of shape (n_samples, n_columns)
        Rows, most often those that the model was fitted on, with the columns by name; others are left out.
    target : str or array-like of shape (n_samples,)
        The column of `frame` that holds the classes, or the classes.
    path : path-like
        Name of the file; one of that name is replaced.
    title : str, default=None
        Title of the report; by default it names the target.
    n_folds : int, default=5
        Folds of the cross-validation; fewer where a class has fewer rows.

    Returns
    -------
    dict
        What the report says, as `report_facts` returns it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from cogmap import LTCNClassifier
    >>> from cogmap.report import write_report
    >>> data = load_iris(as_frame=True).frame
    >>> model = LTCNClassifier().fit(data.drop(columns="target"), data["target"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "iris.html"
    ...     facts = write_report(model, data, "target", path)
    ...     path.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    path = Path(path)
    if not path.resolve().parent.is_dir():
        raise ValueError(f"{path.resolve().parent} is not a folder: create it first.")
    module("jinja2", "report")
    facts = report_facts(model, frame, target, n_folds=n_folds)
    with whole(path) as unfinished:
        unfinished.write_text(to_html(facts, title=title), encoding="utf-8", newline="\n")
    return facts


def to_html(facts: dict[str, Any], *, title: str | None = None) -> str:
    """Return what `report_facts` found as an HTML page."""
    markupsafe = module("markupsafe", "report")
    script, style = (_template(name) for name in ("report.js", "report.css"))
    target = facts["overview"]["target"]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page: str = (
        _environment()
        .get_template("report.html")
        .render(
            **facts,
            title=title or (f"Model report: {target}" if target else "Model report"),
            summary=summary(facts),
            kinds=KINDS,
            rings=[ring(one, WHOLE if len(facts["maps"]) == 1 else HALF) for one in facts["maps"]],
            policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'",
            script=markupsafe.Markup(script),
            style=markupsafe.Markup(style),
            embedded=markupsafe.Markup(embedded_json(facts)),
        )
    )
    return page


def embedded_json(value: Any) -> str:
    """Return JSON that can stand in a script element: no ``<``, ``>``, ``&`` or line separator is left in it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def breakable(text: Any) -> Any:
    """Return text as markup that may end a line at its joints, so that no word is broken elsewhere."""
    markupsafe = module("markupsafe", "report")
    return markupsafe.Markup("<wbr>").join(joints(str(text)))


@cache
def _environment() -> Any:
    jinja2 = module("jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "signed": signed, "breakable": breakable}
    environment.filters |= {"evidence": evidence_text, "odds": odds_mark}
    environment.globals |= {
        "calibration_chart": calibration_chart,
        "cumulated": cumulated,
        "effect_chart": effect_chart,
        "formation_chart": formation_chart,
        "largest": largest,
        "mistakes": mistakes,
        "settling_chart": settling_chart,
        "shades": shades,
        "waterfall": waterfall,
    }
    return environment


def _template(name: str) -> str:
    return (resources.files(__package__) / TEMPLATES / name).read_text(encoding="utf-8")
