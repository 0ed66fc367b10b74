"""The interface of a backend's `xp`: an array module with NumPy's functions, and further methods that the shared body
calls.

The body never tests which module it runs on. Where libraries differ there is a method or an attribute here, which
an adapter overrides: `NumpyModule`, `JaxModule`, `CupyModule`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

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
