"""Oracles of what finds mistakes: the first NaN, names of parts, compilations, and annotations of axes."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

import numpy
import pytest
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.axis_types import Float
from tensorbackend.errors import NonFiniteError, TensorBackendError
from tensorbackend.protocol import Backend
from tensorbackend.testing.strategies import Draw

from .table import Recorder, law

NUMBERS = st.lists(st.sampled_from([-1.0, 0.0, 1.0, 4.0]), min_size=1, max_size=4)


@law("debug_nans", by="NumPy")
def debug_nans(draw: Draw, run: Recorder, backend: Backend) -> None:
    infinities, operands = draw(st.booleans()), draw(st.booleans())
    values = draw(st.just([numpy.nan, 1.0]) | NUMBERS)
    with numpy.errstate(all="ignore"):
        results = numpy.log(numpy.array(values))
    wrong = ~numpy.isfinite(results) if infinities else numpy.isnan(results)
    expected = bool(wrong.any()) and (operands or not numpy.isnan(values).any())
    x = tb.asarray(values, backend=backend)
    function = tb.jit(tb.log) if draw(st.booleans()) else tb.log
    with run(infinities=infinities, operands=operands):
        if expected:
            with pytest.raises(NonFiniteError, match=r"^(jit\()?log"):
                function(x)
        else:
            function(x)


def chain(x: tb.Tensor) -> tb.Tensor:
    return tb.sum(tb.add(tb.exp(tb.sin(x)), x))


def with_a_wrong(op: str | None) -> type[Backend]:
    """NumPy's backend with one kernel whose results are too large by a thousandth."""
    right = getattr(tb.NumpyBackend, op or "", None)

    def kernel(self: Any, out: Any, *operands: Any) -> Any:
        assert right is not None
        return right(self, out, *operands) * numpy.float32(1.001)

    return type("WrongBackend", (tb.NumpyBackend,), {} if op is None else {op: kernel})


@law("compare", by="definition")
def compare(draw: Draw, run: Recorder, backend: Backend) -> None:
    wrong = draw(st.sampled_from([None, "sin", "exp", "add"]))
    x = tb.asarray(draw(st.lists(st.floats(0.5, 1.5, width=32), min_size=1, max_size=4)), backend=backend)
    compiled, gradient = draw(st.booleans()), draw(st.booleans())
    with TemporaryDirectory() as folder:
        path = f"{folder}/cut.safetensors" if draw(st.booleans()) else None
        pair = draw(st.sampled_from([backend, backend.name])), with_a_wrong(wrong)
        found = run(chain, x, backends=pair, jit=compiled, gradient=gradient, save=path)
        if path is not None and wrong is not None:
            assert not tb.compare(tb.load_graph(path), backends=("numpy", with_a_wrong(wrong))).agrees
    assert found.agrees == (wrong is None)
    assert found.difference is None or found.difference.op == wrong


@law("record_run", by="definition")
def record_run(draw: Draw, run: Recorder, backend: Backend) -> None:
    wrong = draw(st.sampled_from([None, "sin", "exp", "add"]))
    x = tb.asarray(draw(st.lists(st.floats(0.5, 1.5, width=32), min_size=1, max_size=4)), backend=backend)
    gradient = draw(st.booleans())
    with TemporaryDirectory() as folder:
        path = f"{folder}/run.safetensors"
        run(path, chain, x, backend=backend, gradient=gradient)
        found = tb.compare(chain, x, backends=(path, with_a_wrong(wrong)), gradient=gradient)
    assert found.agrees == (wrong is None)
    assert found.difference is None or found.difference.op == wrong


@law("name_scope", by="definition")
def name_scope(draw: Draw, run: Recorder, backend: Backend) -> None:
    outer, inner = draw(st.sampled_from(["encoder", "decoder"])), draw(st.sampled_from(["first", "second"]))

    def function(x: tb.Tensor) -> tb.Tensor:
        with run(outer):
            y = tb.sin(x)
            with run(inner):
                y = tb.cos(y)
        return tb.exp(y)

    nodes = tb.trace(function)(tb.ones(2, backend=backend)).nodes
    scopes = [node.line.scope for node in nodes if node.op in ("sin", "cos", "exp") and node.line is not None]
    assert scopes == [outer, f"{outer}/{inner}", ""]


@law("explain_compilations", by="brute force")
def explain_compilations(draw: Draw, run: Recorder, backend: Backend) -> None:
    dtypes = draw(st.lists(st.sampled_from(["f32", "f64", "s32", "s64"]), min_size=1, max_size=8))
    function = tb.jit(lambda x: x + x)
    for dtype in dtypes:
        function(tb.ones(3, dtype=dtype, backend=backend))
    compilations = run(function)
    assert len(compilations) == len({*dtypes})
    assert compilations[0].changes == ("the first call",)
    assert all("dtype" in change for later in compilations[1:] for change in later.changes)


@law("check_axes", by="definition")
def check_axes(draw: Draw, run: Recorder, backend: Backend) -> None:
    @run
    def product(x: Float[tb.Tensor, "batch feature"], w: Float[tb.Tensor, "feature unit=2"]) -> Any:  # noqa: F722
        return tb.dot(x, w, contract="feature")

    sizes, names = draw(st.sampled_from([(3, 2), (3, 4), (5, 2)])), draw(st.sampled_from(["unit", "time"]))
    dtype = draw(st.sampled_from(["f32", "f64", "s32"]))
    x = tb.ones((4, 3), dtype=dtype, names=("batch", "feature"), backend=backend)
    w = tb.ones(sizes, dtype=dtype, names=("feature", names), backend=backend)
    fits = sizes == (3, 2) and names == "unit" and dtype != "s32"
    try:
        result = product(x, w)
    except TensorBackendError:
        assert not fits
    else:
        assert fits
        assert result.tolist() == [[3.0, 3.0]] * 4
