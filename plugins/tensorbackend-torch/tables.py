"""Writes WAYS.md, read off the callbacks: `python tables.py`; a test fails when the page is stale."""

from __future__ import annotations

from pathlib import Path

from tensorbackend_torch import TorchBackend
from tensorbackend_torch.kernels import TorchBase
from tensorbackend_torch.ways import NARROW_WAYS, UNSIGNED_WAYS

PAGE = Path(__file__).parent / "WAYS.md"

INTRODUCTION = """\
# Which way a dtype goes

Generated from the callbacks by `python tables.py`; a test fails when it is stale. Every callback takes every dtype that
tensorbackend lets reach it. PyTorch's own functions do not, so operands of some dtypes go another way; all others, and
those of callbacks that are not listed, are passed to PyTorch unchanged.

`uint16`, `uint32` and `uint64`, which PyTorch holds but hardly computes with:

{unsigned}

`float16` and `bfloat16`:

{narrow}

Complex numbers are computed in complex128, where PyTorch's functions are exact enough and the special values are
tensorbackend's, else by formulas on the parts (`complex_functions.py`).

| family | callback | uint16, uint32, uint64 | float16, bfloat16 |
| --- | --- | --- | --- |
"""


def page() -> str:
    """Returns the page, with a row for each callback that does not pass every one of these dtypes on unchanged."""
    unsigned, narrow = (
        "\n".join(f"- {way}: {text}" for way, text in ways.items() if way != "none")
        for ways in (UNSIGNED_WAYS, NARROW_WAYS)
    )
    return INTRODUCTION.format(unsigned=unsigned, narrow=narrow) + "".join(sorted(rows()))


def rows() -> list[str]:
    """Rows of the table."""
    table_rows = []
    for family in TorchBackend.__mro__:
        if not issubclass(family, TorchBase) or family in (TorchBase, TorchBackend):
            continue
        for name, callback in vars(family).items():
            numpys = getattr(callback, "__numpy__", None)
            if numpys is not None:
                cells = "", f"through NumPy on the CPU, {numpys}"
            else:
                unsigned, narrow = getattr(callback, "__unsigned__", "none"), getattr(callback, "__narrow__", "own")
                cells = "" if unsigned == "none" else unsigned, "" if narrow == "own" else narrow
            if any(cells):
                table_rows.append(f"| {family.__module__.rpartition('.')[2]} | `{name}` | {cells[0]} | {cells[1]} |\n")
    return table_rows


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE}")
