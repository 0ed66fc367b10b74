"""Special functions computed on the host: XLA's own are off by 20 ulps and more, and NaN for some infinities.

Where float64 is missing, as on a TPU, XLA's own are used, except for zeros, infinities and huge numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dtypes import float64
from ...protocol import Kernel, planned
from ...template import Template
from ..array_module.base import Array
from ..array_module.special import incomplete_gamma
from ..array_module.special.functions import ArraySpecial
from .elementwise import JaxElementwise


class JaxSpecial(JaxElementwise, ArraySpecial):
    """Functions of the gamma family."""

    @planned
    def gamma_inc_l(self, out: Template, a: Template, x: Template, /) -> Kernel:
        """P(a, x), computed in float64 on the host."""
        if self.wide is not float64:
            return self._native_kernel(self.jax.scipy.special.gammainc, out, upper=False)
        return self._host_kernel(incomplete_gamma.gamma_inc_l, self.jax.scipy.special.gammainc, out)

    @planned
    def gamma_inc_u(self, out: Template, a: Template, x: Template, /) -> Kernel:
        """Q(a, x), computed in float64 on the host."""
        if self.wide is not float64:
            return self._native_kernel(self.jax.scipy.special.gammaincc, out, upper=True)
        return self._host_kernel(incomplete_gamma.gamma_inc_u, self.jax.scipy.special.gammaincc, out)

    def _native_kernel(self, native: Callable[..., Array], out: Template, /, *, upper: bool) -> Kernel:
        """A kernel of JAX's own function, with its limits."""

        def values(a: Array, x: Array) -> Array:
            plain, limit = incomplete_gamma.limits(self.xp, a, x, upper=upper)
            return self.xp.where(plain, native(self.xp.where(plain, a, 1), self.xp.where(plain, x, 1)), limit)

        return self._wide_kernel(lambda *arrays: values(*self.xp.broadcast_arrays(*arrays)), out)

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
