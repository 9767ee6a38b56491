"""Tables some rows at a time: see `open_parts`."""

from .tables.parts import TableParts, open_parts

__all__ = ["TableParts", "open_parts"]
