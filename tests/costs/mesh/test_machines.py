"""Times that the model of a machine predicts."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.costs.mesh.machines import MACHINES, Machine, machine_of, span
from tensorbackend.errors import ArgumentError


def on_mesh(function: Any, *templates: Any, **options: Any) -> Any:
    return tb.dry_run(function, *templates, **options).on_mesh


@pytest.mark.parametrize("name", MACHINES)
def test_each_machine_has_its_source(name: str) -> None:
    machine = machine_of(name)
    assert "data sheet" in machine.source
    assert machine.link > machine.network
    with pytest.raises(ArgumentError, match="a machine among h100, h200"):
        machine_of("h1000")


def test_ops_take_as_long_as_flops_or_memory_say() -> None:
    mesh = tb.Mesh({"data": 1})
    h100: Machine = machine_of("h100")
    product = on_mesh(lambda x, y: x @ y, "bf16[8192, 8192]", "bf16[8192, 8192]", mesh=mesh)
    rate = next(rate for dtype, rate in h100.products.items() if dtype.alias == "bf16")
    assert product.time.total == pytest.approx(2 * 8192**3 / rate)
    copied = on_mesh(tb.exp, "f32[1000000]", mesh=mesh)
    assert copied.time.total == pytest.approx(8e6 / h100.bandwidth)
    # Values between elementwise ops are not moved to memory and back.
    chain = on_mesh(lambda x: tb.exp(tb.exp(tb.exp(x))), "f32[1000000]", mesh=mesh)
    assert chain.time.total == pytest.approx(8e6 / h100.bandwidth)
    h200 = on_mesh(tb.exp, "f32[1000000]", mesh=mesh, machine="h200")
    assert h200.time.total < copied.time.total


def test_collectives_take_links_inside_a_node_and_the_network_beyond() -> None:
    machine = machine_of("h100")
    mesh = tb.Mesh({"data": 4, "model": 8})
    rules = {"batch": "data", "hidden": "model"}
    x = "f32[batch=64, hidden=64]"
    inside = on_mesh(lambda x: tb.sum(x, axis="hidden"), x, mesh=mesh, layout=rules).time
    assert (inside.links, inside.network) == (pytest.approx(2 * 7 / 8 * 64 / machine.link), 0)
    across = on_mesh(lambda x: tb.sum(x, axis="batch"), x, mesh=mesh, layout=rules).time
    assert (across.links, across.network) == (0, pytest.approx(2 * 3 / 4 * 32 / machine.network))


def test_neighbours_are_those_of_the_last_axes() -> None:
    mesh = tb.Mesh({"a": 2, "b": 4, "c": 8})
    assert [span(mesh, axes) for axes in (["c"], ["b"], ["a"], ["b", "c"], ["a", "c"])] == [8, 32, 64, 32, 64]
