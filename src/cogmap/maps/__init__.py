"""Cognitive maps as values: drawn by experts, learned by a network, or read from a file; merged, compared, simulated.

Read `cognitive_map`, `learned` (the map of a classifier), `files` with its forms (`tables`, `graphml`, `json_form`),
`simulation` (what if), `merging` and `comparing`.
"""

from .cognitive_map import CognitiveMap
from .comparing import MapComparison, compare_maps
from .files import from_text, read_map, to_text, write_map
from .learned import map_names, map_of
from .merging import MERGE_RULES, Merged, merge_maps
from .simulation import Simulation, simulate

__all__ = [
    "MERGE_RULES",
    "CognitiveMap",
    "MapComparison",
    "Merged",
    "Simulation",
    "compare_maps",
    "from_text",
    "map_names",
    "map_of",
    "merge_maps",
    "read_map",
    "simulate",
    "to_text",
    "write_map",
]
