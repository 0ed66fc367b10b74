"""Primitives that a backend does not define: their fall-backs, the errors where there is none, and the minimum."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.backends.support import support_of
from tensorbackend.declarations.op_specs import CALLBACKS
from tensorbackend.dispatch import fallbacks as declarations
from tensorbackend.dispatch.fallbacks import callbacks_in, fallback, fallbacks
from tensorbackend.dtypes import ALL_DTYPES, bool_, float16, float32, int8, int32, int64, uint8
from tensorbackend.errors import ArgumentError, ContractError, UnsupportedOp
from tensorbackend.protocol import Backend, Payload
from tensorbackend.protocol.callbacks import limited_to
from tensorbackend.template import Template
from tensorbackend.testing import partial, without
from tensorbackend.testing.minimum import accepted_dtype, minimum

EXAMPLES = Path(__file__).parents[2] / "examples"
REAL = [dtype for dtype in ALL_DTYPES if not dtype.is_complex]


def example(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import a module of examples/."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return __import__(name)


def learnt(backend: type[Backend], monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the bias after two steps of examples/digits.py on 20 images."""
    digits = example("digits", monkeypatch)
    with tb.default_backend(backend):
        train, _ = digits.load()
        batch = digits.Digits(*(x[:20] for x in train))
        model = digits.Model(tb.zeros((64, 10), names=("pixel", "digit")), tb.zeros(10, names=("digit",)))
        for _ in range(2):
            model = digits.step(model, batch)
        assert digits.predictions(model, batch.images).shape == (20,)
    assert model.bias.backend is backend()
    bias: list[float] = model.bias.tolist()
    return bias


def test_the_minimum_runs_the_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    least = partial(tb.get_backend("numpy"), minimum(REAL))
    reference = learnt(type(tb.get_backend("numpy")), monkeypatch)
    assert learnt(least, monkeypatch) == pytest.approx(reference, abs=1e-6)


def test_the_minimal_backend_runs_the_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = example("minimal_backend", monkeypatch).ArrayBackend
    supported = {name for name, callback in CALLBACKS.items() if backend().supports(name)}
    assert supported == set(minimum(REAL)), "examples/minimal_backend.py defines the minimum and nothing else"
    reference = learnt(type(tb.get_backend("numpy")), monkeypatch)
    assert learnt(backend, monkeypatch) == pytest.approx(reference, abs=1e-6)


def test_with_the_minimum_a_backend_has_all_that_has_a_fallback() -> None:
    least = partial(BinaryBackend(), minimum())
    for name, callback in CALLBACKS.items():
        if not callback.optional and fallbacks(name):
            assert support_of(least, name) in ("fall-back", "native")


@pytest.mark.parametrize("left_out", minimum(REAL))
def test_the_minimum_holds_nothing_that_could_be_left_out(left_out: str) -> None:
    less = partial(BinaryBackend(), [name for name in minimum() if name != left_out])()
    assert any(support_of(less, name) == "missing" for name in CALLBACKS if fallbacks(name))


def test_native_fallback_and_missing_are_told_apart() -> None:
    few = partial(BinaryBackend(), ["less", "multiply"])()
    assert support_of(few, "less", "f32") == "native"
    assert support_of(few, "greater") == "fall-back"
    assert support_of(few, "negate", "f32") == "fall-back"
    assert support_of(few, "negate", "c64") == "missing"  # -1 * (x + 0j) loses the sign of a zero
    assert support_of(few, "subtract") == support_of(few, "svd") == "missing"
    assert support_of(few, "softmax") == support_of(few, "expm") == "default"
    assert support_of(BinaryBackend, "log2") == "override"
    assert few.supports("less")
    assert not few.supports("greater")
    with pytest.raises(ArgumentError, match="expected the name of a callback or of a composite, got op='lesser'"):
        support_of(few, "lesser")


def test_what_is_missing_is_said_with_what_would_give_it() -> None:
    x = tb.tensor([1.0], backend=partial(BinaryBackend(), ["less"]))
    with pytest.raises(UnsupportedOp, match=r"has subtract, .* implement subtract, or add, negate, which its fall"):
        tb.subtract(x, x)
    with pytest.raises(UnsupportedOp, match=r"has erf, got backend='partial'; move .* or implement erf on the backend"):
        tb.erf(x)
    y = tb.tensor([1.0], backend=without(BinaryBackend(), "pow"))
    assert tb.pow(tb.astype(y, "s64"), 3).item() == 1
    with pytest.raises(UnsupportedOp, match=r"a backend that has pow of float32, got backend='partial'; .* pow on the"):
        tb.pow(y, y)


class Halves(Backend):
    """A backend that holds five dtypes and compares two: `less` takes both of them, `greater` only float32."""

    name = "halves"
    dtypes = frozenset({bool_, int8, int64, float16, float32})

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """Return the bytes as the payload."""
        return data

    def to_binary(self, x: tb.Tensor, limit: int, /) -> bytes:
        """Return the bytes of at most `limit` elements."""
        data: bytes = x.data
        return data[: limit * x.dtype.itemsize]

    @limited_to("f32", "f16")
    def less(self, out: Template, x1: tb.Tensor, x2: tb.Tensor, /) -> Payload:
        """Compare as the reference does."""
        return BinaryBackend().less(out, x1, x2)

    @limited_to("f32")
    def greater(self, out: Template, x1: tb.Tensor, x2: tb.Tensor, /) -> Payload:
        """Compare as the reference does."""
        return BinaryBackend().greater(out, x1, x2)


def test_a_fallback_serves_the_dtypes_that_a_callback_does_not_take() -> None:
    assert support_of(Halves, "greater", "f32") == "native"
    assert support_of(Halves, "greater", "f16") == "fall-back"
    x = tb.tensor([1.0, 2.0], dtype="f16", backend=Halves)
    assert tb.greater(x, tb.tensor(1.5, dtype="f16", backend=Halves)).tolist() == [False, True]
    small = tb.tensor([1, 2], dtype="s8", backend=Halves)
    with pytest.raises(UnsupportedOp, match="a dtype that less of the backend 'halves' supports, got dtype=int8"):
        tb.greater(small, small)
    assert support_of(Halves, "greater", "f64") == "missing"


def test_a_dtype_that_a_backend_does_not_hold_is_said_wherever_it_comes_from() -> None:
    x = tb.tensor([1, 2], dtype="u8")
    makers: list[Callable[[], tb.Tensor]] = [
        lambda: tb.tensor([1], dtype="u8", backend=Halves),
        lambda: tb.asarray(numpy.ones(1, numpy.uint8), backend=Halves),
        lambda: tb.from_binary(b"\1", Template((1,), "u8"), Halves),
        lambda: tb.full(1, 1, dtype="u8", backend=Halves),
        lambda: x.backend_copy(Halves),
        lambda: x.backend_transfer(Halves),
        lambda: tb.greater(x.backend_copy("binary"), tb.tensor([1.0], dtype="f16", backend=Halves)),
    ]
    for make in makers:
        with pytest.raises(UnsupportedOp, match="got dtype=uint8"):
            make()


def test_names_and_memos_are_as_with_a_callback() -> None:
    x = tb.tensor([[1, 2]], names=("row", "column"), backend=without(BinaryBackend(), "subtract"))
    for _ in range(2):  # planned, then ready
        assert (x - x).names == ("row", "column")
        assert (x - 1).tolist() == [[0, 1]]
        assert (5 - x).tolist() == [[4, 3]]


def test_new_tensors_of_a_fallback_are_on_the_backend_of_the_call() -> None:
    backend = without(BinaryBackend(), "iota", "constant", "eye")
    with tb.default_backend("numpy"):
        assert tb.iota(3, backend=backend).backend is backend()
        assert tb.eye(2, backend=backend).tolist() == [[1.0, 0.0], [0.0, 1.0]]
        assert tb.iota(300, dtype="s8", backend=backend).tolist()[-1] == 43


def test_a_fallback_with_another_template_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(out: Template, x: tb.Tensor, /) -> tb.Tensor:
        return tb.astype(x, "f64")

    fallbacks("erf")  # declares all fall-backs before the table is replaced
    monkeypatch.setattr(declarations, "_declared", {})
    fallback("erf")(wrong)
    x = tb.tensor([1.0], backend=without(BinaryBackend(), "erf"))
    with pytest.raises(ContractError, match=r"the fall-back of erf to return f32\[1\], got given=f64\[1\]"):
        tb.erf(x)


def test_a_fallback_has_the_parameters_of_its_callback() -> None:
    with pytest.raises(TypeError, match="the fall-back of 'sort' needs the parameters of its callback"):
        fallback("sort")(lambda out, x: x)


def half(x: tb.Tensor) -> tb.Tensor:
    return tb.multiply(x, 0.5)


def test_the_callbacks_that_a_function_runs_are_found_in_its_code() -> None:
    inner = half

    def by_helper(out: Template, x: tb.Tensor, /) -> tb.Tensor:
        return tb.concatenate([tb.negative(half(part)) for part in (x, x)])

    def by_closure(out: Template, x: tb.Tensor, /) -> tb.Tensor:
        return tb.square(inner(x))  # a composite, and a function that it closes over

    assert callbacks_in(by_helper) == {"concatenate", "multiply", "negate"}
    assert callbacks_in(by_closure) == {"multiply"}
    assert callbacks_in(lambda out: out.shape) == frozenset()


def test_rules_say_what_arrives() -> None:
    assert accepted_dtype("exp", int32) is float32
    assert accepted_dtype("left_shift", float32) is None
    assert accepted_dtype("take", uint8) is uint8


def test_a_backend_that_has_all_loads_no_fallbacks() -> None:
    code = (
        "import sys, tensorbackend as tb; x = tb.tensor([1.0, 2.0]); tb.sort(x - x * 2); "
        "assert 'tensorbackend.ops.fallbacks' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=EXAMPLES.parent)


@pytest.mark.parametrize("length", [7, 33, 64, 66])
def test_transforms_of_many_elements(length: int) -> None:
    """The transforms that the conformance tests draw are too short to be divided into halves."""
    least = partial(BinaryBackend(), minimum())
    x = tb.random.normal(tb.random.key(0), (2, length), dtype="f32")
    reference = tb.fft.fft(x)
    spectrum = tb.fft.fft(x.backend_copy(least)).backend_copy("numpy")
    assert tb.all_close(spectrum, reference, rtol=0.0, atol=1e-4).item()
    back = tb.fft.ifft(reference.backend_copy(least), n=length + 3).backend_copy("numpy")
    assert tb.all_close(back, tb.fft.ifft(reference, n=length + 3), rtol=0.0, atol=1e-5).item()


def test_factors_of_larger_matrices() -> None:
    """The matrices that the conformance tests draw have at most four rows."""
    least = partial(tb.get_backend("numpy"), minimum())
    x = tb.random.normal(tb.random.key(0), (2, 9, 7), dtype="f64").backend_copy(least)
    p, lower, u = tb.linalg.lu(x)
    assert tb.all_close(p @ lower @ u, x, rtol=0.0, atol=1e-14).item()
    q, r = tb.linalg.qr(x, mode="complete")
    assert tb.all_close(q @ r, x, rtol=0.0, atol=1e-14).item()
    gram = x.mT @ x
    factor = tb.linalg.cholesky(gram)
    assert tb.all_close(factor @ factor.mT, gram, rtol=0.0, atol=1e-13).item()
    solved = tb.linalg.triangular_solve(factor, x.mT)
    assert tb.all_close(factor @ solved, x.mT, rtol=0.0, atol=1e-14).item()
