"""The interface of a backend's `xp`: an array module with NumPy's functions, and further methods that the shared body
calls.

The body never tests which module it runs on. Where libraries differ there is a method or an attribute here, which
an adapter overrides: `NumpyModule`, `JaxModule`, `CupyModule`.

Shortcuts read data or write to it. An eager module's arrays are there at once. Another module's arrays are computed
elsewhere or later, or cannot be written to: reading an element waits for it, and while a function is traced there are
no elements. So shared code asks the functions below, and takes the long way where nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, ClassVar

from ..complex_formulas import Array as Array
from ..complex_formulas import ComplexFormulas

_COMPLEX_OF = {"float32": "complex64", "float64": "complex128"}


class ArrayModule(ComplexFormulas):
    """An array module of which only one thing is known: its functions are NumPy's."""

    eager: ClassVar[bool] = False
    """Whether arrays are in the host's memory as soon as a function returns, so that reading an element costs
    nothing, and whether the processor's floating-point flags can be read."""

    keeps_specials: ClassVar[frozenset[str]] = frozenset()
    """The module's complex functions, by name, that return the standard's values where a part is infinite or NaN."""

    multiplies_by_parts: ClassVar[bool] = False
    """Whether a product of complex numbers is always (ac - bd) + (ad + bc)j, except for the rounding of fused steps."""

    def widen(self, x: Array) -> Array:
        """An array of floats or complex numbers in the dtype to compute in."""
        return x.astype(_COMPLEX_OF[self.wide] if x.dtype.kind == "c" else self.wide, copy=False)

    def of_complex(self, name: str, z: Array, *, odd: bool = False) -> Array:
        """Calls a function of the module with complex numbers; `odd` says whether f(-z) = -f(z)."""
        return getattr(self, name)(z)

    def positive_zero(self, x: Array) -> Array:
        """x with 0.0 in place of each -0.0."""
        return x + 0.0

    def if_any(self, where: Array, function: Callable[[], Array], otherwise: Array) -> Array:
        """The result of `function`; if no flag is true, that equals `otherwise` and the call may be left out."""
        return function()


def certainly(xp: Any, flags: Array) -> bool:
    """Whether all flags are known to be true; only an eager module's flags are read."""
    return xp.eager and bool(xp.count_nonzero(flags) == flags.size)


def replace_where(xp: Any, values: Array, where: Array, function: Callable[..., Array], *operands: Array) -> Array:
    """`values`, with the results of `function(xp, *operands)` in the places where `where` is true; all have one shape.

    With an eager module the function is computed in those places alone and written into `values`, which must be fresh.
    Another module computes it everywhere, or not at all if it can find at run time that there is no such place.
    """
    if not xp.eager:
        return xp.if_any(where, lambda: xp.where(where, function(xp, *operands).astype(values.dtype), values), values)
    values = xp.asarray(values)
    if where.any():
        values[where] = function(xp, *(x[where] for x in operands))
    return values


def fits_float64(xp: Any, terms: int, *factors: Array) -> bool:
    """Whether float64 holds every sum of `terms` products of integers exactly, by their dtypes or by their values.

    The values are only read if the module is eager. BLAS multiplies no integers, but in float64 it is a hundred times
    faster than the module's integer product.
    """
    bits = 8 * sum(factor.dtype.itemsize for factor in factors)
    if bits < 53 and terms < 1 << (53 - bits):
        return True
    if not xp.eager or not all(factor.size for factor in factors):
        return False
    return terms * prod(max(abs(int(factor.min())), abs(int(factor.max()))) for factor in factors) <= 1 << 53
