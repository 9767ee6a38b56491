"""What experts state about the edges of a cognitive map, on record and in files, and its meaning for one network.

Import `Knowledge` and `Statement` from here. Read `statement`, `collection`, `text` (TOML and JSON), `names` (near
misses), `edges` (statements as bounds on inner weights).
"""

from .collection import Knowledge
from .statement import Statement

__all__ = ["Knowledge", "Statement"]
