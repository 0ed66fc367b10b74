"""Special functions computed on the host: XLA's own are off by 20 ulps and more, and NaN for some infinities.

Where float64 is missing, as on a TPU, XLA's own are used, except for zeros, infinities and large numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from ...dtypes import float64
from ...protocol import Kernel, planned
from ...template import Template
from ..array_module.base import Array
from ..array_module.special import incomplete_gamma
from ..array_module.special.functions import ArraySpecial
from ..temme import COEFFICIENTS
from .elementwise import JaxElementwise

_LARGE: Final = 20.0
"""The `a` from which three rows of Temme's coefficients have the digits of float32."""


_TINY: Final = 1e-30
"""The `a` from which JAX's series work in float32."""

_ATANH: Final = [1 / k for k in range(19, 1, -2)]
"""The coefficients of atanh(s) / s**3 - 1 / s**2 in s**2, from the highest power down."""


class JaxSpecial(JaxElementwise, ArraySpecial):
    """Functions of the gamma family."""

    @planned
    def gamma_inc_l(self, out: Template, a: Template, x: Template, /) -> Kernel:
        """P(a, x), computed in float64 on the host."""
        return self._incomplete_kernel(incomplete_gamma.gamma_inc_l, self.jax.scipy.special.gammainc, out, upper=False)

    @planned
    def gamma_inc_u(self, out: Template, a: Template, x: Template, /) -> Kernel:
        """Q(a, x), computed in float64 on the host."""
        return self._incomplete_kernel(incomplete_gamma.gamma_inc_u, self.jax.scipy.special.gammaincc, out, upper=True)

    def _incomplete_kernel(
        self, function: Callable[..., Array], native: Callable[..., Array], out: Template, /, *, upper: bool
    ) -> Kernel:
        """A kernel of a function of NumPy's float64 arrays on the host, or of JAX's own function, with its limits."""
        if self.wide is float64:
            return self._host_kernel(function, native, out)

        def values(a: Array, x: Array) -> Array:
            xp = self.xp
            a, x = map(self._flush_subnormals, (a, x))  # which XLA compares with 0 and not with each other
            plain, limit = incomplete_gamma.limits(xp, a, x, upper=upper)
            near = plain & (a >= _LARGE) & (abs(x - a) < 0.5 * a)
            expansion = self._temme_expansion(xp.where(near, a, _LARGE), xp.where(near, x, _LARGE), upper=upper)
            # Q is proportional to a very small `a`, and P is 1 there.
            held = xp.where(plain & ~near, xp.maximum(a, _TINY), 1)
            within = xp.where(plain & ~near, x, 1)
            result = native(held, within)
            small = plain & (a < 1) & (x <= 1) if upper else plain & (a <= 1e-6)
            of_small = incomplete_gamma.small_upper(xp, xp.where(small, held, 0.5), xp.where(small, within, 0.5))
            if upper:
                result = xp.where(small, of_small, result) * xp.where(a < _TINY, a / _TINY, 1)
            else:
                result = xp.where(small & (x <= 1), 1 - of_small, result)
            return xp.clip(xp.where(near, expansion, xp.where(plain, result, limit)), 0, 1)

        return self._wide_kernel(lambda *arrays: values(*self.xp.broadcast_arrays(*arrays)), out)

    def _temme_expansion(self, a: Array, x: Array, *, upper: bool) -> Array:
        """P or Q in float32, by DLMF 8.12.7, for a large `a` with x near it, where JAX's series do not converge."""
        xp = self.xp
        apart = (x - a) / a
        s = apart / (2 + apart)
        # apart - log1p(apart), without its cancellation: log1p(apart) is 2 atanh(s), and apart - 2 s is apart * s.
        half_square = apart * s - 2 * s**3 * xp.polyval(xp.asarray(_ATANH, s.dtype), s * s)
        distance = xp.copysign(xp.sqrt(2 * half_square), apart)
        total = xp.zeros_like(a)
        for row in reversed(COEFFICIENTS[:3]):
            total = total / a + xp.polyval(xp.asarray(row[10::-1], a.dtype), distance)
        rest = xp.exp(-a * half_square) / xp.sqrt(2 * math.pi * a) * total
        sign = 1 if upper else -1
        return self.jax.scipy.special.erfc(sign * distance * xp.sqrt(a / 2)) / 2 + sign * rest

    def _host_kernel(self, function: Callable[..., Array], native: Callable[..., Array], out: Template, /) -> Kernel:
        """A kernel that calls a function of NumPy's float64 arrays on the host; its derivative is that of JAX's own
        function."""

        def call_on_host(*arrays: Any) -> Any:
            import numpy

            flat = (numpy.asarray(array).reshape(-1) for array in arrays)
            with numpy.errstate(all="ignore"):
                return function(numpy, *flat).reshape(arrays[0].shape)

        def values(*arrays: Array) -> Array:
            shape = self.jax.ShapeDtypeStruct(arrays[0].shape, arrays[0].dtype)
            return self.jax.pure_callback(call_on_host, shape, *arrays, vmap_method="broadcast_all")

        chosen = self.derived(values, native)
        return self._wide_kernel(lambda *arrays: chosen(*self.xp.broadcast_arrays(*arrays)), out)
