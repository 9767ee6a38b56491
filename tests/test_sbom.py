import sys
from hashlib import sha256
from pathlib import Path

import pytest

pytest.importorskip("hatchling")
ROOT = Path(__file__).parents[1]
LICENCES = """Licences

==== preact 11.2.0 ====

The MIT License (MIT)

==== @preact/signals 2.11.4 ====

MIT License

==== htm 3.1.1 ====

Apache License
"""


@pytest.fixture
def sbom(monkeypatch):
    if not (ROOT / "hatch_build.py").exists():
        pytest.skip("hatch_build.py is in the source tree only")
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.delitem(sys.modules, "hatch_build", raising=False)
    import hatch_build

    return hatch_build.sbom


@pytest.fixture
def vendor(tmp_path):
    folder = tmp_path / "src" / "cogmap" / "page" / "vendor"
    folder.mkdir(parents=True)
    (folder / "preact.js").write_text("export {}")
    return folder


def libraries(document):
    return {part["purl"]: part["licenses"] for part in document["components"] if part["type"] == "library"}


def test_vendored_packages_and_files_are_listed(sbom, vendor, tmp_path):
    (vendor / "LICENSES.txt").write_text(LICENCES)
    document = sbom(tmp_path, "1.2.3")
    assert libraries(document) == {
        "pkg:npm/preact@11.2.0": [{"license": {"id": "MIT"}}],
        "pkg:npm/%40preact/signals@2.11.4": [{"license": {"id": "MIT"}}],
        "pkg:npm/htm@3.1.1": [{"license": {"id": "Apache-2.0"}}],
    }
    (file,) = (part for part in document["components"] if part["type"] == "file")
    assert file["name"] == "cogmap/page/vendor/preact.js"
    assert file["hashes"] == [{"alg": "SHA-256", "content": sha256(b"export {}").hexdigest()}]
    assert document["metadata"]["component"]["purl"] == "pkg:pypi/cogmap@1.2.3"
    assert len(document["dependencies"][0]["dependsOn"]) == 4


def test_vendored_code_without_a_licence_stops_the_build(sbom, vendor, tmp_path):
    with pytest.raises(ValueError, match=r"vendor/LICENSES.txt must name what is vendored"):
        sbom(tmp_path, "1")
    (vendor / "LICENSES.txt").write_text("==== left-pad 1.0.0 ====\n\nDo what you want.\n")
    with pytest.raises(ValueError, match=r"licence of left-pad 1.0.0 is none of"):
        sbom(tmp_path, "1")


def test_everything_vendored_in_this_tree_is_in_its_sbom(sbom):
    document = sbom(ROOT, "1")
    files = {part["name"] for part in document["components"] if part["type"] == "file"}
    there = list((ROOT / "src").rglob("vendor*/**/*.js"))
    assert files >= {path.relative_to(ROOT / "src").as_posix() for path in there}
    assert bool(libraries(document)) == bool(there)
