"""The report in a few sentences, and names of parts, from the facts.

Easy to get wrong: whoever reads the sentences first need not know what an iteration, a margin or a fixed point is. Such
words are for the technical part.
"""

import re
from typing import Any

KINDS = {
    "model": (
        "By the model",
        "How far the decision moves with the column between two rows. What related columns share is divided among "
        "them.",
    ),
    "data": (
        "By the data",
        "How strongly the decision goes along with the column in the data, whether the model reads it there or in a "
        "related column.",
    ),
    "paper": (
        "By the paper",
        "The sum of all absolute weights that leave the column's concepts.",
    ),
}


def percent(share: float) -> str:
    """Return a share as text; what is almost nothing does not become nothing, nor what is almost all become all."""
    if 0 < share < 0.005:
        return "< 1\u00a0%"
    if 0.995 <= share < 1:
        return "> 99\u00a0%"
    return f"{100 * share:.0f}\u00a0%"


def joints(text: str) -> list[str]:
    """Return a text in parts between which a line may end: after _ / . and the like, never within a number."""
    return re.split(r"(?<=[_/])(?=\w)|(?<=[.:;,=+-])(?=[^\W\d])|(?<=[a-z])(?=[A-Z])", text)


def summary(facts: dict[str, Any]) -> list[str]:
    """Return the report in short: quality, relevance, how the decision comes about, and what is serious in the data."""
    return [*_quality(facts["quality"]), _relevance(facts), _reasoning(facts), *_serious(facts)]


def _quality(quality: dict[str, Any]) -> list[str]:
    unseen, frequent = quality["cross_validated"], quality["most_frequent"]
    always = f"always saying “{frequent['name']}” would be right for {percent(frequent['share'])}"
    remark = [quality["remark"]] * bool(quality["remark"])
    if unseen is None:
        return [f"It was not cross-validated: {quality['reason']}", *remark]
    right = f"Of rows that it did not see, such a model gets {percent(unseen['accuracy'])} right; {always}."
    gain = quality["itself"]["accuracy"] - unseen["accuracy"]
    if gain > 0.1:
        right += (
            f" On the given rows it is right for {percent(quality['itself']['accuracy'])}: if it was fitted on them, "
            "it knows them better than new ones."
        )
    return [right, *remark]


def _relevance(facts: dict[str, Any]) -> str:
    columns = facts["relevance"][0]["columns"]
    top = [f"{column['name']} ({percent(column['share'])})" for column in columns[:3] if column["share"] > 0]
    if not top:
        return "No column matters: the model says the same for all rows."
    return f"What matters most is {', then '.join(top)}: the shares of how far the decision moves with the columns."


def _reasoning(facts: dict[str, Any]) -> str:
    formed = facts["formation"]
    first = sum(abs(one["steps"][0]) for one in formed)
    later = sum(abs(step) for one in formed for step in one["steps"][1:])
    cases = sum(abs(one["cases"]) for one in formed)
    total = (first + later + cases) or 1.0
    if not later and not cases:
        return "Each column acts on the decision by itself; how columns act on each other was not found to help."
    parts = [f"{percent(first / total)} comes from the columns by themselves"]
    parts += [f"{percent(later / total)} from how they act on each other"] * bool(later)
    parts += [f"{percent(cases / total)} from similar rows that it remembers"] * bool(cases)
    return f"Of what makes up the decision, {', '.join(parts[:-1])} and {parts[-1]}."


def _serious(facts: dict[str, Any]) -> list[str]:
    leaking = [name for note in facts["notes"] if note["kind"] == "leaking" for name in note["columns"]]
    if not leaking:
        return []
    named = ", ".join(leaking[:3]) + (f" and {len(leaking) - 3} more" if len(leaking) > 3 else "")
    return [f"Look at this first: {named} alone tells the class almost perfectly. See the notes on the data."]
