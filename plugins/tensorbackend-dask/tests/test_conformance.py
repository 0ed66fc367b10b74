"""Runs tensorbackend's conformance suite, which compares every op and dtype with the reference."""

from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.testing.suite import ConformanceSuite

from tensorbackend_dask import DaskBackend

NARROW = {"axis0": 2, "axis1": 1, "axis2": 2, "n": 2}
"""Block sizes for the axis names that the suite draws, so small that nearly all tensors have several blocks."""


class TestBlocks(ConformanceSuite):
    backend = DaskBackend(chunks=NARROW, block_bytes=16)
    dtypes = ALL_DTYPES  # it does not hold narrow ones
    examples = 6


class TestDask(ConformanceSuite):
    backend = "dask"
    dtypes = ALL_DTYPES
    examples = 2
