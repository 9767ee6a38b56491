"""Warnings that say when a result is not to be trusted."""


class IllConditionedWarning(UserWarning):
    """Rounding errors decide part of the result: another machine or row order may give another one."""


class KnowledgeWarning(UserWarning):
    """What was stated about the edges has no effect, or a price: the data has no such edge, or a safeguard is off."""


class UnreliableRelevanceWarning(UserWarning):
    """Relevance or attributions owe more to cancelling weights or to rounding than to the decision."""
