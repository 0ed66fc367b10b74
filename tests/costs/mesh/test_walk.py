"""The program of one device: how values are divided, which collectives run, and how often."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.costs.mesh.collectives import Collective, bytes_by_kind
from tensorbackend.costs.mesh.walk import DeviceProgram, Walk, flat
from tensorbackend.mesh import Layout

MESH = tb.Mesh({"data": 4, "model": 2})
RULES = {"batch": "data", "hidden": "model"}


def divided(function: Callable[..., Any], *templates: Any, rules: Any = RULES, mesh: tb.Mesh = MESH) -> DeviceProgram:
    return Walk(Layout(mesh, rules)).divided(flat(tb.trace(function)(*templates)))


def together(program: DeviceProgram) -> list[tuple[str, tuple[str, ...], int, int]]:
    """Return the kind, mesh axes, bytes and runs of each collective."""
    return [
        (collective.kind, collective.axes, collective.nbytes, collective.runs) for collective in program.collectives
    ]


X = "f32[batch=16, hidden=6]"


@pytest.mark.parametrize(
    ("function", "templates", "collectives", "layout"),
    [
        (lambda x: x + x, (X,), [], (("data",), ("model",))),
        (lambda x: tb.sum(x, axis="batch"), (X,), [("all-reduce", ("data",), 12, 1)], (("model",),)),
        (tb.sum, (X,), [("all-reduce", ("data", "model"), 4, 1)], ()),
        (lambda x: tb.max(x, axis="hidden"), (X,), [("all-reduce", ("model",), 16, 1)], (("data",),)),
        # An op that needs the whole of an axis gathers it.
        (lambda x: tb.sort(x, axis="batch"), (X,), [("all-gather", ("data",), 192, 1)], (("data",), ("model",))),
        (lambda x: x[3:9], (X,), [("all-gather", ("data",), 192, 1)], ((), ("model",))),
        # An axis whose new name has no rule is gathered. Axes that exchange names are exchanged.
        (lambda x: x.rename("time", "hidden"), (X,), [("all-gather", ("data",), 192, 1)], ((), ("model",))),
        (lambda x: x.rename("hidden", "batch"), ("f32[batch=16, hidden=8]",),
         [("all-to-all", ("data", "model"), 64, 1)], (("model",), ("data",))),
        # Each device has the whole value, so it takes its part without a collective.
        (lambda x: x.rename("batch"), ("f32[other=16]",), [], (("data",),)),
        # Products: contract a divided axis, divide each operand along another mesh axis, contract the batch axis.
        (lambda x, w: tb.dot(x, w, contract=(["hidden"], ["hidden"])), (X, "f32[hidden=6, out=8]"),
         [("all-reduce", ("model",), 4 * 8 * 4, 1)], (("data",), ())),
        (lambda x, w: tb.dot(x, w, contract=(["time"], ["time"])), ("f32[batch=16, time=5]", "f32[time=5, hidden=6]"),
         [], (("data",), ("model",))),
        (lambda x, w: tb.dot(x, w, contract=(["batch"], ["batch"])), (X, "f32[batch=16, out=8]"),
         [("all-reduce", ("data",), 3 * 8 * 4, 1)], (("model",), ())),
        # Read at indices along a divided axis.
        (lambda t, i: tb.take(t, i, axis="hidden"), ("f32[hidden=64, out=8]", "s64[batch=16]"),
         [("all-reduce", ("model",), 4 * 8 * 4, 1)], (("data",), ())),
        (lambda x, i: tb.take_along_axis(x, i, axis="hidden"), (X, "s64[batch=16, hidden=1]"),
         [("all-reduce", ("model",), 16, 1)], (("data",), ())),
        # An axis without a name is divided like the axes that it comes from, or like those that are made from it.
        (lambda x: tb.reshape(x, (96,)), ("f32[batch=16, time=6]",), [], (("data",),)),
        (lambda x: tb.reshape(x, (12,)).rename("hidden"), ("f32[time=3, feature=4]",), [], (("model",),)),
        (lambda x: tb.reshape(x, (1, 16)), ("f32[batch=16]",), [], ((), ("data",))),
        (lambda x: tb.broadcast_to(x, (16, 6)).rename("batch", "hidden") * 2, ("f32[]",), [], (("data",), ("model",))),
    ],
)  # fmt: skip
def test_what_devices_do_together(function: Any, templates: Any, collectives: Any, layout: Any) -> None:
    program = divided(function, *templates)
    assert together(program) == collectives
    assert program.outside[0] == layout
    assert program.graph.outputs[0].template.shape == tuple(
        size // {(): 1, ("data",): 4, ("model",): 2}[axes]
        for size, axes in zip(tb.trace(function)(*templates).results[0].shape, layout, strict=True)
    )


def test_a_gathered_value_is_gathered_once() -> None:
    program = divided(lambda x: tb.sort(x, axis="batch") + tb.flip(x, axis="batch"), X)
    assert together(program) == [("all-gather", ("data",), 192, 1)]


def test_sums_are_scattered_where_the_result_is_divided() -> None:
    rules = {"batch": "data", "feature": "data"}

    def step(w: tb.Tensor, x: tb.Tensor) -> Any:
        return tb.value_and_grad(lambda w: tb.sum(tb.square(tb.dot(x, w, contract=(["feature"], ["feature"])))))(w)

    program = divided(step, "f32[feature=8, out=4]", "f32[batch=4096, feature=8]", rules=rules)
    nbytes = 8 * 4 * 4
    assert sorted(together(program)) == [
        ("all-gather", ("data",), nbytes, 1),
        ("all-reduce", ("data",), 4, 1),
        ("reduce-scatter", ("data",), nbytes, 1),
    ]
    assert program.outside == ((), (("data",), ()))


def test_a_wider_batch_scatters_over_one_of_its_mesh_axes_and_reduces_over_the_other() -> None:
    rules = {"batch": ("data", "model"), "feature": "model"}
    program = divided(
        lambda x, y: tb.dot(x, y, contract=(["batch"], ["batch"])),
        "f32[batch=4096, feature=8]",
        "f32[batch=4096, out=4]",
        rules=rules,
    )
    assert together(program) == [("reduce-scatter", ("model",), 128, 1), ("all-reduce", ("data",), 64, 1)]


def test_what_is_computed_again_is_gathered_again() -> None:
    def loss(w: tb.Tensor, x: tb.Tensor, keep: bool) -> tb.Tensor:
        def layer(x: tb.Tensor, w: tb.Tensor) -> tb.Tensor:
            return tb.tanh(tb.dot(x, w, contract=(["feature"], ["feature"]))).rename(out="feature")

        return tb.sum((layer if keep else tb.checkpoint(layer))(x, w))

    rules = {"batch": "data", "feature": "data"}
    runs = [
        bytes_by_kind(
            divided(
                lambda w, x, keep=keep: tb.value_and_grad(lambda w: loss(w, tb.tanh(x), keep))(w),
                "f32[feature=8, out=8]",
                "f32[batch=4096, feature=8]",
                rules=rules,
            ).collectives
        )["all-gather"]
        for keep in (True, False)
    ]
    assert runs[1] == 2 * runs[0]


def test_loops_count_each_turn() -> None:
    def layer(x: tb.Tensor, w: tb.Tensor) -> tb.Tensor:
        return tb.tanh(tb.dot(x, w, contract=(["hidden"], ["hidden"])).rename(out="hidden"))

    x, w = "f32[batch=16, hidden=8]", "f32[hidden=8, out=8]"
    once = ("all-reduce", ("model",), 4 * 8 * 4)
    scanned = divided(lambda x, w: tb.scan(lambda c, _: (layer(c, w), c), x, length=7), x, w)
    assert together(scanned) == [(*once, 7)]
    assert scanned.outside == ((("data",), ("model",)), ((), ("data",), ("model",)))
    assert together(divided(lambda x, w: tb.fori_loop(0, 5, lambda i, c: layer(c, w), x), x, w)) == [(*once, 5)]
    endless = divided(lambda x, w: tb.while_loop(lambda c: tb.sum(c) > 0, lambda c: layer(c, w), x), x, w)
    assert sorted(together(endless)) == [("all-reduce", ("data", "model"), 4, 1), (*once, 1)]
    assert endless.work.open
    chosen = divided(lambda x, w: tb.cond(tb.sum(x) > 0, lambda c: layer(c, w), lambda c: c, x), x, w)
    assert sorted(together(chosen)) == [("all-reduce", ("data", "model"), 4, 1), (*once, 1)]


def test_entries_of_a_divided_axis_are_gathered_before_a_scan() -> None:
    program = divided(lambda x: tb.scan(lambda c, v: (c + v, c), tb.sum(x, axis="batch"), x, axis="batch")[0], X)
    assert sorted(together(program)) == [("all-gather", ("data",), 192, 1), ("all-reduce", ("data",), 12, 1)]


def test_what_a_turn_leaves_lies_as_the_next_one_takes_it() -> None:
    def iteration(x: tb.Tensor) -> tb.Tensor:
        return tb.permute_dims(x, (1, 0))  # without names, so its result is divided the other way round

    program = divided(
        lambda x: tb.fori_loop(0, 3, lambda i, c: iteration(c), x.rename(None, None)), "f32[batch=8, hidden=8]"
    )
    assert together(program) == [("all-to-all", ("model", "data"), 32, 3)]


def test_collectives_that_a_user_wrote() -> None:
    @tb.shard_map(mesh=MESH, layout=RULES)
    def by_hand(part: tb.Tensor) -> Any:
        assert part.shape == (4, 3)
        gathered = tb.all_gather(part, "model", axis="hidden")
        scattered = tb.psum_scatter(gathered, "model", axis="hidden")
        exchanged = tb.all_to_all(scattered, "model", split_axis="batch", concat_axis="hidden")
        return tb.psum(tb.sum(exchanged), ("data", "model")) + tb.pmax(tb.max(part), ("data", "model"))

    assert together(divided(by_hand, X)) == [
        ("all-gather", ("model",), 96, 1),
        ("reduce-scatter", ("model",), 96, 1),
        ("all-to-all", ("model",), 48, 1),
        ("all-reduce", ("data", "model"), 4, 1),
        ("all-reduce", ("data", "model"), 4, 1),
    ]


def test_what_the_host_is_called_with_is_gathered() -> None:
    called = divided(lambda x: tb.host_call(lambda v: v + 1, tb.Template((16, 6), "f32", ("batch", "hidden")), x), X)
    assert together(called) == [("all-gather", ("data", "model"), 384, 1)]
    assert called.outside == ((("data",), ("model",)),)


def test_each_collective_has_the_users_line() -> None:
    (collective,) = divided(lambda x: tb.sum(x, axis="batch"), X).collectives
    assert collective.op == "sum"
    assert collective.line is not None
    assert Path(collective.line.file).name == "test_walk.py"


def test_memory_is_that_of_parts() -> None:
    program = divided(lambda x, w: tb.sum(tb.exp(x), axis="batch") + w, X, "f32[hidden=6]")
    # The parameters have 4 x 3 and 3 numbers. At the peak there are also the 4 x 3 exponentials and their 3 sums.
    assert program.timeline.parameters == 48 + 12
    assert program.timeline.results == 12
    assert program.timeline.peak == 60 + 48 + 12
    gathered = divided(lambda x: tb.sort(x, axis="batch"), X)
    assert gathered.timeline.peak >= 48 + 2 * 192


def test_what_does_not_divide_is_whole_and_mesh_axes_of_one_device_divide_nothing() -> None:
    uneven = divided(lambda x: tb.sum(x, axis="batch"), "f32[batch=15, hidden=6]")
    assert (together(uneven), uneven.inside) == ([], (((), ("model",)),))
    alone = divided(lambda x: tb.sum(x, axis="batch"), X, mesh=tb.Mesh({"data": 1, "model": 1}))
    assert (together(alone), alone.inside) == ([], (((), ()),))
    assert [node.op for node in alone.graph.nodes] == ["parameter", "sum"]


def test_a_ring_sends_twice_for_an_all_reduce() -> None:
    def sent(kind: Any) -> float:
        return Collective(kind, ("data",), 4, 100, 3, "sum", None).sent

    assert [sent(kind) for kind in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")] == [450, 225, 225, 225]
    assert sent("collective-permute") == 300
