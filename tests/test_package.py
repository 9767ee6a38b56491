import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OPTIONAL = (
    "pandas", "polars", "matplotlib", "networkx", "shap", "click", "dask", "torch", "pyspark", "onnx", "safetensors",
    "pyarrow", "jinja2",
)  # fmt: skip


def test_import_loads_no_optional_library():
    code = f"import sys, cogmap; print([m for m in {OPTIONAL} if m in sys.modules])"
    # scikit-learn itself may import pandas lazily; a fresh interpreter shows what ours asks for.
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


def test_layers_import_one_way():
    if not (ROOT / "pyproject.toml").exists():
        pytest.skip("the contracts are in the source tree only")
    lint = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([lint], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def test_version_is_the_installed_one(monkeypatch):
    import importlib.metadata

    import cogmap

    assert cogmap.__version__ == importlib.metadata.version("cogmap")
    monkeypatch.setattr(sys, "path", [])  # where nothing is installed
    assert cogmap.__version__ == "0+unknown"
