"""Draw docs/images/rooms.svg: the rooms of the package, and which of them imports from which.

    python docs/rooms.py

Where a box stands is written here. The arrows are the imports of the code, less those that follow from others;
`tests/test_architecture.py` compares both with the code and with the order of the rooms in pyproject.toml.
"""

from itertools import chain
from pathlib import Path

import grimp

PICTURE = Path(__file__).parent / "images" / "rooms.svg"
HEIGHT, PITCH, TOP = 38, 56, 34
CORE_LEFT, CORE_ROW = 686, 3

# Names (several of them share a box), what they are for, row, left, width.
ROOMS = [
    ("__main__", "python -m cogmap", 0, 180, 150),
    ("cli", "the command cogmap", 1, 100, 530),
    ("datasets", "façade", 2, 0, 90),
    ("workbench", "an expert and the model talk", 2, 270, 360),
    ("study", "the paper's experiments", 3, 0, 240),
    ("report", "one HTML page about a model", 3, 270, 240),
    ("plots", "one Display a file", 4, 170, 290),
    ("effects", "curves, maps", 5, 410, 100),
    ("stream dask spark tabular_stream table_parts", "façades: rows in files and on clusters", 6, 0, 398),
    ("estimators", "scikit-learn's classifiers: check, call the core, keep", 7, 0, 510),
    ("files", ".cogmap and ONNX", 8, 0, 160),
    ("explain", "why; what matters", 8, 175, 160),
    ("maps", "drawn, learned", 8, 525, 105),
    ("quality", "scores, comparisons", 8, 350, 160),
    ("tables", "files of raw columns, and what columns mean", 9, 0, 630),
    ("intake", "what users give, wherever it is: checked, counted, encoded", 10, 0, 510),
    ("knowledge", "what experts state about edges", 11, 0, 365),
    ("core", "the mathematics: numpy and scipy only", 12, 0, 240),
    ("errors", "", 12, 400, 110),
    ("writing", "", 12, 260, 110),
]
CORE = [
    ("explain", "contributions, relevance, effects", 0, 0, 310),
    ("fit", "from rows to a fitted network", 1, 0, 310),
    ("decision", "log-odds", 2, 212, 98),
    ("resemblance", "remembered rows", 3, 0, 114),
    ("curves", "and surfaces", 3, 122, 82),
    ("readout", "outer weights, terms", 4, 0, 204),
    ("trajectory", "increments", 5, 0, 104),
    ("concepts", "A⁰", 6, 114, 90),
    ("network", "W, b, states", 7, 0, 104),
    ("sums", "spaces, rows, sources, statistics", 8, 0, 310),
    ("types constants", "", 9, 0, 310),
]
STYLE = """
  text { font-family: system-ui, sans-serif; text-anchor: middle; fill: #1b2733 }
  .name { font-size: 13px; font-weight: 600 } .gloss { font-size: 11px }
  .outer { fill: #dbe7f5; stroke: #5b7ea6 } .inner { fill: #f6e3c5; stroke: #a87f3c }
  .arrow { stroke: #8a8f96; stroke-width: 1.5; fill: none; marker-end: url(#head) }
  .open { stroke: #a87f3c; stroke-width: 1.2; stroke-dasharray: 4 4; fill: none }
"""


def imports(package, boxes):
    """Return which box imports from which, less what follows from other imports."""
    graph = grimp.build_graph("cogmap", exclude_type_checking_imports=True, cache_dir=None)
    every = {names: {m for name in names.split() for m in modules(graph, f"{package}.{name}")} for names in boxes}
    used = {
        one: {
            other
            for other in boxes
            if other != one and every[other] & set(chain(*map(graph.find_modules_directly_imported_by, every[one])))
        }
        for one in boxes
    }
    follows = {one: set().union(*(below(other, used) for other in used[one])) for one in boxes}
    return [(one, other) for one in boxes for other in boxes if other in used[one] - follows[one]]


def modules(graph, name):
    """Return a module and all that is in it."""
    return {name} | graph.find_descendants(name)


def below(room, used):
    """Return all rooms that a room uses, through others too."""
    return used[room].union(*(below(other, used) for other in used[room]))


def box(names, gloss, x, y, width, kind):
    """Return a box with its words."""
    words = " · ".join(names.split())
    lines = [f'<g data-rooms="{names}"><rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="5"/>']
    lines.append(f'<text class="name" x="{x + width / 2:g}" y="{y + (16 if gloss else 24)}">{words}</text>')
    if gloss:
        lines.append(f'<text class="gloss" x="{x + width / 2:g}" y="{y + 31}">{gloss}</text>')
    return "".join(lines) + "</g>"


def arrow(one, other, places):
    """Return an arrow from the bottom of a box to the top of another; upright where both have room for it."""
    (x, y, width), (to_x, to_y, to_width) = places[one], places[other]
    left, right = max(x, to_x), min(x + width, to_x + to_width)
    start = end = (left + right) / 2
    if left > right:
        start, end = x + width / 2, to_x + to_width / 2
    path = f"M{start:g} {y + HEIGHT} L{end:g} {to_y - 2}"
    return f'<path class="arrow" data-from="{one}" data-to="{other}" d="{path}"/>'


def panel(package, rooms, left, row, kind):
    """Return the boxes of a package, below the arrows between them."""
    places = {names: (left + x, TOP + PITCH * (row + at), width) for names, _, at, x, width in rooms}
    arrows = [arrow(one, other, places) for one, other in imports(package, list(places))]
    boxes = [box(names, gloss, *places[names], kind) for names, gloss, *_ in rooms]
    return f'<g id="{package}">\n' + "\n".join([*arrows, *boxes]) + "\n</g>"


def picture():
    """Return the SVG file."""
    bottom = TOP + 12 * PITCH + HEIGHT
    frame_x, frame_y = CORE_LEFT - 16, TOP + CORE_ROW * PITCH - 34
    frame = f'<rect class="open" x="{frame_x}" y="{frame_y}" width="342" height="{bottom - frame_y + 12}" rx="8"/>'
    opened = f'<path class="open" d="M120 {bottom} v20 H{frame_x + 171} v-8"/>'
    title = box("cogmap.core", "", CORE_LEFT + 80, frame_y - 19, 150, "inner").replace("data-rooms", "data-title")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 8 {CORE_LEFT + 346} {bottom + 26}" width="900">',
            "<title>The rooms of cogmap: an arrow leads from a room to one that it imports from</title>",
            f"<style>{STYLE}</style>",
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" '
            'orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#8a8f96"/></marker></defs>',
            frame,
            opened,
            panel("cogmap", ROOMS, 0, 0, "outer"),
            panel("cogmap.core", CORE, CORE_LEFT, CORE_ROW, "inner"),
            title,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
