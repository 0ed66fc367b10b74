"""A process with four virtual devices, which calls collectives on two meshes: what `collectives.py` compares.

Each line that it reads is a list of numbers, and each line that it writes holds the results on all devices. A mesh
has one program for all calls, so that XLA compiles two.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import permutations
from typing import Any

import tensorbackend as tb

MESHES = {"four": {"p": 4}, "square": {"p": 2, "q": 2}}
SHAPE = (8, 4)
"""The size of x, whose first axis is divided over all devices."""
ALIKE = ["psum", "pmean", "pmax", "pmin"]


def orders(mesh: str) -> list[tuple[str, ...]]:
    """One or more axes of a mesh in each order."""
    axes = [*MESHES[mesh]]
    return [order for count in range(1, len(axes) + 1) for order in permutations(axes, count)]


def cases(mesh: str) -> dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """The calls on a mesh: each a function, the mesh axes, and options. A single axis comes as a str and as a tuple."""
    every: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
    for order in orders(mesh):
        axes: Any = order[0] if order == ("p",) else order
        every += [(name, (axes,), {}) for name in [*ALIKE, "axis_index"]]
        every += [
            (name, (axes,), {"axis": axis}) for name in ("all_gather", "psum_scatter") for axis in (0, 1, "m", -1)
        ]
        ends = [(0, 1), (1, 0), ("m", "m"), (-1, 0)]
        every += [("all_to_all", (axes,), {"split_axis": split, "concat_axis": concat}) for split, concat in ends]
    return {repr(case): case for case in every}


def mapped(mesh: str) -> Callable[[Any], Any]:
    """A function of the numbers that returns what each call gives on each device."""
    grid = tb.Mesh(MESHES[mesh])
    rules = {"n": tuple(MESHES[mesh]), "device": tuple(MESHES[mesh])}
    backend = tb.JaxBackend(mesh=grid, layout=rules)

    def every(part: tb.Tensor) -> dict[str, tb.Tensor]:
        # Parts of two rows are too few for four devices, so each device has four: its own, and their squares.
        own = tb.concat([part, part * part], axis=0).rename("k", "m")
        results: dict[str, tb.Tensor] = {}
        for key, (name, arguments, options) in cases(mesh).items():
            function: Any = getattr(tb, name)
            out = function(*arguments) if name == "axis_index" else function(own, *arguments, **options)
            results[key] = tb.expand_dims(out.rename(*[None] * out.ndim), axis=0).rename("device", *[None] * out.ndim)
        results["rows"] = 2 * part + tb.axis_index([*MESHES[mesh]])
        results["total"] = tb.psum(tb.sum(part), [*MESHES[mesh]])
        return results

    def squares(part: tb.Tensor) -> tb.Tensor:
        return tb.psum(tb.sum(part * part), [*MESHES[mesh]])

    mapped_every: Any = tb.shard_map(mesh=grid, layout=rules)(every)
    if mesh == "four":
        mapped_every = tb.shard_map(every, mesh=grid, layout=rules)

    @tb.jit
    def program(x: tb.Tensor) -> dict[str, tb.Tensor]:
        slope = tb.grad(tb.shard_map(squares, mesh=grid, layout=rules))(x)
        return {**mapped_every(x), "slope": slope}

    return lambda numbers: program(tb.asarray(numbers, dtype="float32", names=("n", "m"), backend=backend))


def main() -> None:
    programs = {mesh: mapped(mesh) for mesh in MESHES}
    for line in sys.stdin:
        mesh, numbers = json.loads(line)
        results = {key: x.tolist() for key, x in programs[mesh](numbers).items()}
        print(json.dumps(results), flush=True)


if __name__ == "__main__":
    main()
