"""XLA's own figures for a graph on a mesh, which a separate process compiles for virtual devices of the host.

    figures([(graph, layout)])        starts `python -m tensorbackend.backends.jax_backend.virtual`, which reads
                                      graphs, meshes and rules from standard input and writes XLA's figures

Nothing is run, and the arguments are templates, so that the mesh may have more devices than the machine.
The collectives are read from the text of the program, which has the body of a loop once, with the number of its runs.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, Final, cast

from ...costs.mesh.collectives import KINDS, Collective, Compiled, Kind
from ...dtypes import DType, as_dtype
from ...errors import BackendError, DTypeError, expected
from ...expr.graph import Graph
from ...expr.graph_pickle import from_bytes, to_bytes
from ...interchange import numpy_dtype
from ...mesh import Layout, Mesh
from ...select import get_backend

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


MARK = b"\nfigures: "
"""The mark on standard output between anything that the libraries print and the pickled figures."""


def figures(pairs: Sequence[tuple[Graph, Layout]]) -> list[Compiled]:
    """XLA's figures for graphs, the arguments and results of each laid out by the layout next to it."""
    packed = [(dict(layout.mesh.sizes), layout.rules, to_bytes(graph)) for graph, layout in pairs]
    most = max(layout.mesh.size for _, layout in pairs)
    environment = os.environ | {
        "JAX_PLATFORMS": "cpu",
        "NPROC": "32",
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={most}",
    }
    command = [sys.executable, "-m", __name__]
    done = subprocess.run(
        command, input=pickle.dumps((sys.path, packed)), env=environment, capture_output=True, check=False
    )
    _, mark, pickled = done.stdout.partition(MARK)
    if done.returncode or not mark:
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise BackendError(expected("XLA to compile the function for virtual devices", devices=most, error=said))
    answers: list[Compiled] = pickle.loads(pickled)
    return answers


def compile_graph(graph: Graph, layout: Layout) -> Compiled:
    """XLA's figures for a graph; runs in the process that has the virtual devices."""
    import jax

    backend: Any = type(get_backend("jax"))(mesh=layout.mesh, layout=dict(layout.rules))
    struct: Any = jax.ShapeDtypeStruct
    shapes = [struct(x.shape, numpy_dtype(x.dtype), sharding=backend.whole(x)) for x in graph.templates]
    program: Any = jax.jit(backend.program(graph)).lower(*shapes).compile()
    memory = program.memory_analysis()
    return Compiled(
        f"XLA of JAX {jax.__version__} on {layout.mesh.size} virtual devices",
        collectives(program.as_text()),
        memory.argument_size_in_bytes,
        memory.output_size_in_bytes,
        memory.temp_size_in_bytes,
        memory.alias_size_in_bytes,
        program.cost_analysis().get("flops", 0.0),
    )


def main() -> None:
    """Reads what `figures` sends, and writes the answers."""
    path, packed = pickle.load(sys.stdin.buffer)
    sys.path[:] = path
    answers = [compile_graph(from_bytes(data), Layout(Mesh(sizes), rules)) for sizes, rules, data in packed]
    sys.stdout.buffer.write(MARK + pickle.dumps(answers))


if __name__ == "__main__":
    main()
