"""The limits of a machine: the two numbers of the roofline model.

S. Williams, A. Waterman, D. Patterson: Roofline: an insightful visual performance model for multicore architectures.
Communications of the ACM 52(4), 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from math import fsum
from time import perf_counter
from typing import Any, Final, NamedTuple

from ...declarations.argument_errors import check_arguments, check_construction
from ...ops.composite.contraction import matmul
from ...ops.creation.filled import ones
from ...ops.elementwise.basic import negative
from ...ops.reduction import sum
from ...protocol import Backend, BackendLike
from ...select import get_backend
from ...tensor import Tensor
from ..flops import Work


@check_construction
class Limits(NamedTuple):
    """The peak performance of a device."""

    flops: float
    """Floating-point operations in a second."""
    bandwidth: float
    """Bytes read and written in a second."""

    def seconds(self, work: Work) -> float:
        """The minimum time of some work: that of its operations or of its bytes, whichever is longer."""
        return max(work.flops / self.flops, (work.read + work.written) / self.bandwidth)


_BUDGET: Final = 0.02
"""The time in seconds that the timed calls must exceed; otherwise the next larger size is tried, if there is one."""

_SIZES: Final = 64, 256, 1024
"""The sides of the matrices that are multiplied, in turn until a product takes long enough."""

_measured: dict[Backend, Limits] = {}


@check_arguments
def machine_limits(backend: BackendLike = None) -> Limits:
    """Measure the peak performance of a backend's device, once per process; this takes a few tenths of a second.

    Parameters
    ----------
    backend : Backend, str or type, optional
        The backend, by default the default one.

    Returns
    -------
    Limits
        The operations per second of the product of two float32 matrices, and the bytes per second of a sum or a
        sign change, whichever is faster, of a float32 tensor that exceeds the caches. The library reaches these on the
        device, which may be less than the specification of the device.

    Examples
    --------
    >>> limits = tb.machine_limits("binary")
    >>> limits.flops > 0, limits is tb.machine_limits("binary")
    (True, True)
    """
    chosen = get_backend(backend)
    limits = _measured.get(chosen)
    if limits is None:
        limits = _measured[chosen] = Limits(_peak(chosen), _bandwidth(chosen))
    return limits


def _peak(backend: Backend) -> float:
    """The most operations per second of matrix products, up to the first that takes long enough to be measured."""
    best = 0.0
    for size in _SIZES:
        x = ones((size, size), dtype="f32", backend=backend)
        seconds, spent = _best(lambda x=x: matmul(x, x))  # type: ignore[misc] # a default that is a tensor
        best = max(best, 2 * size**3 / seconds)
        if spent > _BUDGET:
            break
    return best


def _bandwidth(backend: Backend) -> float:
    """Bytes per second of a pass over a tensor: of 256 KiB, or of 4 or 64 MiB until that takes long enough."""
    for power in (16, 20, 24):
        x = ones(1 << power, dtype="f32", backend=backend)
        reading, first = _best(lambda x=x: sum(x))  # type: ignore[misc] # a default that is a tensor
        copying, second = _best(lambda x=x: negative(x))  # type: ignore[misc] # a default that is a tensor
        if first + second > _BUDGET:
            break
    return max(x.template.nbytes / reading, 2 * x.template.nbytes / copying)


def _best(call: Callable[[], Tensor]) -> tuple[float, float]:
    """The shortest time of three calls, and the time of all three; they follow a call that is not timed."""
    call().block_until_ready()
    times: list[Any] = []
    for _ in range(3):
        start = perf_counter()
        call().block_until_ready()
        times.append(perf_counter() - start)
    return max(min(times), 1e-9), fsum(times)
