"""Models for any size of an axis, from models for a few sizes of it.

The function is traced at several sizes. The models must have the same nodes; where sizes among their constants differ,
the constant is computed in the model, from the shape of an input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy
from onnx import NodeProto, TensorProto, helper, numpy_helper
from tensorbackend.errors import UnsupportedOp, expected

from .writer import Name, Shared, Writer

SAMPLES = (5, 7, 11)
"""The sizes at which the first open axis is traced; each further one is traced at sizes of its own."""


def samples(names: Sequence[str]) -> list[dict[str, int]]:
    """The sizes of the open axes in each trace."""
    return [
        {name: size + place * (6 + 4 * number) for place, name in enumerate(names)}
        for number, size in enumerate(SAMPLES)
    ]


class Source(NamedTuple):
    """Where the size of an open axis is found: an input and an axis."""

    name: Name
    axis: int


class Written(NamedTuple):
    """A function as traced at some sizes."""

    writer: Writer
    names: list[Name]
    """The names of the function's arguments."""
    sizes: Mapping[str, int]


def opened(traces: Sequence[Written], sources: Mapping[str, Source]) -> tuple[list[NodeProto], list[TensorProto]]:
    """The nodes and constants of a model whose open axes may have any size.

    Raises
    ------
    UnsupportedOp
        The models differ in more than sizes, or a size is not a sum of multiples of open ones.
    """
    first = traces[0]
    for trace in traces[1:]:
        _check_alike(first.writer, trace.writer)
    before: list[NodeProto] = []
    constants: list[TensorProto] = []
    sized: dict[str, Name] = {}
    for name, constant in first.writer.shared.constants.items():
        arrays = [trace.writer.shared.constants[name].array for trace in traces]
        if all(array.shape == arrays[0].shape and array.tobytes() == arrays[0].tobytes() for array in arrays[1:]):
            constants.append(_tensor(name, arrays[0]))
            continue
        if not constant.sizes or any(array.shape != arrays[0].shape for array in arrays):
            raise _differs(f"numbers that depend on the size of an open axis, in {constant.where}")
        entries = []
        for place, values in enumerate(zip(*(array.tolist() for array in arrays), strict=True)):
            rule = _rule(values, [trace.sizes for trace in traces])
            if rule is None:
                raise _differs(
                    f"sizes {list(values)} at {[dict(trace.sizes) for trace in traces]}, in {constant.where}"
                )
            entries.append(_computed(f"{name}_{place}", rule, sources, before, constants, sized))
        before.append(helper.make_node("Concat", entries, [name], axis=0))
    return [*before, *first.writer.nodes], constants


Rule = tuple[int, dict[tuple[str, ...], int]]
"""A sum: a number, and what each product of open sizes counts."""


def _rule(values: Sequence[int], sizes: Sequence[Mapping[str, int]]) -> Rule | None:
    """The sum of multiples of open sizes, or of products of two, that has these values."""
    if len(set(values)) == 1:
        return values[0], {}
    names = list(sizes[0])
    terms: list[tuple[str, ...]] = [(name,) for name in names]
    terms += [*combinations(names, 2), *((name, name) for name in names)]
    for term in terms:
        numbers = [int(numpy.prod([given[name] for name in term])) for given in sizes]
        slope, rest = divmod(values[1] - values[0], numbers[1] - numbers[0])
        number = values[0] - slope * numbers[0]
        fits = all(slope * x + number == value for x, value in zip(numbers, values, strict=True))
        if rest == 0 and fits:
            return number, {term: slope}
    for one, other in combinations(names, 2):
        columns = [[given[one], given[other], 1] for given in sizes]
        if abs(numpy.linalg.det(columns)) > 1e-6:
            solved = numpy.linalg.solve(columns, values)
            if numpy.allclose(solved, numpy.round(solved)):
                a, b, number = (round(float(x)) for x in solved)
                return number, {(one,): a, (other,): b}
    return None


def _computed(
    name: Name,
    rule: Rule,
    sources: Mapping[str, Source],
    nodes: list[NodeProto],
    constants: list[TensorProto],
    sized: dict[str, Name],
) -> Name:
    """Write a sum of multiples of sizes, as a tensor of one number."""
    number, terms = rule
    total = f"{name}_0"
    constants.append(_tensor(total, numpy.asarray([number])))
    for place, (term, slope) in enumerate(terms.items()):
        factors = [_size(open_name, sources[open_name], nodes, sized) for open_name in term]
        constants.append(_tensor(f"{name}_{place}_times", numpy.asarray([slope])))
        product = f"{name}_{place}_times"
        for position, factor in enumerate(factors):
            nodes.append(helper.make_node("Mul", [product, factor], [f"{name}_{place}_{position}_product"]))
            product = f"{name}_{place}_{position}_product"
        nodes.append(helper.make_node("Add", [total, product], [f"{name}_{place}_sum"]))
        total = f"{name}_{place}_sum"
    return total


def _size(open_name: str, source: Source, nodes: list[NodeProto], sized: dict[str, Name]) -> Name:
    """The size of an open axis, which is read off an input once."""
    if open_name not in sized:
        sized[open_name] = f"size_of_{open_name}"
        start, end = source.axis, source.axis + 1
        nodes.append(helper.make_node("Shape", [source.name], [sized[open_name]], start=start, end=end))
    return sized[open_name]


def _check_alike(first: Writer, other: Writer) -> None:
    """Raise the error for the first node that is another one at other sizes."""
    places = first.shared.places
    if len(first.nodes) != len(other.nodes) or first.shared.places != other.shared.places:
        rows = zip(places, other.shared.places, strict=False)
        where = next((one for one, two in rows if one != two), places[-1] if places else "the function")
        raise _differs(f"other ops at other sizes, from {where} on")
    for node, twin in zip(first.nodes, other.nodes, strict=True):
        if node.SerializeToString(deterministic=True) != twin.SerializeToString(deterministic=True):
            raise _differs(f"{node.op_type} that depends on the size of an open axis, {_place(first.shared, node)}")


def _place(shared: Shared, node: NodeProto) -> str:
    return f"node {node.name}" if not shared.places else f"node {node.name} of {len(shared.places)}"


def _differs(what: str) -> UnsupportedOp:
    return UnsupportedOp(expected("ops that are the same at every size", "leave the axis out of open=", got=what))


def _tensor(name: Name, array: numpy.ndarray) -> TensorProto:
    return numpy_helper.from_array(array, name)
