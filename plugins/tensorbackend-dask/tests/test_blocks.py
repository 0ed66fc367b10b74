"""Compares each family on tensors of many blocks with NumPy, and checks the blocks of the results."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest
import tensorbackend as tb

from tensorbackend_dask import DaskBackend

BACKEND = DaskBackend(chunks={"time": 4, "feature": 2}, block_bytes=64)
NAMES = ("time", "feature")

Program = Callable[[tb.Tensor, tb.Tensor], tb.Tensor]

PROGRAMS: dict[str, tuple[Program, tuple[int, ...]]] = {
    "elementwise": (lambda x, y: tb.exp(x) + y * 2, (3, 3)),
    "broadcast": (lambda x, y: x - y[0], (3, 3)),
    "sum": (lambda x, y: tb.sum(x, axis="time"), (3,)),
    "product": (lambda x, y: tb.prod(x, axis="feature", keepdims=True), (3, 1)),
    "max": (lambda x, y: tb.max(x), ()),
    "any": (lambda x, y: tb.any(x > 2, axis="time"), (3,)),
    "argmax": (lambda x, y: tb.argmax(tb.round(x), axis="time"), (3,)),
    "argmin of all": (lambda x, y: tb.argmin(tb.round(x), tie_break="high"), ()),
    "mean": (lambda x, y: tb.mean(x, axis="time"), (3,)),
    "var": (lambda x, y: tb.var(x, axis="time", correction=1.0), (3,)),
    "std of all": (lambda x, y: tb.std(x), ()),
    "softmax": (lambda x, y: tb.softmax(x, axis="time"), (3, 3)),
    "cumulative sum": (lambda x, y: tb.cumulative_sum(x, axis="time"), (3, 3)),
    "cumulative sum from 0": (lambda x, y: tb.cumulative_sum(x, axis="time", include_initial=True), (4, 3)),
    "cumulative max": (lambda x, y: tb.cumulative_max(x, axis="time", reverse=True), (3, 3)),
    "contraction": (lambda x, y: tb.dot(x, y.rename("time", "other"), contract="time"), (3, 3)),
    "matmul": (lambda x, y: tb.matmul(x.rename(None, None), y.rename(None, None).T), (3, 3)),
    "transpose": (lambda x, y: x.T, (3, 3)),
    "slice": (lambda x, y: x[1:-1:2, ::-1], (2, 3)),
    "concatenate": (lambda x, y: tb.concatenate([x, y], axis="time"), (6, 3)),
    "stack": (lambda x, y: tb.stack([x, y]), (2, 3, 3)),
    "pad": (lambda x, y: tb.pad(x, ((2, 1), (0, 1))), (5, 4)),
    "flip": (lambda x, y: tb.flip(x, axis="time"), (3, 3)),
    "roll": (lambda x, y: tb.roll(x, 3, axis="time"), (4, 3)),
    "rows": (lambda x, y: x[[7, 0, 7]], (1, 3)),
    "rows or zeros": (lambda x, y: tb.take(x, tb.asarray([[9, 12], [0, 3]], like=x), axis="time", mode="fill"), ()),
    "sort": (lambda x, y: tb.sort(x, axis="feature"), (3, 1)),
    "top_k": (lambda x, y: tb.top_k(x, 2, axis="feature").values, (3, 1)),
    "searchsorted": (lambda x, y: tb.searchsorted(tb.sort(x[:, 0].rename(None)), y), (3, 3)),
    "histogram": (lambda x, y: tb.histogram(x, bins=5).counts, (1,)),
    "bincount": (lambda x, y: tb.bincount(tb.astype(tb.abs(x) * 4, "int64")), (2,)),
    "fft": (lambda x, y: tb.abs(tb.fft.fft(x, axis=1)), (3, 1)),
    "where": (lambda x, y: tb.where(x > 0, x, y), (3, 3)),
    "mask": (lambda x, y: x[x > 0], ()),
    "unique": (lambda x, y: tb.unique_values(tb.round(x)), ()),
    "put": (lambda x, y: tb.put_slice(x, y[:2], starts=(3, 0)), (4, 3)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_is_as_on_numpy(name: str) -> None:
    program, blocks = PROGRAMS[name]
    random = numpy.random.default_rng(3)
    arrays = [random.normal(size=(10, 5)).astype("float32") for _ in range(2)]
    reference = program(*(tb.asarray(array, names=NAMES, backend="numpy") for array in arrays))
    result = program(*(tb.asarray(array, names=NAMES, backend=BACKEND) for array in arrays))
    assert result.template is reference.template
    if blocks:
        assert result.data.numblocks == blocks
    numpy.testing.assert_allclose(numpy.asarray(result), numpy.asarray(reference), rtol=2e-6, atol=1e-6)


def test_blocks_are_numpy_s_to_the_bit() -> None:
    x = tb.asarray(numpy.linspace(-3, 3, 50, dtype="float32").reshape(10, 5), names=NAMES, backend=BACKEND)
    for function in (tb.exp, tb.sin, tb.erf, tb.lgamma, tb.sigmoid):
        assert function(x).tolist() == function(x.backend_copy("numpy")).tolist()


def test_what_is_made_is_the_same_in_any_blocks() -> None:
    tiny, names = DaskBackend(chunks={"a": 3, "b": 2}, block_bytes=16), ("a", "b")
    makers: list[Callable[[tb.BackendLike], tb.Tensor]] = [
        lambda backend: tb.iota((7, 5), names=names, backend=backend),
        lambda backend: tb.iota((7, 5), dtype="float16", axis=0, names=names, backend=backend),
        lambda backend: tb.eye(7, 5, k=1, backend=backend),
        lambda backend: tb.linspace(0.1, 3.0, 11, backend=backend),
        lambda backend: tb.arange(3, 200, 4, dtype="uint8", backend=backend),
        lambda backend: tb.full((7, 5), 2.5, names=names, backend=backend),
    ]
    for make in makers:
        assert make(tiny).tolist() == make("numpy").tolist()
        assert make(tiny).data.npartitions > 1


def test_gradients_and_compiled_functions() -> None:
    def loss(weights: tb.Tensor, x: tb.Tensor) -> tb.Tensor:
        return tb.mean(tb.square(tb.dot(x, weights, contract="feature")))

    random = numpy.random.default_rng(0)
    data, start = random.normal(size=(10, 5)), random.normal(size=5)
    gradients = []
    for backend in (BACKEND, tb.get_backend("numpy")):
        x = tb.asarray(data, names=NAMES, backend=backend)
        weights = tb.asarray(start, names=("feature",), backend=backend)
        gradients.append(numpy.asarray(tb.jit(tb.grad(loss))(weights, x)))
    numpy.testing.assert_allclose(gradients[0], gradients[1], rtol=1e-12)
