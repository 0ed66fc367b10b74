"""Tests of PhiML's that fail with ours and not without, with the reason; a row that no longer fails is an error."""

from __future__ import annotations

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("appended", "tests.commit.math.test__ops.TestOps.test_grid_sample_gradient_2d"): (
        "a point at the last entry of an axis, where the sample has a kink: `tb.grid_sample`, which takes no boundary's "
        "value there, has the slope inside of the grid, PhiML's backends that outside"
    ),
}
"""By run and test."""
