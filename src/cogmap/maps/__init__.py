"""Cognitive maps as values: drawn by experts, learned by a network, or read from a file; merged, compared, simulated.

Read `cognitive_map`, `learned` (the map of a classifier), `files` with its forms (`tables`, `graphml`, `json_form`),
`simulation` (what if), `merging` and `comparing`.
"""

from .cognitive_map import CognitiveMap
from .files import from_text, read_map, to_text, write_map

__all__ = ["CognitiveMap", "from_text", "read_map", "to_text", "write_map"]
