"""Oracles of sums of products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

import tensorbackend as tb
from tensorbackend.dtypes import DType
from tensorbackend.testing import Invocation, calls
from tensorbackend.testing.strategies import Draw

from .table import named, reference, wide

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def products(subscripts: str, *arrays: Any) -> Any:
    """NumPy's sum of products; that of complex numbers part by part, for infinities and NaN too."""
    dtype = numpy.result_type(*arrays)
    if len(arrays) == 1 or dtype.kind != "c":
        return numpy.einsum(subscripts, *(array.astype(dtype) for array in arrays))
    # One product after another, as its parts are not those of NumPy's fused steps.
    terms, _, result = subscripts.partition("->")
    lists = terms.split(",")
    letters = "".join(dict.fromkeys("".join(lists)))
    sizes = {letter: size for term, array in zip(lists, arrays, strict=True)
             for letter, size in zip(term, array.shape, strict=True)}  # fmt: skip
    product: Any = None
    for term, array in zip(lists, arrays, strict=True):
        alone = "".join(dict.fromkeys(term))
        full = numpy.einsum(f"{term}->{''.join(letter for letter in letters if letter in alone)}", array)
        shape = [sizes[letter] if letter in alone else 1 for letter in letters]
        factor = full.reshape(shape)
        product = factor if product is None else multiply(product, factor)
    product = numpy.broadcast_to(product, [sizes[letter] for letter in letters])
    return numpy.einsum(f"{letters}->{result}", product)


def multiply(x: Any, y: Any) -> Any:
    """The products of complex numbers by their definition, for infinities and NaN too."""
    x, y = numpy.broadcast_arrays(x.astype(complex), y.astype(complex))
    out = numpy.empty(x.shape, complex)
    out.real, out.imag = x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real
    return out


def places(x: tb.Tensor, axes: Sequence[Any]) -> list[int]:
    """The positions of axes given by position or name."""
    return [x.names.index(axis) if isinstance(axis, str) else axis % x.ndim for axis in axes]


def paired(x1: tb.Tensor, x2: tb.Tensor, contract: Any, batch: Any) -> Any:
    """The sum of products over pairs of positions: batch axes, then those of x1, then those of x2."""
    left, right = list(LETTERS[: x1.ndim]), list(LETTERS[x1.ndim : x1.ndim + x2.ndim])
    for first, second in zip([*contract[0], *batch[0]], [*contract[1], *batch[1]], strict=True):
        right[second] = left[first]
    stays = [left[axis] for axis in batch[0]]
    free1 = [axis for axis in range(x1.ndim) if axis not in [*contract[0], *batch[0]]]
    free2 = [axis for axis in range(x2.ndim) if axis not in [*contract[1], *batch[1]]]
    result = stays + [left[axis] for axis in free1] + [right[axis] for axis in free2]
    names = [
        *(x1.names[first] or x2.names[second] for first, second in zip(*batch, strict=True)),
        *(x1.names[axis] for axis in free1),
        *(x2.names[axis] for axis in free2),
    ]
    subscripts = f"{''.join(left)},{''.join(right)}->{''.join(result)}"
    return named(products(subscripts, wide(x1), wide(x2)), names)


@reference("dot", by="NumPy", raw=True)
def dot(call: Invocation) -> Any:
    x1, x2 = call.arguments
    contract, batch = call.options["contract"], call.options.get("batch")
    by_name = isinstance(contract, str | set)
    if by_name:
        contract = {contract} if isinstance(contract, str) else contract
        contract = [name for name in x1.names if name in contract]
        contract = (contract, contract)
    if batch is None:
        common = [name for name in x1.names if name and name in x2.names and name not in contract[0]]
        batch = (common, common) if by_name else ([], [])
    elif isinstance(batch, set):
        ordered = [name for name in x1.names if name in batch]
        batch = (ordered, ordered)
    pairs = [(places(x1, axes[0]), places(x2, axes[1])) for axes in (contract, batch)]
    return paired(x1, x2, *pairs)


@reference("tensordot", by="NumPy", raw=True)
def tensordot(call: Invocation) -> Any:
    x1, x2 = call.arguments
    axes = call.options.get("axes", 2)
    pairs = (range(x1.ndim - axes, x1.ndim), range(axes)) if isinstance(axes, int) else axes
    return paired(x1, x2, (places(x1, pairs[0]), places(x2, pairs[1])), ([], []))


def lined_up(*names: Sequence[str | None]) -> list[str | None]:
    """The names of axes that broadcast, counted from the last one."""
    rank = max(map(len, names))
    columns = zip(*((None,) * (rank - len(each)) + tuple(each) for each in names), strict=True)
    return [next((name for name in column if name), None) for column in columns]


@reference("matmul", by="NumPy", raw=True)
def matmul(call: Invocation) -> Any:
    x1, x2 = call.arguments
    left, right = wide(x1), wide(x2)
    rows = left if left.ndim > 1 else left[None]
    columns = right if right.ndim > 1 else right[:, None]
    lead = numpy.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
    rows = numpy.broadcast_to(rows, (*lead, *rows.shape[-2:]))
    columns = numpy.broadcast_to(columns, (*lead, *columns.shape[-2:]))
    at = LETTERS[: len(lead)]
    out = products(f"{at}xy,{at}yz->{at}xz", rows, columns)
    names = lined_up(x1.names[:-2], x2.names[:-2])
    if left.ndim > 1:
        names.append(x1.names[-2])
    if right.ndim > 1:
        names.append(x2.names[-1])
    out = out if left.ndim > 1 else out.squeeze(-2)
    return named(out if right.ndim > 1 else out.squeeze(-1), names)


@reference("vecdot", by="NumPy", raw=True)
def vecdot(call: Invocation) -> Any:
    axis = call.options.get("axis", -1)
    arrays, names = [], []
    for x in call.arguments:
        (at,) = places(x, [axis])
        arrays.append(numpy.moveaxis(wide(x), at, -1))
        names.append([name for place, name in enumerate(x.names) if place != at])
    left, right = numpy.broadcast_arrays(*arrays)
    lead = LETTERS[: left.ndim - 1]
    return named(products(f"{lead}z,{lead}z->{lead}", left.conj(), right), lined_up(*names))


@reference("outer", by="NumPy", raw=True)
def outer(call: Invocation) -> Any:
    x1, x2 = call.arguments
    left, right = wide(x1), wide(x2)
    left = left.reshape((*left.shape, *(1,) * right.ndim))
    dtype = numpy.result_type(left, right)
    # Multiplied rather than summed, so that the sign of a zero stays.
    out = multiply(left, right) if dtype.kind == "c" else left.astype(dtype) * right.astype(dtype)
    return named(out, [*x1.names, *x2.names])


def finite_products(draw: Draw, dtype: DType) -> Invocation:
    """The kit's calls, with finite numbers where there are products: the order of sums decides on the others."""
    call: Invocation = draw(calls("einsum", dtype))
    if len(call.tensors) == 1:
        return call

    def finite(x: tb.Tensor) -> tb.Tensor:
        if not x.dtype.is_inexact:
            return x
        array = numpy.where(numpy.isfinite(wide(x)), wide(x), 1)
        return tb.asarray(array, dtype=x.dtype, names=x.names, backend="binary")

    return call.mapped(finite)


# A sum of products of three or four tensors, each rounded, and sums before them.
@reference("einsum", by="NumPy", raw=True, draw=finite_products, narrow=4)
def einsum(call: Invocation) -> Any:
    subscripts, *operands = call.arguments
    inputs, arrow, result = subscripts.replace("name", "").replace(" ", "").partition("->")
    terms = inputs.split(",")
    many = [x.ndim - len(term.replace("...", "")) for term, x in zip(terms, operands, strict=True)]
    most = max(many)
    dots = "wxyz"[4 - most :] if most else ""
    arrays, spelt = [], []
    sizes: dict[str, int] = {}
    for term, x, count in zip(terms, operands, many, strict=True):
        letters = term.replace("...", dots[len(dots) - count :])
        for letter, size in zip(letters, x.shape, strict=True):
            sizes[letter] = size if sizes.get(letter, 1) == 1 else sizes[letter]
        arrays.append(wide(x))
        spelt.append(letters)
    for place, letters in enumerate(spelt):
        arrays[place] = numpy.broadcast_to(arrays[place], [sizes[letter] for letter in letters])
    if not arrow:
        counted = [letter for term in terms for letter in term if letter != "."]
        result = dots + "".join(sorted(letter for letter in {*counted} if counted.count(letter) == 1))
    result = result.replace("...", dots)
    known: dict[str, str] = {}
    for letters, x in zip(spelt, operands, strict=True):
        for letter, name in zip(letters, x.names, strict=True):
            if name is not None:
                known.setdefault(letter, name)
    names = [known.get(letter) if "name" not in subscripts else
             None if letter in dots else f"name{letter}" for letter in result]  # fmt: skip
    return named(products(f"{','.join(spelt)}->{result}", *arrays), names)


@reference("kron", by="NumPy")
def kron(x1: Any, x2: Any, /) -> Any:
    rank = max(x1.ndim, x2.ndim)
    x1, x2 = (x.reshape((1,) * (rank - x.ndim) + x.shape) for x in (x1, x2))
    wide1, wide2 = (numpy.expand_dims(x, tuple(range(first, 2 * rank, 2))) for x, first in ((x1, 1), (x2, 0)))
    blocks = multiply(wide1, wide2) if numpy.result_type(x1, x2).kind == "c" else wide1 * wide2
    return blocks.reshape([n * m for n, m in zip(x1.shape, x2.shape, strict=True)])
