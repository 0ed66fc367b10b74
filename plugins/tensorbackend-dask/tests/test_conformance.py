"""Every op with every dtype against the reference, by tensorbackend's own suite."""

from tensorbackend.testing.suite import ConformanceSuite

from tensorbackend_dask import DaskBackend

NARROW = {"axis0": 2, "axis1": 1, "axis2": 2, "n": 2}
"""Axes of tensors that are drawn, cut so that nearly all have several blocks."""


class TestBlocks(ConformanceSuite):
    backend = DaskBackend(chunks=NARROW, block_bytes=16)
    examples = 6


class TestDask(ConformanceSuite):
    backend = "dask"
    examples = 2
