"""Composites on JAX. Each is compiled as a whole, unless it reads data."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import jax
import pytest

import tensorbackend as tb
from tensorbackend.errors import DataError
from tensorbackend.protocol.callbacks import CompositeCall
from tensorbackend.testing import check_pair

from ...threads import call_in_threads

BACKEND = tb.get_backend("jax")
X = tb.tensor([[0.5, -1.0], [1.5, 0.0]], names=("row", "column"), backend=BACKEND)


@tb.register_backend
class DerivedJax(tb.JaxBackend):
    """A backend of somebody else that derives from JaxBackend."""

    name = "derived_jax"


class Default:
    """A default implementation that counts how often it runs."""

    def __init__(self, body: Callable[..., Any]) -> None:
        self.body, self.runs = body, 0

    def __call__(self, out: Any, inputs: tuple[Any, ...], options: Any) -> Any:
        self.runs += 1
        return self.body(*inputs, **options)

    def on(self, *inputs: Any, out: Any = X.template, **options: Any) -> Any:
        """Return the result of the backend's hook for a composite with this default."""
        return BACKEND.optional("counted", CompositeCall(out, inputs, options), self)


def test_a_default_runs_once_for_each_template_and_option() -> None:
    default = Default(lambda x, scale: x * scale + x)
    for scale in (2.0, 2.0, 2, 2):
        result = default.on(X, scale=scale)
        assert (result.template, result.tolist()) == (X.template, [[1.5, -3.0], [4.5, 0.0]])
    assert default.runs == 2  # once for 2.0 and once for 2
    assert default.on(X.rename("a", "b"), out=X.rename("a", "b").template, scale=2.0).names == ("a", "b")
    assert default.runs == 3
    with tb.precision(64):
        default.on(X, scale=2.0)
    assert default.runs == 4


def test_tensors_in_sequences_one_left_out_and_several_results() -> None:
    default = Default(lambda several, one: (several[0], several[1] * 2) if one is None else (one, several[0]))
    out = X.template, X.template
    for missing, references in ((None, (X, X * 2)), (X * 3, (X * 3, X))):
        results = default.on((X, X), missing, out=out)
        assert [tensor.tolist() for tensor in results] == [tensor.tolist() for tensor in references]
    assert default.runs == 2


def test_a_default_that_looks_at_data_runs_op_by_op() -> None:
    default = Default(lambda x: x if float(tb.sum(x)) > 0 else -x)
    for _ in range(3):
        assert default.on(X).tolist() == X.tolist()
    assert default.runs == 4  # three calls, and one failed attempt to trace it
    with pytest.raises(DataError, match="singular") as caught:
        tb.linalg.inv(tb.zeros((2, 2), backend=BACKEND))
    assert caught.value.__context__ is None


def test_options_that_do_not_hash_run_op_by_op() -> None:
    default = Default(lambda x, listed: x * listed[0])
    for _ in range(2):
        assert default.on(X, listed=[2.0]).tolist() == (X * 2).tolist()
    assert default.runs == 2


def test_an_error_of_the_default_is_raised_as_it_is() -> None:
    def wrong(x: tb.Tensor) -> tb.Tensor:
        raise ValueError("expected something else")

    for _ in range(2):
        with pytest.raises(ValueError, match="something else"):
            Default(wrong).on(X)
    assert Default(lambda x: x + 1).on(X).tolist() == (X + 1).tolist()  # the errors leave no state behind


def test_within_a_function_that_jax_traces_nothing_is_compiled_by_itself() -> None:
    default = Default(lambda x: tb.exp(x) + 1)
    result = jax.jit(lambda x: default.on(x))(X)
    assert result.names == X.names
    assert default.runs == 1
    assert jax.make_jaxpr(lambda x: tb.mean(x))(X).eqns[-1].primitive.name != "pjit"
    gradient = jax.grad(lambda x: tb.sum(tb.log_softmax(x, axis="row")[0]).data)(X)
    assert gradient.template == X.template


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_each_op_is_rounded_as_it_is_by_itself(dtype: str) -> None:
    key = tb.random.key(0, backend=BACKEND)
    x, y = (tb.random.uniform(part, (1000,), dtype=dtype) for part in tb.random.split(key))

    def body(x: tb.Tensor, y: tb.Tensor) -> tb.Tensor:
        return (x * y - y) / 3 * x + tb.square(y) + x

    assert Default(body).on(x, y, out=x.template).tolist() == body(x, y).tolist()
    # If XLA left out the rounding of an op, the rounding error would remain here.
    wide = "f32" if x.dtype.bits == 16 else "f64"
    for op in (tb.multiply, tb.add):
        rest = Default(lambda x, y, rounded, op=op: tb.astype(op(x, y), wide) - tb.astype(rounded, wide))
        assert not tb.any(rest.on(x, y, op(x, y), out=tb.astype(x, wide).template)).item()


def test_threads_compile_side_by_side() -> None:
    barrier = threading.Barrier(2)

    def call(scale: float) -> None:
        default = Default(lambda x: x * scale if barrier.wait(60) >= 0 and default.runs else x)
        assert default.on(X).tolist() == (X * scale).tolist()

    call_in_threads(call, 2.0, 3.0)


def test_what_has_no_inputs_is_made_on_the_device_of_the_backend() -> None:
    default = Default(lambda: tb.ones((2, 2)) + tb.eye(2))
    template = tb.ones((2, 2), backend=BACKEND).template
    with tb.default_backend(BACKEND):
        matrix = default.on(out=template)
    assert (matrix.backend, matrix.device, matrix.tolist()) == (BACKEND, BACKEND.device, [[2.0, 1.0], [1.0, 2.0]])


def test_composites_and_programs_inside_functions_that_jax_traces() -> None:
    """JAX takes the options of a compilation only outside of them, also where no argument is traced."""

    def of_constants() -> Any:
        return tb.logsumexp(tb.full((3,), 0.5, backend=BACKEND))

    expected = pytest.approx(of_constants().item())
    assert tb.jit(of_constants)().item() == expected
    squares = tb.jit(lambda x: tb.sum(tb.softmax(x, axis="row") ** 2))
    donating = tb.jit(lambda x: tb.softmax(x, axis="row") * 2, donate="x")
    by_jax = jax.jit(lambda x: squares(x).data + of_constants().data)(X)
    assert float(by_jax) == pytest.approx(squares(X).item() + of_constants().item())
    assert tb.all_close(jax.grad(lambda x: squares(x).data)(X), tb.grad(squares)(X))
    assert jax.jit(lambda x: donating(x).data)(X).tolist() == (tb.softmax(X, axis="row") * 2).tolist()
    _, rows = jax.lax.scan(lambda carry, a: (carry, of_constants().data + a), 0.0, X.data)
    assert rows.shape == (2, 2)


OUT_OF_BOUNDS = ["add_along_axis", "indexed_max", "ravel_multi_index", "segment_sum", "unravel_index"]
"""Composites that read their indices where those out of bounds are errors."""


@pytest.mark.parametrize("name", OUT_OF_BOUNDS)
def test_a_backend_that_derives_from_it_runs_what_reads_data_op_by_op(name: str) -> None:
    dtype = tb.int32 if name.endswith("_index") else tb.float32
    pair = check_pair(DerivedJax(), name, dtype, examples=10)
    assert pair.status == "pass", f"{pair.detail}\n{pair.script}"
