"""What experts state about the edges of a cognitive map, on record and in files, and its meaning for one network."""

from .collection import Knowledge
from .statement import Statement

__all__ = ["Knowledge", "Statement"]
