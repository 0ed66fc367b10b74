"""Pooling by XLA's own functions of windows."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import prod

from ...dtypes import value_range
from ...interchange import numpy_dtype
from ...protocol import Kernel, Payload, planned
from ...protocol.window import Windows
from ...template import Shape, Template
from ...tensor import Tensor
from ..array_module.base import Array
from ..array_module.precision import accumulator_dtype
from ..array_module.window import ArrayWindow
from .extremes import Extreme, extreme, signed_maximum, signed_minimum
from .functional import Fold, JaxFunctional


def _windows_callback(function: Callable[[JaxWindow, Tensor, Windows], Array]) -> Callable[..., Payload]:
    """Makes a callback from a function of the backend, a tensor and the windows."""

    @planned
    def callback(self: JaxWindow, out: Template, x: Template, /, *, windows: Windows) -> Kernel:
        def kernel(values: Array) -> Array:
            reduced = function(self, self.tensor(values), windows)
            return self.narrow_payload(reduced.reshape(out.shape), out)

        return kernel

    return callback


def _scatter_callback(find: str) -> Callable[..., Payload]:
    """A callback that adds each source element at one place of its window, which `find`, of `jax.numpy`, chooses."""

    @planned
    def callback(
        self: JaxWindow, out: Template, x: Template, source: Template, initial: Template, /, *, windows: Windows
    ) -> Kernel:
        choose, tensor = getattr(self.xp, find), self.tensor
        return lambda values, updates, start: self.scattered(
            choose, out, tensor(values), tensor(updates), tensor(start), windows
        )

    return callback


class JaxWindow(JaxFunctional, ArrayWindow):
    """Callbacks that slide a window along every axis; sums and products of the narrow floats are computed in
    float32."""

    window_sum = _windows_callback(lambda self, x, windows: self.slid(self.lax.add, 0, windows, self.widened(x)))
    window_product = _windows_callback(lambda self, x, windows: self.window_products(x, windows))
    window_max = _windows_callback(lambda self, x, windows: self._extreme_of_windows(signed_maximum, x, windows))
    window_min = _windows_callback(lambda self, x, windows: self._extreme_of_windows(signed_minimum, x, windows))
    window_scatter_max = _scatter_callback("argmax")
    window_scatter_min = _scatter_callback("argmin")

    def window_reduce(
        self, out: Template, x: Tensor, initial: Tensor, /, *, windows: Windows, function: Fold
    ) -> Payload:
        """Folds a Python function over the elements of each window, without the padding."""
        positions, inside = self._windows(x.shape, windows)
        if not out.size:
            return self.xp.zeros(out.shape, numpy_dtype(out.dtype))
        return self.fold_rows(function, initial, self._take_at(x.data, positions), inside).reshape(out.shape)

    # Helpers

    def _extreme_of_windows(self, signed: Extreme, x: Tensor, windows: Windows) -> Array:
        """The maximum or minimum of each window."""
        choose = self.lax.max if signed is signed_maximum else self.lax.min
        find = extreme(self, signed, x.template, lambda values: self.slid(choose, None, windows, values))
        return find(x.data)

    def window_products(self, x: Tensor, windows: Windows) -> Array:
        """Product of each window; complex numbers from the first to the last, as infinities depend on the order."""
        if not x.dtype.is_complex:
            return self.slid(self.lax.mul, 1, windows, self.widened(x))
        positions, inside = self._windows(x.shape, windows)
        return reduce(self.xp.multiply, self.xp.where(inside, self._take_at(x.data, positions), 1))

    def slid(
        self, function: Callable[[Array, Array], Array], identity: float | None, windows: Windows, values: Array
    ) -> Array:
        """Reduces every window by one of XLA's own functions; `identity` is `None` for a maximum or minimum."""
        import numpy

        sizes, strides, padding, dilations = windows
        if values.dtype == bool:  # XLA's windows do not take bools
            return self.slid(function, identity, windows, values.astype("int8")) != 0
        if identity is None:
            identity = value_range(self.tensor(values).dtype)[function is self.lax.min]
        # With negative padding and windows of one element, XLA returns another shape or aborts the process.
        cuts = [_cut(size, *ends) for size, ends in zip(values.shape, padding, strict=True)]
        values = self.lax.slice(values, [cut[0] for cut in cuts], [cut[1] for cut in cuts])
        padding = tuple([cut[2] for cut in cuts])
        dilations = tuple([step if size > 1 else 1 for size, step in zip(sizes, dilations, strict=True)])
        start = numpy.asarray(identity, values.dtype)  # not traced: only so does JAX recognise the reduction
        reduced = self.lax.reduce_window(values, start, function, sizes, strides, padding, window_dilation=dilations)
        # XLA gets windows that move by more than 1 wrong if devices divide the result but not the operand.
        return self.gather_axes(reduced, [axis for axis, stride in enumerate(strides) if stride > 1])

    def _windows(self, shape: Shape, windows: Windows) -> tuple[Array, Array]:
        """Row-major positions in x of the elements of every window (elements, windows), and the mask of those in x."""
        xp, rank = self.xp, len(shape)
        positions = xp.zeros((1,) * (2 * rank), numpy_dtype(self.long))
        inside = xp.ones((1,) * (2 * rank), bool)
        for axis, (length, places, (low, _), (size, stride, dilation)) in enumerate(
            zip(shape, windows.places(shape), windows.padding, windows.along, strict=True)
        ):
            along = xp.arange(size)[:, None] * dilation + xp.arange(places) * stride - low
            spread = [1] * (2 * rank)
            spread[axis], spread[rank + axis] = size, places
            along = along.reshape(spread)
            inside = inside & (along >= 0) & (along < length)
            positions = positions * length + along
        shape = xp.broadcast_shapes(positions.shape, inside.shape)
        rows = windows.elements, prod(shape[rank:])
        return xp.where(inside, positions, 0).reshape(rows), xp.broadcast_to(inside, shape).reshape(rows)

    def _take_at(self, values: Array, positions: Array) -> Array:
        """Elements at row-major positions; zeros if the array has no elements."""
        if not values.size:
            return self.xp.zeros(positions.shape, values.dtype)
        return values.reshape(-1)[positions]

    def scattered(
        self, find: Callable[..., Array], out: Template, x: Tensor, source: Tensor, initial: Tensor, windows: Windows
    ) -> Array:
        xp = self.xp
        positions, inside = self._windows(x.shape, windows)
        working = accumulator_dtype(out.dtype, min(source.size, windows.elements), self.wide)
        start = xp.broadcast_to(initial.data.astype(numpy_dtype(working)), (out.size,))
        if not positions.size:
            return start.reshape(out.shape).astype(numpy_dtype(out.dtype))
        # Padding loses against every element, even against one that is the identity of the maximum or minimum.
        identity = xp.asarray(value_range(x.dtype)[find is xp.argmin], x.data.dtype)
        elements = xp.where(inside, self._take_at(x.data, positions), identity)
        best = xp.take_along_axis(elements, find(elements, axis=0)[None], axis=0)
        first = xp.argmax(((elements == best) | (elements != elements)) & inside, axis=0)[None]
        # A window of padding alone adds nothing.
        target = xp.where(xp.any(inside, axis=0), xp.take_along_axis(positions, first, axis=0)[0], out.size)
        added = start.at[target].add(source.data.reshape(-1).astype(start.dtype), mode="drop")
        return added.reshape(out.shape).astype(numpy_dtype(out.dtype))


def _cut(size: int, low: int, high: int) -> tuple[int, int, tuple[int, int]]:
    """The first and last position of an axis that a negative padding leaves, and the padding of that part."""
    start = min(max(-low, 0), size)
    stop = max(size - max(-high, 0), start)
    low, high = low + start, high + size - stop
    return start, stop, (max(low + min(high, 0), 0), max(high + min(low, 0), 0))
