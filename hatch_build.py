"""Write what the wheel contains of others into its SBOM: `cogmap-*.dist-info/sboms/cogmap.cdx.json` (CycloneDX 1.6).

Vendored JavaScript lies in folders named `vendor`, each with a LICENSES.txt that has a heading `==== name version ====`
and the licence for each package. The SBOM is read from there; a vendored file that no LICENSES.txt speaks for stops the
build. Libraries that pip installs are not in the wheel, and stand in its METADATA.
"""

import json
import re
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HEADING = re.compile(r"^==== (?P<name>\S+) (?P<version>\S+) ====$", re.MULTILINE)
LICENCES = {"Apache License": "Apache-2.0", "MIT License": "MIT", "ISC License": "ISC"}


def packages(text: str) -> list[dict[str, Any]]:
    """Return one component for each heading of a LICENSES.txt."""
    _, *parts = HEADING.split(text)
    found = []
    for name, version, terms in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        licence = next((spdx for words, spdx in LICENCES.items() if words in terms), None)
        if licence is None:
            raise ValueError(
                f"The licence of {name} {version} is none of {', '.join(LICENCES)}: add it to hatch_build.py."
            )
        reference = f"pkg:npm/{name.replace('@', '%40')}@{version}"
        found.append({
            "type": "library",
            "bom-ref": reference,
            "name": name,
            "version": version,
            "licenses": [{"license": {"id": licence}}],
            "purl": reference,
        })  # fmt: skip
    return found


def vendored(folder: Path, root: Path) -> list[dict[str, Any]]:
    """Return the files of a folder of vendored code, each with the packages that it was made from."""
    licences = folder / "LICENSES.txt"
    contents = packages(licences.read_text(encoding="utf-8")) if licences.exists() else []
    if not contents:
        raise ValueError(
            f"{licences.relative_to(root)} must name what is vendored beside it: '==== name version ===='."
        )
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != licences)
    names = [path.relative_to(root).as_posix() for path in files]
    return [
        {
            "type": "file",
            "bom-ref": name,
            "name": name,
            "hashes": [{"alg": "SHA-256", "content": sha256(path.read_bytes()).hexdigest()}],
        }
        for name, path in zip(names, files, strict=True)
    ] + contents


def sbom(root: Path, version: str) -> dict[str, Any]:
    """Return the SBOM of a source tree: the same bytes for the same source, so without a time or a random number."""
    reference = f"pkg:pypi/cogmap@{version}"
    folders = sorted(path for path in (root / "src").rglob("vendor") if path.is_dir())
    components = [component for folder in folders for component in vendored(folder, root / "src")]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": reference,
                "name": "cogmap",
                "version": version,
                "licenses": [{"license": {"id": "BSD-3-Clause"}}],
                "purl": reference,
            }
        },
        "components": components,
        "dependencies": [{"ref": reference, "dependsOn": [component["bom-ref"] for component in components]}],
    }


class SbomHook(BuildHookInterface):
    """Give every wheel its SBOM."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the SBOM to a temporary folder, from where hatchling takes it."""
        if self.target_name != "wheel" or version != "standard":
            return
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name, "cogmap.cdx.json")
        contents = sbom(Path(self.root), self.metadata.version)
        path.write_text(json.dumps(contents, indent=2) + "\n", encoding="utf-8")
        build_data["sbom_files"].append(str(path))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary folder."""
        if folder := getattr(self, "_folder", None):
            folder.cleanup()
