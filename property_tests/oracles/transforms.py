"""Oracles of functions of functions: gradients by closed forms, loops and batches by loops over NumPy arrays."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.protocol import Backend
from tensorbackend.testing.strategies import Draw

from .table import Recorder, law


def point(draw: Draw, *shape: int) -> Any:
    """An array of doubles: whole numbers, zeros and equal ones among them."""
    size = int(numpy.prod(shape))
    numbers = st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.5, -3.0]) | st.floats(-4, 4, width=32)
    return numpy.array(draw(st.lists(numbers, min_size=size, max_size=size)), "f8").reshape(shape)


def on(array: Any, backend: Backend, *names: str | None) -> tb.Tensor:
    return tb.asarray(array, backend=backend, names=names or None)


def close(actual: Any, expected: Any) -> None:
    numpy.testing.assert_allclose(numpy.asarray(actual), expected, rtol=1e-9, atol=1e-9)


# A polynomial whose derivatives are known: p(x, y) = sum(x**2 * y + 3 * x), with x and y of one shape.


def polynomial(x: Any, y: Any) -> Any:
    return tb.sum(x * x * y + 3.0 * x)


def with_aux(x: Any, y: Any) -> Any:
    return polynomial(x, y), {"y": y + 1.0}


def slopes(x: Any, y: Any) -> tuple[Any, Any]:
    return 2 * x * y + 3, x * x


ARGNUMS: list[int | tuple[int, ...]] = [0, 1, (0, 1), (1, 0)]


@law("grad", "value_and_grad", by="definition")
def grad(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, y = point(draw, 3), point(draw, 3)
    argnums, has_aux = draw(st.sampled_from(ARGNUMS)), draw(st.booleans())
    transformed = run(with_aux if has_aux else polynomial, argnums=argnums, has_aux=has_aux)
    if draw(st.booleans()):
        transformed = tb.jit(transformed)
    out = transformed(on(x, backend), on(y, backend))
    if run.name == "value_and_grad":
        value, gradients = out
        if has_aux:
            value, aux = value
            close(aux["y"], y + 1)
        close(value, numpy.sum(x * x * y + 3 * x))
    elif has_aux:
        gradients, aux = out
        close(aux["y"], y + 1)
    else:
        gradients = out
    places = argnums if isinstance(argnums, tuple) else [argnums]
    for place, gradient in zip(places, gradients if isinstance(argnums, tuple) else [gradients], strict=True):
        close(gradient, slopes(x, y)[place])


@law("vjp", by="definition")
def vjp(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, y, by = point(draw, 3), point(draw, 3), point(draw, 3)
    value, pull = run(lambda x, y: x * x * y, on(x, backend), on(y, backend))
    close(value, x * x * y)
    for gradient, slope in zip(pull(on(by, backend)), (2 * x * y, x * x), strict=True):
        close(gradient, by * slope)


@law("jvp", by="definition")
def jvp(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, y, dx, dy = (point(draw, 3) for _ in range(4))
    value, tangent = run(lambda x, y: x * x * y, [on(x, backend), on(y, backend)], [on(dx, backend), on(dy, backend)])
    close(value, x * x * y)
    close(tangent, 2 * x * y * dx + x * x * dy)


@law("linearize", by="definition")
def linearize(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, y = point(draw, 3), point(draw, 3)
    value, derivative = run(lambda x, y: x * x * y, on(x, backend), on(y, backend))
    close(value, x * x * y)
    for _ in range(2):
        dx, dy = point(draw, 3), point(draw, 3)
        close(derivative(on(dx, backend), on(dy, backend)), 2 * x * y * dx + x * x * dy)


def _outer(x: Any, y: Any) -> Any:
    return tb.outer(x, y * y)


@law("jacobian", "jacfwd", by="definition")
def jacobian(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, y = point(draw, 2), point(draw, 3)
    argnums = draw(st.sampled_from(ARGNUMS))
    out = run(_outer, argnums=argnums)(on(x, backend), on(y, backend))
    wanted = (numpy.einsum("ik,j->ijk", numpy.eye(2), y * y), numpy.einsum("i,jk->ijk", x, numpy.diag(2 * y)))
    places = argnums if isinstance(argnums, tuple) else [argnums]
    for place, part in zip(places, out if isinstance(argnums, tuple) else [out], strict=True):
        close(part, wanted[place])


@law("hessian", by="definition")
def hessian(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, y = point(draw, 3), point(draw, 3)
    argnums = draw(st.sampled_from([0, 1]))
    out = run(polynomial, argnums=argnums)(on(x, backend), on(y, backend))
    close(out, numpy.diag(2 * y) if argnums == 0 else numpy.zeros((3, 3)))


@law("tape", "gradient", "current_tape", by="definition")
def tape(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, y = point(draw, 3), point(draw, 3)
    name = run.name
    start: Any = run if name == "tape" else tb.tape
    known: Any
    with start() as known:
        current: Any = run if name == "current_tape" else tb.current_tape
        assert current() is known
        watched = known.watch([on(x, backend), on(y, backend)])
        total = polynomial(*watched)
        gradients = (run if name == "gradient" else tb.gradient)(total, watched)
    for gradient, slope in zip(gradients, slopes(x, y), strict=True):
        close(gradient, slope)
    assert tb.current_tape() is None


@law("checkpoint", by="definition")
def checkpoint(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, y = point(draw, 3), point(draw, 3)
    policy = draw(st.sampled_from(["nothing", "products", ("multiply",), lambda op, template: template.ndim == 1]))
    kept = run(lambda x: x * x * on(y, backend), policy=policy)
    close(kept(on(x, backend)), x * x * y)
    close(tb.grad(lambda x: tb.sum(kept(x) * kept(x)))(on(x, backend)), 4 * x**3 * y * y)


@law("custom_gradient", by="definition")
def custom_gradient(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, factor = point(draw, 3), draw(st.sampled_from([0.0, -2.0, 0.5]))
    function = run(lambda x: (x * x, lambda cotangent: cotangent * factor))
    close(function(on(x, backend)), x * x)
    close(tb.grad(lambda x: tb.sum(3.0 * function(x)))(on(x, backend)), numpy.full(3, 3 * factor))


# Control flow, compared with Python's


@law("cond", by="brute force")
def cond(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, y, choice = point(draw, 3), point(draw, 3), draw(st.booleans())
    arguments = on(x, backend), on(y, backend)
    branches = (lambda x, y: x + y, lambda x, y: x * y)
    out = run(tb.asarray(choice, backend=backend), *branches, *arguments)
    close(out, x + y if choice else x * y)
    compiled = tb.jit(lambda p, x, y: run(p, *branches, x, y))
    close(compiled(tb.asarray(not choice, backend=backend), *arguments), x * y if choice else x + y)


@law("switch", by="brute force")
def switch(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, index = point(draw, 3), draw(st.integers(-2, 4))
    branches = [lambda x: x, lambda x: x + 1.0, lambda x: x * x]
    close(run(tb.asarray(index, backend=backend), branches, on(x, backend)), [x, x + 1, x * x][max(0, min(index, 2))])


@law("scan", by="brute force")
def scan(draw: Draw, run: Recorder, backend: Backend) -> None:
    rows, start = point(draw, draw(st.integers(0, 4)), 2), point(draw, 2)
    reverse, axis = draw(st.booleans()), draw(st.sampled_from([0, "time", 1]))
    along = 1 if axis == 1 else 0
    xs = on(rows.T if along else rows, backend, *([None, "time"] if along else ["time", None]))
    step = lambda carry, x: (carry * 0.5 + x.rename(None), carry * x.rename(None))  # noqa: E731
    if draw(st.integers(0, 3)) == 0:
        length = draw(st.integers(0, 3))
        carry, _ = run(lambda carry, _: (carry * 0.5, carry), on(start, backend), None, length, reverse)
        close(carry, start * 0.5**length)
        return
    carry, ys = run(step, on(start, backend), xs, reverse=reverse, axis=axis)
    wanted, outputs = start, numpy.zeros_like(rows)
    for place in reversed(range(len(rows))) if reverse else range(len(rows)):
        outputs[place] = wanted * rows[place]
        wanted = wanted * 0.5 + rows[place]
    close(carry, wanted)
    close(ys, outputs)  # the steps are the first axis


@law("fori_loop", by="brute force")
def fori_loop(draw: Draw, run: Recorder, backend: Backend) -> None:
    start, lower, upper = point(draw, 3), draw(st.integers(-2, 3)), draw(st.integers(-2, 5))
    bound = upper if draw(st.booleans()) else tb.asarray(upper, backend=backend)
    out = run(lower, bound, lambda i, carry: carry * 0.5 + tb.astype(i, "f64"), on(start, backend))
    wanted = start
    for i in range(lower, upper):
        wanted = wanted * 0.5 + i
    close(out, wanted)


def halvings(x: float, limit: int) -> list[float]:
    """The values of x halved while it is above 1, at most `limit` times, the first one included."""
    values = [x]
    while values[-1] > 1 and len(values) <= limit:
        values.append(values[-1] / 2)
    return values


@law("while_loop", by="brute force")
def while_loop(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, limit = point(draw, 3) * 8, draw(st.sampled_from([None, 2, 9]))
    most = 99 if limit is None else limit
    condition, body = (lambda x: x > 1.0), (lambda x: x / 2.0)
    if draw(st.booleans()):
        out = run(condition, body, on(x, backend, "n"), limit=limit, axis=draw(st.sampled_from([0, "n"])))
        close(out, [halvings(each, most)[-1] for each in x])
        return
    steps = draw(st.sampled_from([None, (0, 2), (1, 3, 4)]))
    out = run(condition, body, on(x[0], backend), limit=limit, trajectory=steps)
    values = halvings(x[0], most)
    if steps is None:
        close(out, values[-1])
    else:
        close(out, [values[min(step, len(values) - 1)] for step in steps])


@law("associative_scan", by="brute force")
def associative_scan(draw: Draw, run: Recorder, backend: Backend) -> None:
    rows, reverse = point(draw, draw(st.integers(1, 5)), 2), draw(st.booleans())
    along = draw(st.sampled_from([0, 1]))
    # The function of pairs by which x -> a * x + b are composed, which does not commute.
    compose = lambda first, second: (first[0] * second[0], second[0] * first[1] + second[1])  # noqa: E731
    offsets = rows[:, ::-1]
    parts = tuple(on(part.T if along else part, backend) for part in (rows, offsets))
    out = run(compose, parts, reverse, axis=along)
    order = list(reversed(range(len(rows)))) if reverse else list(range(len(rows)))
    wanted = [rows.copy(), offsets.copy()]
    for before, here in pairwise(order):
        wanted[0][here] = wanted[0][before] * rows[here]
        wanted[1][here] = rows[here] * wanted[1][before] + offsets[here]
    for part, each in zip(out, wanted, strict=True):
        close(part, each.T if along else each)


@law("map_along_axis", by="brute force")
def map_along_axis(draw: Draw, run: Recorder, backend: Backend) -> None:
    rows, along = point(draw, draw(st.integers(1, 5)), 2), draw(st.sampled_from([0, 1]))
    size = draw(st.sampled_from([None, 1, 2, 9]))
    out = run(lambda row: tb.sum(row * row), on(rows.T if along else rows, backend), axis=along, batch_size=size)
    close(out, [sum(row * row) for row in rows])


@law("vmap", by="brute force")
def vmap(draw: Draw, run: Recorder, backend: Backend) -> None:
    left, right = point(draw, 4, 2), point(draw, 4, 3)
    places = draw(st.sampled_from([(0, 0), (1, 0), (0, None), (None, 1), 0]))
    moved = [0 if places == 0 else places[0], 0 if places == 0 else places[1]]  # type: ignore[index]
    operands = []
    for array, place in zip((left, right), moved, strict=True):
        operands.append(on(array[0] if place is None else numpy.moveaxis(array, 0, place), backend))
    out_axes, name = draw(st.sampled_from([0, 1, 2])), draw(st.sampled_from([None, "batch"]))
    out = run(tb.outer, in_axes=places, out_axes=out_axes, axis_name=name)(*operands)
    rows = [numpy.outer(left[0 if moved[0] is None else n], right[0 if moved[1] is None else n]) for n in range(4)]
    close(out, numpy.stack(rows, out_axes))
    assert out.names[out_axes] == name


@law("jit", by="definition")
def jit(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, power = point(draw, 3), draw(st.integers(0, 3))

    def powers(x: Any, power: Any, scale: float = 1.0) -> Any:
        return x**power * scale

    compiled = run(
        powers, static_argnums=draw(st.sampled_from([(), 1, (1,)])),
        static_argnames=draw(st.sampled_from([(), "power", ("power",)])),
        trace_floats=draw(st.booleans()), trace_ints=draw(st.booleans()), cache_size=draw(st.sampled_from([256, 1])),
        donate=draw(st.sampled_from([(), "x", ("x",)])),
    )  # fmt: skip
    for _ in range(2):
        close(compiled(on(x, backend), power, scale=2.0), x**power * 2)


# Calls of the host


@law("host_call", by="brute force")
def host_call(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, factor = point(draw, 3), draw(st.sampled_from([2.0, -1.0]))

    def call(x: tb.Tensor) -> tb.Tensor:
        return run(lambda x, by: x * by + 1, tb.Template((3,), "f64"), x, by=factor)  # type: ignore[no-any-return]

    close(call(on(x, backend)), x * factor + 1)
    close(tb.jit(call)(on(x, backend)), x * factor + 1)


@law("debug_callback", by="brute force")
def debug_callback(draw: Draw, run: Recorder, backend: Backend) -> None:
    seen: list[Any] = []
    rows = point(draw, draw(st.integers(1, 3)), 2)

    def step(carry: Any, row: Any) -> Any:
        run(lambda row, total: seen.append((numpy.array(row), numpy.array(total))), row, total=carry)
        return carry + row, None

    tb.scan(step, on(numpy.zeros(2), backend), on(rows, backend))
    totals = numpy.cumsum(numpy.concatenate([numpy.zeros((1, 2)), rows]), 0)
    assert len(seen) == len(rows)
    for (row, total), wanted, before in zip(seen, rows, totals, strict=False):
        close(row, wanted)
        close(total, before)


@law("debug_print", by="brute force")
def debug_print(draw: Draw, run: Recorder, backend: Backend) -> None:
    import contextlib
    import io

    number = draw(st.integers(-9, 9))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        tb.jit(lambda x: (run("x = {} of {whole}", x, whole=x + 1), x)[1])(tb.asarray(number, backend=backend))
    assert printed.getvalue().strip() == f"x = {number} of {number + 1}"


# Trees


@law("tree_map", by="brute force")
def tree_map(draw: Draw, run: Recorder, backend: Backend) -> None:
    tree: Any = {"a": [1, 2], "b": (3, {"c": 4})}
    factor = draw(st.integers(-3, 3))
    assert run(lambda x: x * factor, tree) == {"a": [factor, 2 * factor], "b": (3 * factor, {"c": 4 * factor})}
    assert run(lambda x, y: x - y, tree, tree) == {"a": [0, 0], "b": (0, {"c": 0})}


@law("tree_leaves", by="definition")
def tree_leaves(draw: Draw, run: Recorder, backend: Backend) -> None:
    numbers = draw(st.lists(st.integers(-9, 9), min_size=3, max_size=3))
    assert run({"b": numbers[1:], "a": (numbers[0], None)}) == numbers


@law("tree_flatten", by="definition")
def tree_flatten(draw: Draw, run: Recorder, backend: Backend) -> None:
    first, second = draw(st.integers(-9, 9)), draw(st.integers(-9, 9))
    leaves, tree = run({"b": second, "a": [first]})
    assert leaves == [first, second]
    assert tree == run({"a": ["x"], "b": "y"})[1] != run({"a": "x", "b": "y"})[1]


@law("tree_unflatten", by="definition")
def tree_unflatten(draw: Draw, run: Recorder, backend: Backend) -> None:
    first, second = draw(st.integers(-9, 9)), draw(st.integers(-9, 9))
    tree = tb.tree_flatten({"b": 0, "a": [0]})[1]
    assert run(tree, [first, second]) == {"a": [first], "b": second}


@law("tree_map_with_path", by="brute force")
def tree_map_with_path(draw: Draw, run: Recorder, backend: Backend) -> None:
    number = draw(st.integers(-9, 9))
    tree: Any = {"a": [number, 2], "b": (3, {"c": 4})}
    told = run(lambda path, x, y: (path, x + y), tree, tree)
    assert told == {
        "a": [(("a", 0), 2 * number), (("a", 1), 4)],
        "b": ((("b", 0), 6), {"c": (("b", 1, "c"), 8)}),
    }


@law("for_arrays", by="NumPy")
def for_arrays(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, number = point(draw, 3), draw(st.integers(1, 3))
    function = run(lambda tree, number: {"y": tb.sin(tree["x"]) * number, "text": "kept"})
    for given, kind in ((x, numpy.ndarray), (on(x, backend), tb.Tensor)):
        found = function({"x": given}, number=number)
        assert type(found["y"]) is kind
        assert found["text"] == "kept"
        close(found["y"], numpy.sin(x) * number)


@law("register_tree_node", by="definition")
def register_tree_node(draw: Draw, run: Recorder, backend: Backend) -> None:
    class Pair:
        def __init__(self, left: Any, right: Any, label: str) -> None:
            self.left, self.right, self.label = left, right, label

    assert (
        run(Pair, lambda p: ((p.left, p.right), p.label), lambda label, parts: Pair(parts[0], parts[1], label)) is Pair
    )
    x = point(draw, 2)
    pair: Any = Pair(on(x, backend), on(x + 1, backend), "kept")
    out = tb.grad(lambda p: tb.sum(p.left * p.left * p.right))(pair)
    close(out.left, 2 * x * (x + 1))
    close(out.right, x * x)
    assert out.label == "kept"


@law("trace", by="definition")
def trace(draw: Draw, run: Recorder, backend: Backend) -> None:
    x, y = point(draw, 3), point(draw, 3)
    graph = run(lambda x, y: x * x * y)(tb.Template((3,), "f64"), tb.Template((3,), "f64"))
    close(graph(on(x, backend), on(y, backend)), x * x * y)
    assert [node.op for node in graph.nodes if node.op not in ("parameter",)].count("multiply") == 2
