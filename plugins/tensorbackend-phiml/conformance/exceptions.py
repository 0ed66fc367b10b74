"""Tests of PhiML's that fail with ours and not without, with the reason; a row that no longer fails is an error."""

from __future__ import annotations

_SLOPE_AT_THE_END = (
    "a point at the last entry of an axis, where samples have a kink: `tb.grid_sample`, which takes no value of the "
    "boundary there, has the slope inside of the grid, PhiML's backends have that outside"
)

EXCEPTIONS: dict[tuple[str, str], str] = {
    (run, "tests.commit.math.test__ops.TestOps.test_grid_sample_gradient_2d"): _SLOPE_AT_THE_END
    for run in ("appended", "default ours:numpy", "default ours:jax", "default ours:torch")
}
"""By run and test."""
