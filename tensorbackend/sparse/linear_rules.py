"""How the elements of each op's result depend on those of its operands, for ops that are linear in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy

from ..dispatch.kernels import primitive_kernel
from ..dispatch.operands import nameless
from ..dtypes import float64, int64
from ..expr.node import RENAMED, Node
from ..ops.creation.filled import full
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import divide
from ..ops.indexing.taking import take_at
from ..ops.shape import broadcast_to, expand_dims, permute_dims, reshape
from ..registration import Registry
from ..select import get_backend
from ..template import Template
from ..tensor import Tensor
from .host import Array, index_tensor, to_host_arrays
from .linear import Linear, Links, apply_links, home, sum_linear


class NotLinear(Exception):
    """Raised for an op that is not linear in the argument, or not known to be."""


class Call(NamedTuple):
    """One node of a traced function."""

    node: Node
    operands: tuple[Linear | Tensor, ...]
    """The flat operands: a `Linear` for each that depends on the argument, a tensor for each constant."""
    width: int
    """The number of elements of the argument."""

    @property
    def out(self) -> Template:
        (out,) = self.node.outs
        return out

    def template(self, position: int) -> Template:
        return self.node.operands[position].template

    @property
    def dependent(self) -> list[int]:
        """The positions of operands that depend on the argument."""
        return [position for position, operand in enumerate(self.operands) if isinstance(operand, Linear)]

    def value(self, position: int) -> Linear:
        operand = self.operands[position]
        assert isinstance(operand, Linear)  # by `dependent`
        return operand

    def constant(self, position: int) -> Tensor:
        """A constant operand; raises `NotLinear` for an operand that depends on the argument."""
        operand = self.operands[position]
        if isinstance(operand, Linear):
            raise NotLinear
        return operand

    def contribution(self, position: int, links: Links) -> Linear:
        """The contribution of one operand to the result."""
        return apply_links(self.value(position), links, self.out.size, self.width)

    def sum_contributions(self, links: Callable[[int], Links]) -> Linear:
        """The result: the sum of the contributions of all operands."""
        return sum_linear([self.contribution(position, links(position)) for position in self.dependent], self.width)


Rule = Callable[[Call], Linear]

RULES: Registry[Rule] = Registry("the links of")
"""The rules by the names of callbacks."""

rule = RULES.of


def _numbers(template: Template) -> Array:
    """The position of each element in row-major order, 0, 1, 2, ..., in the template's shape."""
    return numpy.arange(template.size).reshape(template.shape)


def _spread(call: Call, position: int) -> Links:
    """The links of an operand that is broadcast to the result's shape."""
    source = numpy.broadcast_to(_numbers(call.template(position)), call.out.shape).reshape(-1)
    return Links(source, numpy.arange(call.out.size))


def _flat(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A constant, broadcast to a shape and flattened."""
    bare = nameless(x)
    return reshape(broadcast_to(bare, shape), (prod(shape),))


ADDING: dict[str, Sequence[int]] = {
    "add": (0, 1),
    "concatenate": range(64),
    "gather": (),
    "indexed_add": (0, 2),
    "indexed_put": (0, 2),
    "pad": (1,),
    "put_slice": (0, 1),
    "select": (1, 2),
    "subtract": (0, 1),
}
"""The positions of the operands that, as constants, add something to the result."""

# Ops that move elements

_COPYING: dict[str, int | None] = {
    "broadcast": 1,
    "concatenate": None,
    "gather": 1,
    "indexed_put": -1,
    "pad": 2,
    "put_slice": 2,
    "reshape": 1,
    "reverse": 1,
    "slice": 1,
    "squeeze": 1,
    "take": 1,
    "take_along_axis": 1,
    "transpose": 1,
}
"""How many operands, counted from the first, hold the elements that the op copies; the others say where these go.
`None` is all operands, -1 the first and the last."""


@rule(*_COPYING)
def _follow_elements(call: Call) -> Linear:
    """Runs the op itself on the numbers of elements, 1, 2, 3, ... (0 for constants), to find where each moves."""
    held = _COPYING[call.node.op]
    count = len(call.operands)
    holding = {0, count - 1} if held == -1 else set(range(count if held is None else held))
    if not holding.issuperset(call.dependent):
        raise NotLinear
    numpy_backend = get_backend("numpy")
    starts, arrays, templates, ends = [], [], [], 0
    for position, operand in enumerate(call.operands):
        template = call.template(position)
        if position not in holding:
            read = to_host_arrays(call.constant(position))
            if read is None:
                raise NotLinear
            arrays.append(read[0])
            templates.append(template)
            starts.append(0)
            continue
        numbers = numpy.zeros(template.shape, "int64")
        if isinstance(operand, Linear):
            numbers = _numbers(template) + (ends + 1)
        starts.append(ends)
        ends += template.size
        arrays.append(numbers)
        templates.append(Template(template.shape, int64))
    rest = iter(zip(templates, arrays, strict=True))
    pairs = [
        next(rest)
        if not isinstance(node_input, tuple) or hasattr(node_input, "node")
        else tuple(next(rest) for _ in node_input)
        for node_input in call.node.inputs
    ]
    inputs = [pair[0] if isinstance(pair[0], Template) else tuple(x for x, _ in pair) for pair in pairs]
    payloads = [pair[1] if isinstance(pair[0], Template) else tuple(x for _, x in pair) for pair in pairs]
    out = Template(call.out.shape, int64)
    kernel = primitive_kernel(numpy_backend, call.node.op, out, inputs, call.node.options)
    origins = numpy.asarray(kernel(*payloads)).reshape(-1)

    def links(position: int) -> Links:
        start, size = starts[position], call.template(position).size
        target = numpy.flatnonzero((origins > start) & (origins <= start + size))
        return Links(origins[target] - start - 1, target)

    return call.sum_contributions(links)


@rule(RENAMED, "as_type", "real", "conjugate")
def _same(call: Call) -> Linear:
    source, target = call.template(0).dtype, call.out.dtype
    # Neither the conjugate nor the real part of a complex number is linear.
    if not target.is_inexact or (source.is_complex and (call.node.op not in _OF_COMPLEX or not target.is_complex)):
        raise NotLinear
    return call.value(0)


_OF_COMPLEX = (RENAMED, "as_type")


# Arithmetic


@rule("add")
def _add(call: Call) -> Linear:
    return call.sum_contributions(lambda position: _spread(call, position))


@rule("negate")
def _negate(call: Call) -> Linear:
    return call.contribution(0, _negative(call, 0))


@rule("subtract")
def _subtract(call: Call) -> Linear:
    return call.sum_contributions(lambda position: _negative(call, position) if position else _spread(call, position))


def _negative(call: Call, position: int) -> Links:
    minus = full((call.out.size,), -1, dtype=call.out.dtype, backend=home())
    return _spread(call, position)._replace(weight=minus)


@rule("multiply")
def _multiply(call: Call) -> Linear:
    if len(call.dependent) > 1:
        raise NotLinear
    (position,) = call.dependent
    weight = _flat(call.constant(1 - position), call.out.shape)
    return call.contribution(position, _spread(call, position)._replace(weight=weight))


@rule("divide")
def _divide(call: Call) -> Linear:
    weight = _flat(call.constant(1), call.out.shape)
    return call.contribution(0, _spread(call, 0)._replace(weight=weight, op=divide))


@rule("select")
def _select(call: Call) -> Linear:
    """Multiplies each operand by the condition, or by its opposite, as 0 or 1."""
    condition = _flat(call.constant(0), call.out.shape)

    def links(position: int) -> Links:
        chosen = where(condition, 1 if position == 1 else 0, 0 if position == 1 else 1)
        return _spread(call, position)._replace(weight=astype(chosen, call.out.dtype))

    return call.sum_contributions(links)


# Sums


@rule("sum")
def _sum(call: Call) -> Linear:
    x, axes = call.template(0), call.node.options["axes"]
    kept = [1 if axis in axes else size for axis, size in enumerate(x.shape)]  # type: ignore[operator] # a tuple of ints
    target = numpy.broadcast_to(numpy.arange(call.out.size).reshape(kept), x.shape).reshape(-1)
    return call.contribution(0, Links(numpy.arange(x.size), target))


@rule("window_sum")
def _window_sum(call: Call) -> Linear:
    windows: Any = call.node.options["windows"]
    numbers, (out,) = _numbers(call.template(0)) + 1, call.node.outs
    padded = numpy.pad(numbers, windows.padding)
    sources, targets = [], []
    for tap in numpy.ndindex(*windows.sizes):
        key = tuple(
            slice(at * dilation, at * dilation + (size - 1) * stride + 1, stride) if size else slice(0, 0)
            for at, dilation, size, stride in zip(tap, windows.dilations, out.shape, windows.strides, strict=True)
        )
        origins = padded[key].reshape(-1)
        target = numpy.flatnonzero(origins)
        sources.append(origins[target] - 1)
        targets.append(target)
    none = numpy.zeros(0, "int64")
    return call.contribution(0, Links(numpy.concatenate([none, *sources]), numpy.concatenate([none, *targets])))


@rule("indexed_add")
def _indexed_add(call: Call) -> Linear:
    """x stays in place, and updates are added at the places that a gather with the same indices reads."""
    read = to_host_arrays(call.constant(1))
    if read is None:
        raise NotLinear
    x, update = call.template(0), call.template(2)
    parts = []
    if 0 in call.dependent:
        parts.append(call.value(0))
    if 2 in call.dependent:
        bare = Template(x.shape, int64)
        wide = Template((*call.template(1).shape[:-1], *x.shape[call.template(1).shape[-1] :]), int64)
        options = {"mode": call.node.options["mode"]}
        kernel = primitive_kernel(get_backend("numpy"), "gather", wide, [bare, call.template(1)], options)
        destinations = numpy.asarray(kernel(_numbers(x) + 1, read[0])).reshape(-1)
        source = numpy.broadcast_to(_numbers(update), wide.shape).reshape(-1)
        inside = numpy.flatnonzero(destinations)
        parts.append(call.contribution(2, Links(source[inside], destinations[inside] - 1)))
    return sum_linear(parts, call.width)


# Sums of products


@rule("dot")
def _dot(call: Call) -> Linear:
    """Makes a link for each product of an element of one operand with an element of the other."""
    if len(call.dependent) > 1:
        raise NotLinear
    (position,) = call.dependent
    options: Any = call.node.options
    own_keys, other_keys = (("contract1", "batch1"), ("contract2", "batch2"))[:: 1 if position == 0 else -1]
    x, w = call.template(position), call.template(1 - position)
    contract, batch = options[own_keys[0]], options[own_keys[1]]
    paired, batched = options[other_keys[0]], options[other_keys[1]]
    free = [axis for axis in range(x.ndim) if axis not in (*contract, *batch)]
    others = [axis for axis in range(w.ndim) if axis not in (*paired, *batched)]
    # The axes of all products: batch axes, the free axes of both operands in the result's order, contracted axes.
    order = [*batch, *free, *contract]
    source = _numbers(x).transpose(order)
    after = len(batch) + len(free)
    constant = permute_dims(call.constant(1 - position).rename(*(None,) * w.ndim), (*batched, *others, *paired))
    for place in range(len(others)):
        source = numpy.expand_dims(source, (after if position == 0 else len(batch)) + place)
    for place in range(len(free)):
        constant = expand_dims(constant, axis=(len(batch) if position == 0 else len(batch) + len(others)) + place)
    space = numpy.broadcast_shapes(source.shape, constant.shape)
    depth = prod(x.shape[axis] for axis in contract)
    target = numpy.repeat(numpy.arange(call.out.size), depth)
    source = numpy.broadcast_to(source, space).reshape(-1)
    return call.contribution(position, Links(source, target, reshape(broadcast_to(constant, space), (prod(space),))))


@rule("conv")
def _conv(call: Call) -> Linear:
    """Makes a link for each element of a window: convolving numbers with a one-hot kernel finds it."""
    kernel_template = call.template(1)
    weights = call.constant(1).rename(*(None,) * kernel_template.ndim)
    x, out = Template(call.template(0).shape, float64), Template(call.out.shape, float64)
    shape = kernel_template.shape
    convolve = primitive_kernel(get_backend("numpy"), "conv", out, [x, Template(shape, float64)], call.node.options)
    numbers = _numbers(x) + 1.0
    parts = []
    for tap in numpy.ndindex(*shape[1:]):
        one = numpy.zeros(shape)
        one[(slice(None), *tap)] = 1
        origins = numpy.rint(numpy.asarray(convolve(numbers, one))).astype("int64").reshape(-1)
        target = numpy.flatnonzero(origins)
        of_channels = weights[(slice(None), *tap)]
        wide = _flat(reshape(of_channels, (shape[0], *(1,) * (len(shape) - 2))), call.out.shape)
        of_targets = take_at(wide, index_tensor(target, wide), axis=0, mode="clip")
        parts.append(call.contribution(0, Links(origins[target] - 1, target, of_targets)))
    return (
        sum_linear(parts, call.width)
        if parts
        else call.contribution(0, Links(numpy.zeros(0, int), numpy.zeros(0, int)))
    )
