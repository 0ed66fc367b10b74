"""Oracles of collectives: NumPy on the parts of all devices, which a process with four virtual devices works on."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Timer
from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.protocol import Backend
from tensorbackend.testing.strategies import Draw

from . import four_devices
from .four_devices import ALIKE, MESHES, SHAPE, cases
from .table import Recorder, law

SECONDS = 600
"""The process is killed when one call takes longer, however loaded the machine is."""


@cache
def process() -> subprocess.Popen[str]:
    """The process, which ends when its input is closed: with this one."""
    import_module("jax")  # as some Pythons lack it: conftest.py reads the error
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    # With fewer threads than devices, simultaneous collectives may time out in XLA, which ends the process.
    environment = os.environ | {"XLA_FLAGS": flags, "NPROC": "32", "JAX_PLATFORMS": "cpu"}
    # -P, as a script's folder would come first on the path: here it has modules like Python's own, `random` among them.
    command = [sys.executable, "-P", str(Path(four_devices.__file__))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def results(mesh: str, numbers: list[list[float]]) -> dict[str, Any]:
    """What all calls give on all devices of a mesh, for numbers of the shape `SHAPE`."""
    child = process()
    assert child.stdin is not None
    assert child.stdout is not None
    timer = Timer(SECONDS, child.kill)
    timer.start()
    try:
        print(json.dumps([mesh, numbers]), file=child.stdin, flush=True)
        answer = child.stdout.readline()
    finally:
        timer.cancel()
    assert answer, "the process with four devices has ended"
    out: dict[str, Any] = json.loads(answer)
    return out


def drawn(draw: Draw) -> tuple[str, Any, dict[str, Any]]:
    """A mesh, quarters of which sums are exact, and what the calls give."""
    mesh, size = draw(st.sampled_from([*MESHES])), math.prod(SHAPE)
    quarters = st.integers(-16, 16).map(lambda whole: whole / 4)
    numbers = numpy.array(draw(st.lists(quarters, min_size=size, max_size=size))).reshape(SHAPE)
    return mesh, numbers, results(mesh, numbers.tolist())


def groups(mesh: str, axes: tuple[str, ...]) -> list[list[int]]:
    """For each device the devices along mesh axes, in order; the position along the last of these changes fastest."""
    names, sizes = [*MESHES[mesh]], tuple(MESHES[mesh].values())
    grid = numpy.arange(math.prod(sizes)).reshape(sizes)
    places = [names.index(axis) for axis in axes]
    rest = [place for place in range(len(sizes)) if place not in places]
    rows = grid.transpose(rest + places).reshape(-1, math.prod(sizes[place] for place in places))
    return [next(row for row in rows.tolist() if device in row) for device in range(grid.size)]


def position(axis: Any) -> int:
    return {"k": 0, "m": 1}[axis] if isinstance(axis, str) else axis % 2


def on_device(name: str, tensors: list[Any], rank: int, options: dict[str, Any]) -> Any:
    """What a collective gives on the device of a rank in a group that holds these tensors."""
    whole = numpy.stack(tensors)
    if name in ALIKE:
        reductions: dict[str, Any] = {"psum": numpy.sum, "pmean": numpy.mean, "pmax": numpy.max, "pmin": numpy.min}
        return reductions[name](whole, axis=0)
    if name == "all_gather":
        return numpy.concatenate(tensors, axis=position(options["axis"]))
    if name == "psum_scatter":
        return numpy.split(whole.sum(axis=0), len(tensors), axis=position(options["axis"]))[rank]
    if name == "all_to_all":
        sent = [numpy.split(each, len(tensors), axis=position(options["split_axis"]))[rank] for each in tensors]
        return numpy.concatenate(sent, axis=position(options["concat_axis"]))
    return rank  # axis_index


@law(*ALIKE, "all_gather", "psum_scatter", "all_to_all", "axis_index", by="NumPy")
def collective(draw: Draw, run: Recorder, backend: Backend) -> None:
    mesh, numbers, out = drawn(draw)
    parts = numpy.split(numbers, 4)
    own = [numpy.concatenate([part, part * part]) for part in parts]
    for key, (name, arguments, options) in cases(mesh).items():
        if name != run.name:
            continue
        run.note(*arguments if name == "axis_index" else ("x", *arguments), **options)
        axes = arguments[0] if isinstance(arguments[0], tuple) else arguments
        for device, group in enumerate(groups(mesh, axes)):
            wanted = on_device(name, [own[member] for member in group], group.index(device), options)
            numpy.testing.assert_array_equal(out[key][device], wanted, err_msg=f"{key} on device {device}")


@law("shard_map", by="NumPy")
def shard_map(draw: Draw, run: Recorder, backend: Backend) -> None:
    mesh, numbers, out = drawn(draw)
    # One mesh maps a function, the other has it decorated.
    run.note(*["function"] * (mesh == "four"), mesh=tb.Mesh(MESHES[mesh]), layout={})
    numpy.testing.assert_array_equal(out["total"], numpy.sum(numbers))
    numpy.testing.assert_array_equal(out["rows"], 2 * numbers + numpy.repeat(numpy.arange(4), 2)[:, None])
    numpy.testing.assert_array_equal(out["slope"], 2 * numbers)
