"""The collectives in the text of an XLA program, which has the body of a loop once, with the number of its runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, Final, cast

from ...dtypes import DType, as_dtype
from ...errors import DTypeError
from ...expr.cost.mesh.collectives import KINDS, Collective, Kind

_COMPUTATION = re.compile(r"^(?P<entry>ENTRY )?%?(?P<name>[\w.\-]+) \(.*\{\s*$")
_COLLECTIVE = re.compile(rf"= (?P<result>.*?) (?P<kind>{'|'.join(KINDS)})(?P<start>-start)?\(")
_CALLED = re.compile(r"(?:body|condition|to_apply|calls|true_computation|false_computation)=%?([\w.\-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
_TRIP_COUNT = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_ARRAY = re.compile(r"(\w+)\[([\d,]*)\]")
_LISTED = re.compile(r"(?:replica_groups|source_target_pairs)=\{\{([\d,]*)\}")
_COUNTED = re.compile(r"replica_groups=\[(\d+),(\d+)\]")
_NAMED = re.compile(r"replica_groups=mesh\[(.*?)\] ?\{(.*?)\}")
_SIZE = re.compile(r"'(\w+)'=(\d+)")
_PART = re.compile(r"'(\w+)'(?::\(\d+\)(\d+))?")
_WHERE = re.compile(r'op_name="([^"]*)"')

_BYTES: Final = {"pred": 1, "s4": 1, "u4": 1}


def collectives(text: str) -> tuple[Collective, ...]:
    """The collectives of a program, each with the number of times that it runs."""
    bodies, entry = _computations(text)
    return tuple(_collectives_of(bodies, entry, 1))


def _computations(text: str) -> tuple[Mapping[str, list[str]], str]:
    """The lines of each computation by its name, and the name of the entry computation."""
    bodies: dict[str, list[str]] = {}
    entry, name = "", ""
    for line in text.splitlines():
        match = _COMPUTATION.match(line)
        if match is not None:
            name = match["name"]
            bodies[name] = []
            entry = name if match["entry"] else entry
        elif name:
            bodies[name].append(line)
    return bodies, entry


def _collectives_of(bodies: Mapping[str, list[str]], name: str, count: int) -> Iterator[Collective]:
    """The collectives of a computation that runs `count` times, and of the computations that it calls."""
    for line in bodies.get(name, ()):
        match = _COLLECTIVE.search(line)
        if match is not None:
            yield _collective(line, match, count)
            continue  # the computation that it calls only combines two numbers
        called = [*_CALLED.findall(line)]
        for several in _BRANCHES.findall(line):
            called += [branch.strip().lstrip("%") for branch in several.split(",")]
        iterations = _TRIP_COUNT.search(line)
        for callee in called:
            yield from _collectives_of(bodies, callee, count * (int(iterations[1]) if iterations else 1))


def _collective(line: str, match: re.Match[str], count: int) -> Collective:
    """The collective in a line."""
    kind = cast(Kind, match["kind"])
    arrays = [_nbytes(alias, shape) for alias, shape in _ARRAY.findall(match["result"])]
    if match["start"] and kind == "all-gather":
        arrays = arrays[len(arrays) // 2 :]  # the results come after the operands
    devices = _devices(line)
    nbytes = sum(arrays) * (devices if kind == "reduce-scatter" else 1)
    where = _WHERE.search(line)
    return Collective(kind, (), devices, nbytes, count, where[1] if where else "", None)


def _devices(line: str) -> int:
    """The number of devices of a group, in any of the three ways in which XLA writes groups."""
    counted, listed, named = _COUNTED.search(line), _LISTED.search(line), _NAMED.search(line)
    if named is not None:
        sizes = dict(_SIZE.findall(named[1]))
        return prod(int(part or sizes[axis]) for axis, part in _PART.findall(named[2]))
    if counted is not None:
        return int(counted[2])
    return len(listed[1].split(",")) if listed is not None else 1


def _nbytes(alias: str, shape: str) -> int:
    """The bytes of an array; `alias` is XLA's name for its dtype."""
    size = prod(int(digits) for digits in shape.split(",") if digits)
    if alias in _BYTES:
        return size * _BYTES[alias]
    try:
        dtype: Any = as_dtype(alias)
    except DTypeError:  # a token, or a dtype that we do not have
        return 0
    assert isinstance(dtype, DType)  # `as_dtype` returns nothing else
    return size * dtype.itemsize
