"""Every op that needs more than elements at one place, along an axis of any size that devices divide, against NumPy.

`test_mesh_ops.py` runs these tests in a process that has four devices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.declarations.op_specs import REACHES
from tensorbackend.testing import profile

SIZES = st.sampled_from([5, 8, 6, 12, 7, 16, *range(1, 5), *range(9, 12), *range(13, 16), *range(17, 25)])
"""The sizes of the divided axis, first those that only some meshes divide: these are drawn if few are."""

Draw = Callable[[st.SearchStrategy[Any]], Any]
Function = Callable[[tb.Tensor], tb.Tensor]

MESHES: list[Any] = [tb.JaxBackend(mesh=tb.Mesh({"p": count}), layout={"n": "p"}) for count in (2, 4)]


def positions(draw: Draw, size: int, count: int) -> list[int]:
    drawn: list[int] = draw(st.lists(st.integers(0, size - 1), min_size=count, max_size=count))
    return drawn


def slices(draw: Draw, n: int) -> Function:
    start, stride = draw(st.integers(0, n - 1)), draw(st.integers(1, 4))
    stop = draw(st.integers(start + 1, n))
    return lambda x: x[start:stop:stride]


def pads(draw: Draw, n: int) -> Function:
    low, high, interior = (draw(st.integers(least, 3)) for least in (-1, -1, 0))
    assume(low + high + n > 0)
    return lambda x: tb.pad(x, {"n": (low, high, interior)})


def geometry(draw: Draw, n: int, *, dilated: bool = True) -> dict[str, Any]:
    """Draw the options of windows of which at least one fits."""
    size, stride = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    dilation = draw(st.integers(1, 2)) if dilated else 1
    low, high = (draw(st.integers(0, size - 1)) for _ in range(2))
    assume(n + low + high >= (size - 1) * dilation + 1)
    options: dict[str, Any] = {"strides": (stride, 1), "padding": ((low, high), (0, 0))}
    if dilated:
        options["dilations"] = (dilation, 1)
    return {"window_dimensions": (size, 1), **options}


def windows(op: Callable[..., tb.Tensor]) -> Callable[[Draw, int], Function]:
    def case(draw: Draw, n: int) -> Function:
        options = geometry(draw, n)
        size = options.pop("window_dimensions")
        return lambda x: op(x, size, **options)

    return case


def scatters(op: Callable[..., tb.Tensor], reduce: Callable[..., tb.Tensor]) -> Callable[[Draw, int], Function]:
    def case(draw: Draw, n: int) -> Function:
        options = geometry(draw, n, dilated=False)
        size = options.pop("window_dimensions")
        return lambda x: op(x, reduce(x, size, **options) ** 2, 0.0, size, **options)

    return case


def convolutions(draw: Draw, n: int) -> Function:
    size, stride, dilation, spread = (draw(st.integers(1, most)) for most in (3, 3, 2, 3))
    low, high = (draw(st.integers(0, 2)) for _ in range(2))
    extent = (size - 1) * dilation + 1
    assume((n - 1) * spread + 1 + low + high >= extent)
    options: dict[str, Any] = {
        "strides": stride,
        "padding": [(low, high)],
        "input_dilation": spread,
        "kernel_dilation": dilation,
    }

    def convolve(x: tb.Tensor) -> tb.Tensor:
        kernel = tb.cos(tb.reshape(x[:1, :], -1)[0] + tb.iota((2, 3, size), axis=2, dtype=x.dtype, backend=x.backend))
        image = tb.expand_dims(tb.permute_dims(x, ("m", "n")), axis=0)
        return tb.conv(image, kernel, **options)

    return convolve


def kernels(draw: Draw, n: int) -> Function:
    """The divided axis is that of the kernel."""
    stride, dilation = (draw(st.integers(1, 3)) for _ in range(2))
    more = draw(st.integers(0, 4))

    def convolve(x: tb.Tensor) -> tb.Tensor:
        size = (n - 1) * dilation + 1 + more
        image = tb.cos(tb.iota((1, 3, size), axis=2, dtype=x.dtype, backend=x.backend))
        return tb.conv(
            image, tb.expand_dims(tb.permute_dims(x, ("m", "n")), axis=0), strides=stride, kernel_dilation=dilation
        )

    return convolve


def reads(draw: Draw, n: int) -> Function:
    places = positions(draw, n, draw(st.integers(1, 9)))
    return lambda x: tb.take(x, tb.asarray(places, backend=x.backend), axis="n")


def reads_along(draw: Draw, n: int) -> Function:
    places = numpy.asarray([positions(draw, n, 3) for _ in range(draw(st.integers(1, 9)))])
    return lambda x: tb.take_along_axis(x, tb.asarray(places, backend=x.backend), axis=0)


def gathers(draw: Draw, n: int) -> Function:
    places = numpy.asarray(positions(draw, n, draw(st.integers(1, 9))))[:, None]
    return lambda x: tb.gather(x, tb.asarray(places, backend=x.backend))


def writes(op: str) -> Callable[[Draw, int], Function]:
    def case(draw: Draw, n: int) -> Function:
        count = draw(st.integers(1, n))
        places = numpy.asarray(draw(st.permutations(range(n))))[:count, None]
        return lambda x: getattr(tb, op)(x, tb.asarray(places, backend=x.backend), x[:count] ** 2)

    return case


def writes_along(draw: Draw, n: int) -> Function:
    places = numpy.asarray([positions(draw, n, 3) for _ in range(n)])
    return lambda x: tb.add_along_axis(x, tb.asarray(places, backend=x.backend), x**2, axis=0)


def puts(draw: Draw, n: int) -> Function:
    start = draw(st.integers(0, n - 1))
    count = draw(st.integers(1, n - start))
    return lambda x: tb.put_slice(x, x[:count] ** 2, starts=(start, 0))


def reshapes(draw: Draw, n: int) -> Function:
    rows = draw(st.sampled_from([rows for rows in range(1, n + 1) if n % rows == 0]))
    names = draw(st.sampled_from([("n", None), (None, "n"), None]))
    return lambda x: tb.reshape(x[:, 0], (rows, n // rows), names=names)


def concatenations(draw: Draw, n: int) -> Function:
    parts = draw(st.lists(st.integers(1, n), min_size=1, max_size=3))
    return lambda x: tb.concat([x[:size] * (size + 1) for size in parts], axis="n")


def broadcasts(draw: Draw, n: int) -> Function:
    more = draw(st.integers(1, 5))
    return lambda x: tb.broadcast_to(x[:1], (more * n, 3), names=("n", "m"))


def always(function: Function) -> Callable[[Draw, int], Function]:
    return lambda draw, n: function


def scans(draw: Draw, n: int) -> Function:
    reverse = draw(st.booleans())
    return lambda x: tb.associative_scan(tb.multiply, x, reverse, axis="n")


def shifts(draw: Draw, n: int) -> Function:
    by = draw(st.integers(-n, n))
    return lambda x: tb.roll(x, by, axis="n")


def weights(x: tb.Tensor, *shape: int) -> tb.Tensor:
    """Return numbers of which none is special."""
    return tb.cos(tb.reshape(tb.iota(numpy.prod(shape, dtype=int).item(), dtype="f64", backend=x.backend), shape))


CASES: dict[str, Callable[[Draw, int], Function]] = {
    "fft": always(lambda x: tb.real(tb.fft.fft(x, axis="n"))),
    "ifft": always(lambda x: tb.imag(tb.fft.ifft(tb.astype(x, "c128"), axis="n"))),
    "window_sum": windows(tb.window_sum),
    "window_product": windows(tb.window_prod),
    "window_max": windows(tb.window_max),
    "window_min": windows(tb.window_min),
    "window_scatter_max": scatters(tb.window_scatter_max, tb.window_max),
    "window_scatter_min": scatters(tb.window_scatter_min, tb.window_min),
    "conv": convolutions,
    "conv of a kernel": kernels,
    "dot": always(lambda x: tb.dot(x, x.rename(m="k"), contract=(["n"], ["n"]))),
    "slice": slices,
    "put_slice": puts,
    "take": reads,
    "take_along_axis": reads_along,
    "gather": gathers,
    "indexed_add": writes("indexed_add"),
    "indexed_put": writes("indexed_put"),
    "add_along_axis": writes_along,
    "reshape": reshapes,
    "squeeze": always(lambda x: tb.squeeze(x[:, :1], "m")),
    "broadcast": broadcasts,
    "transpose": always(lambda x: tb.permute_dims(x, ("m", "n"))),
    "pad": pads,
    "reverse": always(lambda x: tb.flip(x, axis="n")),
    "concatenate": concatenations,
    "sort": always(lambda x: tb.sort(x, axis="n")),
    "argsort": always(lambda x: x * tb.argsort(x, axis="n").rename(None, None)),
    "sum": always(lambda x: tb.sum(x, axis="n")),
    "product": always(lambda x: tb.prod(x, axis="n")),
    "reduce_max": always(lambda x: tb.max(x, axis="n")),
    "reduce_min": always(lambda x: tb.min(x, axis="n")),
    "argmax": always(lambda x: x * tb.argmax(x, axis="n", keepdims=True)),
    "argmin": always(lambda x: x * tb.argmin(x, axis="n", keepdims=True)),
    "all": always(lambda x: x * tb.all(x > 0, axis="n", keepdims=True)),
    "any": always(lambda x: x * tb.any(x > 1, axis="n", keepdims=True)),
    "triangular_solve": always(
        lambda x: tb.linalg.triangular_solve(
            tb.tril(x @ tb.permute_dims(x, ("m", "n")).rename(None, None)) + tb.eye(x.shape[0], like=x), x
        )
    ),
    "qr": always(lambda x: tb.linalg.qr(x)[0] if x.shape[0] >= 3 else x),
    "svd": always(lambda x: tb.linalg.svdvals(x)),
    "cumulative_sum": always(lambda x: tb.cumulative_sum(x, axis="n")),
    "cumulative_sum of integers": always(lambda x: x * tb.cumulative_sum(tb.astype(x * 9, "int32"), axis="n")),
    "cumulative_prod": always(lambda x: tb.cumulative_prod(x, axis="n")),
    "cumulative_max": always(lambda x: tb.cumulative_max(x, axis="n")),
    "associative_scan": scans,
    "roll": shifts,
    "scan": always(lambda x: tb.scan(lambda c, e: (tb.sin(c + e), c * e), x[0] * 2, x, axis="n")[1]),
}
"""For each case a function that draws a function of f64[n][m: 3]; the name begins with that of an op."""

NOT_HERE = {
    "cholesky": "matrix", "lu": "matrix", "eigh": "matrix", "eig": "matrix", "reduce": "reduced",
    "window_reduce": "window",
}  # fmt: skip
"""Ops without a case, with their reach: `qr` and `svd` stand for those of matrices, and folds have no gradient."""


def test_every_op_with_a_rule_has_a_case() -> None:
    apart = {op: reach for op, reach in REACHES.items() if reach != "each"}
    assert {op: reach for op, reach in apart.items() if op not in CASES} == NOT_HERE


@pytest.mark.parametrize("name", CASES)
def test_an_axis_of_any_size_gives_what_numpy_gives(name: str) -> None:
    @profile(2)
    @given(st.data(), SIZES, st.sampled_from(MESHES))
    def agrees(data: st.DataObject, n: int, mesh: Any) -> None:
        function = CASES[name](data.draw, n)
        numbers = numpy.random.default_rng(n).uniform(0.5, 1.5, (2, n, 3))

        def everything(x: tb.Tensor, batch: tb.Tensor) -> Any:
            def loss(x: tb.Tensor) -> tb.Tensor:
                result = function(x)
                return tb.sum(tb.reshape(result, -1) * weights(x, result.size))

            gradient = tb.grad(loss)
            return function(x), gradient(x), tb.vmap(function)(batch), tb.vmap(gradient)(batch)

        def run(backend: Any, transform: Callable[..., Any]) -> Any:
            x = tb.asarray(numbers[0], names=("n", "m"), backend=backend)
            batch = tb.asarray(numbers, names=(None, "n", "m"), backend=backend)
            return transform(everything)(x, batch)

        expected, results = run("numpy", lambda f: f), run(mesh, tb.jit)
        for what, y, z in zip(("value", "gradient", "batch", "its gradients"), results, expected, strict=True):
            assert y.template is z.template
            numpy.testing.assert_allclose(numpy.asarray(y), numpy.asarray(z), rtol=1e-9, atol=1e-9, err_msg=what)

    agrees()
