"""How close the result of an op must be to BinaryBackend's on every backend. Without a bound it must be bit-identical.

A bound is declared with its op: `@primitive.within(LIBRARY)`, `@composite.within(Bound(8, "a reason"))`, or
`@within(SUM)` for a plain function. `tensorbackend.testing` checks it on every backend.

A bound is a number of ulps of each element, in the result's dtype. For sums, cancellation makes the ulps of a result
meaningless. The same number of roundings of a larger quantity is then allowed too: the bound's `scale` (Higham,
Accuracy and Stability of Numerical Algorithms, section 4.2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

Scale: TypeAlias = Literal["element", "one", "operand", "square", "magnitudes", "norm", "result", "exponent"]
"""The quantity whose roundings a bound counts, besides those of the element itself (`element`: no other quantity):

- `one`: 1, where operands of about 1 cancel;
- `operand`: the largest magnitude of an element of the operands, at least 1;
- `square`: the square of that;
- `magnitudes`: the op's result for the absolute values of its operands, element by element;
- `norm`: the largest of these results, where each element of the result depends on all elements of the operands;
- `result`: the largest element of the result, where an algorithm on matrices is stable as a whole (Higham, chapter 7);
- `exponent`: y * log(x) in float64, whose error exp(y * log(x)) magnifies.
"""


class Bound(NamedTuple):
    """The maximum distance of a result from BinaryBackend's."""

    ulps: float = 0
    reason: str = ""
    scale: Scale = "element"
    tame: bool = False
    """Whether tests draw operands of moderate size, as larger ones overflow on the way in some orders of operations."""


EXACT = Bound()


class Bounds(NamedTuple):
    """The bound of an op, and another one for calls with complex operands or results, if it differs."""

    bound: Bound = EXACT
    complex: Bound | None = None


TO_THE_BIT = Bounds()

Function = TypeVar("Function", bound=Callable[..., Any])


def declare_bound(bound: Bound) -> Callable[[Function], Function]:
    """Declares the bound of a public function that is not an op, such as one that calls several ops."""

    def mark(function: Function) -> Function:
        function.__bounds__ = Bounds(bound)  # type: ignore[attr-defined] # read by tensorbackend.testing
        return function

    return mark


# Bounds that several ops share

LIBRARY = Bound(4, "the mathematical library of each array library has its own last digits")
SUM = Bound(64, "the order of additions is the backend's", "magnitudes", tame=True)
PRODUCT = Bound(64, "the order of multiplications is the backend's", tame=True)
LOG_OF_SUM = Bound(16, "the logarithm of a sum of exponentials", "operand", tame=True)
ROOT_OF_SUM = Bound(64, "a root of a sum", tame=True)
# Each of log2(n) steps adds the rounding errors of a twiddle factor and of an addition, in the norm of the whole
# (Higham, section 24.1).
TRANSFORM = Bound(8, "the steps of a transform, each of which mixes all elements", "norm", tame=True)
ELIMINATION = Bound(32, "the order of operations is the library's, on well-conditioned matrices", "result")
SPECTRAL = Bound(256, "rounding errors, divided by the gaps of the values, rotate the vectors", "result")
COMPLEX_PRODUCT = Bound(4, "some libraries fuse a step of a * c - b * d")
COMPLEX_QUOTIENT = Bound(4, "each library has its own formula of the quotient")
COMPLEX_STEPS = Bound(32, "each step may be a product of complex numbers")
