"""The conformance suite of tensorbackend: every op with every dtype against the reference."""

from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.testing.suite import ConformanceSuite


class TestMlx(ConformanceSuite):
    backend = "mlx"
    dtypes = ALL_DTYPES  # it does not hold narrow ones
    examples = 4
