"""The functions that tasks call: NumpyBackend's callbacks on blocks.

A task must be small to send and cheap to call. `Blocks` holds the name of a callback and its options, and derives the
template of a block's result from the *labels* of the axes: axes with the same label have the same size, like letters in
`einsum`. Each process plans a kernel once for each combination of block shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache, reduce
from typing import Any, TypeAlias

from tensorbackend import Template, Tensor
from tensorbackend.dtypes import DType, as_dtype
from tensorbackend.protocol import Kernel, kernel_of

from .library import np, numpy_backend

Array: TypeAlias = Any
"""A NumPy array."""

Labels: TypeAlias = tuple[int, ...]
"""A number for each axis. Axes with equal numbers have the same size, or size 1 if they are broadcast."""


def kernel_on_numpy(name: str, out: Any, inputs: Sequence[Any], options: dict[str, Any]) -> Kernel:
    """Returns NumpyBackend's kernel for a callback, whether the callback is planned or not."""
    backend = numpy_backend()
    method = getattr(backend, name)
    if hasattr(method, "__plan__"):
        return backend.enter(kernel_of(method, out, *inputs, **options))
    return lambda *arrays: method(out, *(_tensors(inputs, arrays)), **options)


def _tensors(templates: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    return [
        Tensor(template, numpy_backend(), array)
        if isinstance(template, Template)
        else template and tuple(_tensors(template, array))
        for template, array in zip(templates, arrays, strict=True)
    ]


class Blocks:
    """Calls a callback on blocks, and derives the templates of the results from the shapes of the blocks."""

    def __init__(
        self,
        name: str,
        inputs: tuple[tuple[Labels, str], ...],
        outputs: tuple[tuple[Labels, str], ...],
        fixed: tuple[tuple[int, int], ...] = (),
        options: tuple[tuple[str, Hashable], ...] = (),
        several: bool = False,
        more: int = 0,
    ) -> None:
        self.state = name, inputs, outputs, fixed, options, several, more
        self.kernels: dict[Any, Kernel] = {}
        self.__name__ = name  # Dask shows this name

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, self.state

    def __call__(self, *arrays: Array) -> Any:
        if list in map(type, arrays):  # Dask puts a block in a list for each axis that the result lacks
            arrays = tuple(map(_unpacked, arrays))
        shapes = tuple([array.shape for array in arrays])
        kernel = self.kernels.get(shapes)
        if kernel is None:
            kernel = self.kernels[shapes] = self.plan(shapes)
        return kernel(*arrays)

    def plan(self, shapes: Sequence[tuple[int, ...]]) -> Kernel:
        """Plans the kernel for blocks of these shapes."""
        name, inputs, outputs, fixed, options, several, more = self.state
        sizes = dict(fixed)
        input_templates = []
        for (labels, dtype), shape in zip(inputs, shapes, strict=True):
            input_templates.append(Template(shape, dtype))
            for label, size in zip(labels, shape, strict=True):
                if sizes.get(label, 1) == 1:
                    sizes[label] = size
        sizes.update(fixed)
        output_templates = tuple(
            [Template(tuple([sizes[label] for label in labels]), dtype) for labels, dtype in outputs]
        )
        kernel = kernel_on_numpy(
            name, output_templates if several else output_templates[0], input_templates, dict(options)
        )
        if not more:
            return kernel
        ones = (1,) * more  # for the axes along which blocks are combined later
        return lambda *arrays: kernel(*arrays).reshape((*output_templates[0].shape, *ones))


def _unpacked(array: Any) -> Array:
    while type(array) is list:
        (array,) = array
    return array


@lru_cache(1 << 12)
def restored(*state: Any) -> Blocks:
    """Returns the only `Blocks` with these arguments in this process, so that tasks share its kernels."""
    return Blocks(*state)


@lru_cache(1 << 10)
def pairwise(name: str, dtype: str, ndim: int) -> Blocks:
    """Returns the `Blocks` of a callback of two tensors of the same shape and dtype."""
    labels = tuple(range(ndim))
    return restored(name, ((labels, dtype), (labels, dtype)), ((labels, dtype),))


class WithoutLast:
    """Calls a function of blocks without the last argument, which only tells Dask what blocks the result has."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments[:-1])


class Folded:
    """Combines any number of blocks in order by a callback of two tensors, in a dtype that may be wider than theirs."""

    def __init__(self, name: str, dtype: str, ndim: int) -> None:
        self.state = name, dtype, ndim

    def __call__(self, *arrays: Array) -> Array:
        wide = as_dtype(self.state[1])
        return reduce(pairwise(*self.state), [cast(array, as_dtype(array.dtype), wide) for array in arrays])


def cast(array: Array, source: DType, target: DType) -> Array:
    """Casts a block to another dtype, by the rules of `as_type`."""
    if source is target:
        return array
    labels = tuple(range(array.ndim))
    return restored("as_type", ((labels, str(source)),), ((labels, str(target)),))(array)


class Finished:
    """Combines parts, and gives the result its dtype and shape.

    Removes the axes of size 1 after the first `kept` axes, and inserts axes of size 1 at `added`.
    """

    def __init__(self, combine: Callable[..., Any], target: str, kept: int, added: tuple[int, ...]) -> None:
        self.state = combine, target, kept, added

    def __call__(self, *parts: Any) -> Array:
        combine, target, kept, added = self.state
        result = combine(*parts)
        if isinstance(result, tuple):
            result = combine.last(result)  # type: ignore[attr-defined] # combiners of tuples have it
        result = result.reshape(result.shape[:kept])
        result = cast(result, as_dtype(result.dtype), as_dtype(target))
        return np.expand_dims(result, added) if added else result
