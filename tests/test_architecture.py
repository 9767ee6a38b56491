import ast
import re
import sys
import threading
import tomllib
from functools import cache
from itertools import chain
from pathlib import Path
from runpy import run_path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import cogmap
from cogmap import LTCNClassifier, TabularClassifier, stream
from cogmap.intake import blocks
from tests.people import people

ROOT = Path(__file__).parents[1]
PACKAGE = Path(cogmap.__file__).parent
PAGE, PICTURE = ROOT / "docs" / "architecture.md", ROOT / "docs" / "images" / "rooms.svg"
MOST_HOPS = 15

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the documentation is in the source tree only")


def page():
    return PAGE.read_text(encoding="utf-8")


def layers(package):
    """Return the rooms of a package from top to bottom; those of one layer together."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    for contract in tools["importlinter"]["contracts"]:
        names = [layer.split(" | ") for layer in contract.get("layers", ())]
        if names and all(re.fullmatch(rf"{package}\.\w+", name) for name in chain(*names)):
            return [[name.rpartition(".")[2] for name in layer] for layer in names]
    raise AssertionError(package)


def place(path):
    """Return a file or folder that the page names."""
    inside = PACKAGE / path
    return inside if inside.exists() else ROOT / path


@cache
def defined(path):
    """Return the names that a module defines, those within its classes too."""
    names = set()
    for node in ast.parse(place(path).read_text(encoding="utf-8")).body:
        for target in getattr(node, "targets", [getattr(node, "target", node)]):
            names |= {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names |= {node.name}
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return names


def test_every_file_and_folder_of_the_page_exists():
    paths = re.findall(r"`((?:\w+/)*\w+\.(?:py|toml|md)|(?:\w+/)+)(?::[\w.]+)?`", page())
    assert len(paths) > 80
    assert [path for path in paths if not place(path).exists()] == []


def test_every_function_of_the_page_is_in_its_file():
    named = re.findall(r"`((?:\w+/)*\w+\.py):([\w.]+)`", page())
    named += [(path, name) for name, path in re.findall(r"`(\w+)`\*{0,2}\s+(?:\(|of |in )`([\w/]+\.py)`", page())]
    assert len(named) > 60
    assert [(path, name) for path, name in named if name not in defined(path)] == []


def test_rooms_are_in_the_page_in_their_order():
    table, core = page().partition("| room | holds |")[2].split("## Eight types")[0].split("The core knows")
    listed = [re.findall(r"`(\w+)`", line.split("|")[1]) for line in table.splitlines() if line.startswith("| `")]
    assert list(chain(*listed)) == list(chain(*layers("cogmap")))
    named = re.findall(r"`(\w+)`", core.partition("from top to bottom:")[2])
    assert named == list(chain(*layers(r"cogmap\.core")))


@pytest.mark.parametrize("package", ["cogmap", "cogmap.core"])
def test_rooms_are_in_the_picture_in_their_order(package):
    boxes = [group for group in drawn(package) if group.get("data-rooms")]
    assert list(chain(*(box.get("data-rooms").split() for box in boxes))) == list(chain(*layers(re.escape(package))))
    heights = [float(box[0].get("y")) for box in boxes]
    assert heights == sorted(heights)
    for box in boxes:
        assert box[1].text.split(" · ") == box.get("data-rooms").split()


def drawn(package):
    """Return what the picture shows of a package."""
    root = ET.parse(PICTURE).getroot()
    (panel,) = (group for group in root if group.get("id") == package)
    return list(panel)


@pytest.mark.parametrize("package", ["cogmap", "cogmap.core"])
def test_arrows_are_the_imports(package):
    grimp = pytest.importorskip("grimp")
    graph = grimp.build_graph("cogmap", exclude_type_checking_imports=True, cache_dir=None)
    box = {room: group.get("data-rooms") for group in drawn(package) for room in group.get("data-rooms", "").split()}
    arrows = {(arrow.get("data-from"), arrow.get("data-to")) for arrow in drawn(package) if arrow.get("data-from")}
    depth = package.count(".") + 1
    imports = set()
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            if all(name.startswith(f"{package}.") for name in (module, other)):
                one, two = (box[name.split(".")[depth]] for name in (module, other))
                imports |= {(one, two)} if one != two else set()
    assert arrows <= imports
    assert imports <= followed(arrows)


def followed(arrows):
    """Return all pairs of rooms between which arrows lead, through others too."""
    pairs = set(arrows)
    while more := {(a, d) for a, b in pairs for c, d in arrows if b == c} - pairs:
        pairs |= more
    return pairs


def test_the_picture_is_what_its_script_draws():
    pytest.importorskip("grimp")
    assert run_path(str(ROOT / "docs" / "rooms.py"))["picture"]() == PICTURE.read_text(encoding="utf-8")


def hops(title):
    """Return the hops of a walk as pairs of file and function."""
    section = page().partition(f"## {title}\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^(\d+)\. `([\w/]+\.py):([\w.]+)`", section, re.MULTILINE)
    assert [int(number) for number, *_ in steps] == list(range(1, len(steps) + 1))
    return [(path, name) for _, path, name in steps]


def calls(work, wanted):
    """Return which of the wanted functions are called, in order, in whatever thread."""
    made = []

    def watch(frame, event, _):
        if event == "call":
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(PACKAGE):
                call = path.relative_to(PACKAGE).as_posix(), frame.f_code.co_qualname
                if call in wanted:
                    made.append(call)

    before = sys.getprofile()
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return made


def assert_walked(walk, made):
    """Each hop is called after the one before it."""
    rest = iter(made)
    assert [hop for hop in walk if hop not in rest] == []


def test_the_walk_of_a_row_is_what_the_command_does(tmp_path, monkeypatch):
    runner = pytest.importorskip("click.testing").CliRunner()
    pytest.importorskip("safetensors")
    from cogmap.cli import main

    table = people()
    monkeypatch.chdir(tmp_path)
    table.to_csv("people.csv", index=False)
    X = table.drop(columns=["survived", "id"])
    TabularClassifier(LTCNClassifier()).fit(X, table["survived"]).save("people.cogmap")
    walk = hops("The walk of one row")
    assert 10 < len(walk) <= MOST_HOPS

    def work():
        result = runner.invoke(main, ["explain", "people.cogmap", "people.csv", "--row", "0"])
        assert result.exit_code == 0, result.output

    assert_walked(walk, calls(work, set(walk)))


def test_the_walk_of_a_fit_is_what_the_fit_does(tmp_path, rng, monkeypatch):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    monkeypatch.setattr(blocks, "MOST_ROWS", 1000)
    X = rng.normal(size=(1500, 2))
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": np.where(X[:, 0] > 0, "yes", "no")})
    frame.to_parquet(tmp_path / "rows.parquet")
    walk = hops("The walk of a fit")
    assert 10 < len(walk) <= MOST_HOPS
    work = lambda: stream.fit(tmp_path / "rows.parquet", LTCNClassifier(max_iter=3), target="y")  # noqa: E731
    assert_walked(walk, calls(work, set(walk)))
