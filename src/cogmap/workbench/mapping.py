"""Maps beside the model: learned ones, those of files, merged ones; compared, and left to settle."""

from .held import Held


class Maps(Held):
    """Load, show, merge, compare and simulate maps."""
