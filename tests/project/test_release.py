"""What a release is made of: one version, bills of materials, and pages that say what is supported."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
import tomllib
import zipfile
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SBOM = run_path(str(ROOT / ".ci" / "sbom.py"))
CORE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PLUGINS = {
    path.parent: tomllib.loads(path.read_text())["project"] for path in sorted(ROOT.glob("plugins/*/pyproject.toml"))
}
METADATA = """Metadata-Version: 2.4
Name: made
Version: 1.0
Summary: a wheel of two files
License-Expression: Apache-2.0
Requires-Dist: numpy>=2.2
Requires-Dist: ml_dtypes>=0.5
Requires-Dist: scipy>=1.14; extra == 'scipy'
Requires-Dist: made[scipy]; extra == 'all'
"""


def wheel(order: int = 1, year: int = 2020) -> bytes:
    """A wheel whose files come in some order, with some time."""
    files = {
        "made/__init__.py": "",
        "made/kernel.so": "binary",
        "made-1.0.dist-info/METADATA": METADATA,
        "made-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: setuptools (80.9.0)\n",
        "made-1.0.dist-info/RECORD": "",
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in [*files.items()][::order]:
            archive.writestr(zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0)), text)
    return packed.getvalue()


@pytest.fixture(scope="module")
def billed() -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(SBOM["with_bill"](wheel(), 1_700_000_000)))


def test_a_wheel_with_a_bill_is_the_same_from_each_build(billed: zipfile.ZipFile) -> None:
    first = SBOM["with_bill"](wheel(), 1_700_000_000)
    assert first == SBOM["with_bill"](wheel(-1, 2021), 1_700_000_000)
    assert first != SBOM["with_bill"](wheel(), 1_800_000_000)


def test_the_record_of_a_wheel_has_each_file(billed: zipfile.ZipFile) -> None:
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(billed.read("made-1.0.dist-info/RECORD").decode()))}
    assert rows.keys() == {*billed.namelist()}
    assert rows.pop("made-1.0.dist-info/RECORD") == ["", ""]
    for name, (digest, size) in rows.items():
        data = billed.read(name)
        found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert (digest, size) == (f"sha256={found}", str(len(data))), name


def test_a_bill_lists_what_the_wheel_requires(billed: zipfile.ZipFile) -> None:
    bill: dict[str, Any] = json.loads(billed.read("made-1.0.dist-info/sboms/made.cdx.json"))
    assert (bill["bomFormat"], bill["metadata"]["component"]["purl"]) == ("CycloneDX", "pkg:pypi/made@1.0")
    assert bill["metadata"]["tools"]["components"] == [
        {"type": "application", "name": "setuptools", "version": "80.9.0"}
    ]
    assert {part["name"]: part["scope"] for part in bill["components"]} == {
        "numpy": "required", "ml-dtypes": "required", "scipy": "optional"
    }  # fmt: skip
    assert bill["dependencies"][0]["dependsOn"] == ["pkg:pypi/ml-dtypes", "pkg:pypi/numpy"]


def test_the_core_and_its_plugins_have_one_version() -> None:
    versions = {project["name"]: project["version"] for project in (CORE, *PLUGINS.values())}
    assert set(versions.values()) == {CORE["version"]}, versions
    assert f"version: {CORE['version']}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'version: "{CORE["version"]}"' in (ROOT / ".ci" / "conda" / "recipe.yaml").read_text()


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)
def test_the_readme_of_a_plugin_has_an_example(plugin: Path) -> None:
    assert "\n```python\n" in (plugin / "README.md").read_text(), "make release runs it"


def test_the_page_of_support_has_each_python_and_engine() -> None:
    page = (ROOT / "docs" / "stability.md").read_text().partition("## Supported versions")[2]
    pythons = re.findall(r"Python :: (3\.\d+)", " ".join(CORE["classifiers"]))
    assert re.findall(r"^\| (3\.\d+) \| \w+ 20\d\d \|$", page, re.MULTILINE) == pythons
    extras = [line for extra in ("jax", "cuda12", "cuda13", "scipy", "xarray") for line in _of_extra(extra)]
    needs = [CORE["dependencies"][0], *extras]
    for path, project in PLUGINS.items():
        engine = path.name.removeprefix("tensorbackend-")
        needs += [line for line in project["dependencies"] if line.startswith(engine)]
    for need in needs:
        assert f"`{need.partition(';')[0]}`" in page, need


def _of_extra(name: str) -> list[str]:
    lines: list[str] = CORE["optional-dependencies"][name]
    return lines


def test_the_recipe_for_conda_requires_what_the_wheel_requires() -> None:
    recipe = (ROOT / ".ci" / "conda" / "recipe.yaml").read_text()
    listed = recipe.partition("  run:\n")[2].partition("  run_constraints")[0]
    found = [line.strip().removeprefix("- ").replace(" ", "") for line in listed.splitlines() if line.strip()]
    assert found == ["python>=${{python_min}}", *CORE["dependencies"]]


def test_the_workflow_of_a_release_holds_no_secret() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    assert "secrets." not in text
    assert "password" not in text
    assert text.count("id-token: write") == 1, "the job that publishes alone"
