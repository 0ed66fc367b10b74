"""The interface of a backend's `xp`: an array module with NumPy's functions, and further methods that the shared body
calls.

The body never tests which module it runs on. Where libraries differ there is a method or an attribute here, which
an adapter overrides: `NumpyModule`, `JaxModule`, `CupyModule`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

Array: TypeAlias = Any


_COMPLEX_OF = {"float32": "complex64", "float64": "complex128"}


class ArrayModule:
    """An array module of which only one thing is known: its functions are NumPy's."""

    eager: ClassVar[bool] = False
    """Whether arrays are in the host's memory as soon as a function returns, so that reading an element costs
    nothing, and whether the processor's floating-point flags can be read."""

    keeps_specials: ClassVar[frozenset[str]] = frozenset()
    """The module's complex functions, by name, that return the standard's values where a part is infinite or NaN."""

    multiplies_by_parts: ClassVar[bool] = False
    """Whether a product of complex numbers is always (ac - bd) + (ad + bc)j, except for the rounding of fused steps."""

    wide: str = "float64"
    """The dtype in which functions of floats compute, and the parts of complex numbers."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        attribute = vars(self)[name] = getattr(self._module, name)
        return attribute

    def widen(self, x: Array) -> Array:
        """An array of floats or complex numbers in the dtype to compute in."""
        return x.astype(_COMPLEX_OF[self.wide] if x.dtype.kind == "c" else self.wide, copy=False)

    def join(self, real: Array, imaginary: Array) -> Array:
        """The complex array of two parts; arithmetic with 1j would lose signs of zeros and make NaN of infinities."""
        dtype = self.result_type(real.dtype, "complex64")
        joined = self.empty(self.broadcast_shapes(real.shape, imaginary.shape), dtype)
        joined.real = real
        joined.imag = imaginary
        return joined

    def of_complex(self, name: str, z: Array, *, odd: bool = False) -> Array:
        """Calls a function of the module with complex numbers; `odd` says whether f(-z) = -f(z)."""
        return getattr(self, name)(z)

    def positive_zero(self, x: Array) -> Array:
        """x with 0.0 in place of each -0.0."""
        return x + 0.0

    def if_any(self, where: Array, function: Callable[[], Array], otherwise: Array) -> Array:
        """The result of `function`; if no flag is true, that equals `otherwise` and the call may be left out."""
        return function()

    def unfused_product(self, product: Array) -> Array:
        """The product, rounded before it enters a sum: a compiler may not fuse the two."""
        return product
