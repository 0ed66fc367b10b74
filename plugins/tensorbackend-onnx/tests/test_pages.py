"""Runs the Python code of the README and of docs/onnx.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
PAGES = {"README.md": (HERE / "README.md", "python"), "onnx.md": (HERE.parents[1] / "docs" / "onnx.md", "py")}


@pytest.mark.parametrize("name", PAGES)
def test_code_of_a_page_runs(name: str) -> None:
    path, language = PAGES[name]
    blocks = re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), re.M | re.S)
    assert blocks
    exec(compile("\n".join(blocks), name, "exec"), {"__name__": "__main__"})
