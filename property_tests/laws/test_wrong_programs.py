"""Tests of the check by programs: each control is a backend whose fault no call of a single op shows."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.dtypes import as_dtype
from tensorbackend.extending import Graph, kernel_of_graph
from tensorbackend.protocol import Backend, Kernel, kernel_of, planned
from tensorbackend.testing import check_pair
from tensorbackend.testing.program_source import FILE
from tensorbackend.testing.programs import KINDS

PROGRAMS = 600
"""The most programs that a fault may take: which ones are drawn depends on the ops that other tests have registered."""


class Overwrites(tb.NumpyBackend):
    """A compiled write takes the memory of its operand, whoever else reads it."""

    name = "overwrites"

    def overwriting(self, name: str, out: Any, inputs: Any, options: Any, /) -> Kernel | None:
        starts = options["starts"] if name == "put_slice" else ()
        if not starts or not all(isinstance(start, int) for start in starts):
            return super().overwriting(name, out, inputs, options)
        place = tuple(slice(start, start + size) for start, size in zip(starts, inputs[1].shape, strict=True))

        def write(data: Any, update: Any) -> Any:
            base = data if data.flags.writeable else data.copy()
            for row in numpy.ndindex(update.shape[:1]):  # an update that is a view of it is read after it is written
                base[place][row] = update[row]
            return base

        return write


class FusedSum(tb.NumpyBackend):
    """Adds up four elements at a time where it compiles a sum with what is summed, and leaves out the rest."""

    name = "fused_sum"

    def compile_graph(self, graph: Graph, /, *, donated: Sequence[int] = ()) -> Kernel:
        if not donated and " sum " in str(graph) and len(graph.nodes) > 2:
            return kernel_of_graph(graph, SumOfFours())
        return super().compile_graph(graph, donated=donated)


class SumOfFours(tb.NumpyBackend):
    """Adds up along the last axis without what is left of blocks of four."""

    name = "sum_of_fours"

    @planned
    def sum(self, out: tb.Template, x: tb.Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        kernel = kernel_of(super().sum, out, x, axes=axes, keepdims=keepdims)
        size = x.shape[-1] if x.ndim - 1 in axes else 0
        return (lambda data: kernel(data[..., : size - size % 4])) if size > 4 else kernel


class ForwardScan(tb.NumpyBackend):
    """Runs each scan forwards."""

    name = "forward_scan"

    def optional(self, name: str, args: Any, default_impl: Callable[..., Any]) -> Any:
        if name == "scan" and args.options["reverse"]:
            args = args._replace(options={**args.options, "reverse": False})
        return super().optional(name, args, default_impl)


WRONG: dict[type[Backend], tuple[str, str]] = {
    Overwrites: ("writes", "float32"),
    FusedSum: ("reductions", "float32"),
    ForwardScan: ("loops", "float32"),
}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: str(wrong.name))
def test_a_fault_that_only_programs_show_is_found(wrong: type[Backend]) -> None:
    kind, dtype = WRONG[wrong]
    tb.register_backend(wrong)
    pair = check_pair(wrong(), kind, as_dtype(dtype), examples=PROGRAMS)
    assert (pair.family, pair.status) == ("programs", "fail"), pair
    assert pair.kind in ("value", "mutation")
    assert 0 < pair.judged < pair.examples  # the smaller ones come after it
    body = pair.script.partition("def program")[2].partition("return")[0]
    assert len(body.splitlines()) <= 8, pair.script
    compile(pair.script, FILE, "exec")
    linecache.checkcache()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_right_backend_is_not_caught(backend: str, kind: str) -> None:
    pair = check_pair(tb.get_backend(backend), kind, tb.float32, examples=8)
    assert pair.status == "pass", f"{pair.detail}\n{pair.script}"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "gradients"])
def test_numpy_is_not_caught_in_whole_numbers(kind: str) -> None:
    pair = check_pair(tb.get_backend("numpy"), kind, tb.int32, examples=40, start=7)
    assert pair.status == "pass", f"{pair.detail}\n{pair.script}"
