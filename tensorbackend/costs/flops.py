"""The work of a node, and the floating-point operations of each callback, from templates and options alone.

They are counted as in XLA's cost analysis, where it has a rule:
https://github.com/openxla/xla/blob/main/xla/service/hlo_cost_analysis.cc

- An elementwise op counts one operation for each element of the result, whatever its dtype; a complex number is one
  element.
- A transcendental function counts one *transcendental* for each element, and no FLOP: its real cost depends on the
  machine.
- A reduction counts one operation for each element except the first of each result.
- A sum of products counts two operations for each product: `dot` of (m, k) with (k, n) counts 2 m n k. A convolution
  does not count products with padding and with the holes of a dilation.
- An op that only moves elements counts none.

XLA calls libraries for linear algebra and does not count their operations: the counts here are from textbooks, from
Golub and Van Loan, Matrix Computations, 4th edition, 2013, and of LAPACK Working Note 41. A Fourier transform of n
elements counts 5 n log2(n) (Cooley and Tukey; http://www.fftw.org/speed/method.html), a sort n log2(n) comparisons.

The protocol declares the cost for each element, as in `@callback(cost="operation")`. This module has the rules of the
callbacks for which that is not enough. A composite that costs less than its parts declares its own rule, by
`@composite.costing(rule)`. A rule is called like its callback, with templates in place of tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from ..declarations.op_specs import COSTS, CostRule
from ..registration import Registry
from ..rules.convolution import Correlation
from ..rules.window import Windows
from ..template import Template

ROUNDING: Final = frozenset({"ceil", "floor", "round", "trunc"})
"""The callbacks that return integers unchanged."""


class Work(NamedTuple):
    """The cost of a node. Bytes are those of the inputs it reads and the results it writes; caches are ignored."""

    flops: int = 0
    transcendentals: int = 0
    read: int = 0
    written: int = 0
    workspace: int = 0
    """The most bytes that parts need at any time besides inputs and results."""
    shares: tuple[int | None, ...] = ()
    """The input whose memory each result shares, by its place among the operands."""
    strided: tuple[bool, ...] = ()
    """Whether the elements of each result may be in an order other than row-major."""
    blocks: tuple[tuple[int, int], ...] = ()
    """For each result the first result in the same memory, and the bytes of that memory, of which the result may be a
    part; empty if each result has memory of its size."""
    open: bool = False
    """Whether a loop is counted as one iteration, because only data can say how many there are."""

    def apart(self, count: int) -> Work:
        """The work with `count` results in memory of their own, in row-major order."""
        return self._replace(shares=(None,) * count, strided=(False,) * count)

    def times(self, count: int) -> Work:
        """The work of `count` runs."""
        return self._replace(
            flops=self.flops * count,
            transcendentals=self.transcendentals * count,
            read=self.read * count,
            written=self.written * count,
        )


def total(works: Sequence[Work]) -> Work:
    """The work of several nodes, without their memory."""
    return Work(
        sum(work.flops for work in works),
        sum(work.transcendentals for work in works),
        sum(work.read for work in works),
        sum(work.written for work in works),
        open=any(work.open for work in works),
    )


Function = TypeVar("Function", bound=CostRule)

APPLICATIONS: Registry[CostRule] = Registry("the number of applications of")
"""How often a callback applies the function of scalars that it is given."""

_rules: Registry[CostRule] = Registry("the cost of")

flops = _rules.of
"""Declares the rule of some callbacks."""


def rule_of(callback: str) -> CostRule | None:
    """The rule of a callback or an override, which is declared either here or with the op."""
    cost = _rules.get(callback) or COSTS.get(callback)
    if cost is None or callable(cost):
        return cost
    return _each if cost in ("operation", "transcendental") else _none


def applications(*names: str) -> Callable[[CostRule], CostRule]:
    """Declares the number of times that some callbacks apply their function, which has its own costs."""
    _rules.declare(_none, *names)
    return APPLICATIONS.of(*names)


def _each(out: Template, /, *inputs: Template, **options: object) -> int:
    return out.size


def _none(out: Any, /, *inputs: Any, **options: object) -> int:
    return 0


@flops("indexed_add")
def _indexed_add(out: Template, x: Template, indices: Template, updates: Template, /, **options: object) -> int:
    return updates.size


# Reductions and orderings


@flops("all", "any", "sum", "product", "reduce_max", "reduce_min", "argmax", "argmin")
def _reduction(out: Template, x: Template, /, **options: object) -> int:
    return max(x.size - out.size, 0)


@applications("map", "reduce")
def _each_element(out: Template, x: Template, /, *initial: Template, **options: object) -> int:
    return x.size


@flops("sort", "argsort")
def _sort(out: Template, x: Template, /, *, axis: int, **options: object) -> int:
    return x.size * max(x.shape[axis] - 1, 0).bit_length()


# Windows


@flops("window_sum", "window_product", "window_max", "window_min")
def _window(out: Template, x: Template, /, *, windows: Windows) -> int:
    return out.size * (windows.elements - 1)


@applications("window_reduce")
def _window_reduce(out: Template, x: Template, initial: Template, /, *, windows: Windows, **options: object) -> int:
    return out.size * windows.elements


@flops("window_scatter_max", "window_scatter_min")
def _window_scatter(out: Template, x: Template, source: Template, initial: Template, /, *, windows: Windows) -> int:
    return source.size * windows.elements  # comparisons, and one addition


@flops("conv")
def _conv(out: Template, x: Template, kernel: Template, /, *, correlation: Correlation) -> int:
    windows = correlation.windows
    pairs = out.shape[0] * out.shape[1] * kernel.shape[1]
    each_axis = zip(x.shape[2:], out.shape[2:], windows.along, windows.padding, correlation.input_dilation, strict=True)
    for size, places, (taps, stride, dilation), (low, _), apart in each_axis:
        pairs *= _products(size, taps, places, stride, low, apart, dilation)
    return 2 * pairs


def _products(
    size: int, kernel: int, places: int, stride: int, low: int, input_dilation: int, kernel_dilation: int
) -> int:
    """The number of products along one axis: pairs of an output position and a kernel element with an input element.

    For each element of the kernel, these positions form a range; with a dilation of the input, only the positions of
    one residue in that range count.

    >>> _products(5, 3, 5, 1, 1, 1, 1), _products(3, 3, 5, 1, 1, 2, 1)
    (13, 7)
    """
    count = 0
    period = input_dilation // math.gcd(stride, input_dilation)
    for position in range(kernel):
        shift = position * kernel_dilation - low
        # Places p with 0 <= p * stride + shift <= (size - 1) * input_dilation, of which input_dilation divides
        # p * stride + shift.
        first = max(0, -(shift // stride))
        last = min(places - 1, ((size - 1) * input_dilation - shift) // stride)
        for place in range(first, min(first + period, last + 1)):
            if (place * stride + shift) % input_dilation == 0:
                count += (last - place) // period + 1
                break
    return count


# Linear algebra and Fourier transforms


@flops("dot")
def _dot(out: Template, x1: Template, x2: Template, /, *, contract1: Sequence[int], **options: object) -> int:
    return 2 * out.size * math.prod(x1.shape[axis] for axis in contract1)


def _matrices(x: Template) -> tuple[int, int, int]:
    """The number of matrices, and their rows and columns."""
    *batch, rows, columns = x.shape
    return math.prod(batch), rows, columns


@flops("cholesky")
def _cholesky(out: Template, x: Template, /) -> int:
    batch, n, _ = _matrices(x)
    return batch * n**3 // 3


@flops("lu")
def _lu(out: tuple[Template, ...], x: Template, /) -> int:
    batch, m, n = _matrices(x)
    k = min(m, n)
    return batch * (6 * m * n * k - 3 * (m + n) * k**2 + 2 * k**3) // 3


@flops("qr")
def _qr(out: tuple[Template, ...], x: Template, /, **options: object) -> int:
    batch, m, n = _matrices(x)
    k, columns = min(m, n), out[0].shape[-1]
    reflectors = 12 * m * n * k - 6 * (m + n) * k**2 + 4 * k**3
    product = 12 * m * columns * k - 6 * (m + columns) * k**2 + 4 * k**3
    return batch * (reflectors + product) // 3


@flops("eigh")
def _eigh(out: tuple[Template, ...], x: Template, /) -> int:
    batch, n, _ = _matrices(x)
    return 9 * batch * n**3


@flops("eig")
def _eig(out: tuple[Template, ...], x: Template, /) -> int:
    batch, n, _ = _matrices(x)
    return 25 * batch * n**3


@flops("svd")
def _svd(out: tuple[Template, ...], x: Template, /, *, full_matrices: bool) -> int:
    batch, *sides = _matrices(x)
    n, m = sorted(sides)
    if full_matrices:
        return batch * (4 * m**2 * n + 8 * m * n**2 + 9 * n**3)
    return batch * (14 * m * n**2 + 8 * n**3)


@flops("triangular_solve")
def _triangular_solve(out: Template, a: Template, b: Template, /, **options: object) -> int:
    return out.size * a.shape[-1]


@flops("sparse_triangular_solve")
def _sparse_triangular_solve(
    out: Template, values: Template, first: Template, second: Template, b: Template, /, **options: object
) -> int:
    """A product and a difference for each stored entry and each right side."""
    return 2 * values.size * b.shape[-1]


@flops("fft", "ifft")
def _fft(out: Template, x: Template, /, *, length: int, **options: object) -> int:
    return round(5 * out.size * math.log2(length)) if length else 0
