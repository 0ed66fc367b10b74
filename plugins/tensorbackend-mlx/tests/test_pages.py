"""The Python code of the README and of docs/mlx.md runs."""

import re
from pathlib import Path

import pytest
import tensorbackend as tb

PLUGIN = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "page", [PLUGIN / "README.md", PLUGIN.parents[1] / "docs" / "mlx.md"], ids=lambda page: page.name
)
def test_the_code_runs(page: Path) -> None:
    code = "\n".join(re.findall(r"^```py\w*\n(.*?)^```", page.read_text(), re.M | re.S))
    assert "assert" in code
    before = tb.get_backend()
    try:
        exec(compile(code, page.name, "exec"), {})
    finally:
        tb.set_default_backend(before)
