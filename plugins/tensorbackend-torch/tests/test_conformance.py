"""Every op with every dtype against the reference, by tensorbackend's own suite."""

from tensorbackend.testing.suite import ConformanceSuite


class TestTorch(ConformanceSuite):
    backend = "torch"
    examples = 20
