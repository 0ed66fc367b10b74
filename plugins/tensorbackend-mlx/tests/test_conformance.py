"""The conformance suite of tensorbackend: every op with every dtype against the reference."""

from tensorbackend.testing.suite import ConformanceSuite


class TestMlx(ConformanceSuite):
    backend = "mlx"
    examples = 4
