"""Errors about backends that fail or break their contract."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.errors import ContractError, DataError
from tensorbackend.protocol import Kernel, Payload, planned
from tensorbackend.testing import profile
from tensorbackend.testing.calls import Invocation
from tensorbackend.testing.conformance import judge
from tensorbackend.testing.failures import Disagreement


class Failing(NumpyBackend):
    """A plugin whose callbacks raise another library's errors, at the first call or later."""

    name = "failing"
    broken = True

    def sin(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
        return self._fail(x.data)

    @planned
    def add(self, out: tb.Template, x1: tb.Template, x2: tb.Template, /) -> Kernel:
        return lambda left, right: self._fail(left)

    @planned
    def cos(self, out: tb.Template, x: tb.Template, /) -> Kernel:
        raise KeyError("no such plan")

    def sum(self, out: tb.Template, x: tb.Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        return self._fail(numpy.asarray(x.data.sum(axis=axes, keepdims=keepdims)))

    def exp(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
        raise MemoryError("too large")

    def log(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
        raise DataError("no logarithm today")

    def _fail(self, data: Payload) -> Payload:
        if Failing.broken:
            raise ZeroDivisionError("the library's own words")
        return data


@pytest.fixture(autouse=True)
def _broken() -> Iterator[None]:
    Failing.broken = True
    yield
    Failing.broken = True


CALLS: dict[str, Callable[[tb.Tensor], Any]] = {
    "sin": tb.sin,
    "add": lambda x: x + x,
    "sum": lambda x: tb.sum(x, axis=0),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_plugins_own_error_is_told_with_op_and_backend(name: str) -> None:
    x, call = tb.ones(2, backend=Failing), CALLS[name]

    def fails() -> ContractError:
        with pytest.raises(ContractError) as caught:
            call(x)
        return caught.value

    cold = fails()
    assert str(cold) == (
        f"{name}: expected {name} of the backend 'failing' to return a result, or to raise an error of "
        f'tensorbackend.extending, got error=ZeroDivisionError("the library\'s own words"); fix the backend'
    )
    assert isinstance(cold.__cause__, ZeroDivisionError)
    assert cold.breach == "exception"
    Failing.broken = False
    call(x)
    Failing.broken = True
    assert str(fails()) == str(cold)  # a warm call
    with pytest.raises(ContractError, match=f"{name} of the backend 'failing'") as traced:
        tb.jit(call)(x)
    assert any("traced at" in note for note in traced.value.__notes__)


def test_beside_a_number() -> None:
    x = tb.ones(2, backend=Failing)
    Failing.broken = False
    tb.add(x, 1)
    Failing.broken = True
    for _ in range(2):
        with pytest.raises(ContractError, match="add of the backend 'failing'"):
            tb.add(x, 1)


def test_an_error_while_planning() -> None:
    with pytest.raises(ContractError, match=r"^cos: expected cos of .* got error=KeyError\('no such plan'\)"):
        tb.cos(tb.ones(2, backend=Failing))


def test_what_is_not_a_fault_of_the_backend_is_unchanged() -> None:
    x = tb.ones(2, backend=Failing)
    with pytest.raises(MemoryError):
        tb.exp(x)
    with pytest.raises(DataError, match="no logarithm today"):
        tb.log(x)

    def refuse(x: tb.Tensor) -> tb.Tensor:
        if x.backend.name == "failing":
            raise LookupError("the user's own")
        return x

    with pytest.raises(LookupError, match="the user's own"):
        tb.map(x, function=refuse)


# Checked mode


class Careless(NumpyBackend):
    """A plugin that breaks its contract, each op in another way."""

    name = "careless"

    def negate(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
        numpy.negative(x.data, out=x.data)
        return x.data

    def concatenate(self, out: tb.Template, tensors: Any, /, *, axis: int) -> Payload:
        tensors[1].data[0] = 7
        return numpy.concatenate([x.data for x in tensors], axis=axis)

    def lu(self, out: tuple[tb.Template, ...], x: tb.Tensor, /) -> Payload:
        return x.data, x.data

    def qr(self, out: tuple[tb.Template, ...], x: tb.Tensor, /, *, mode: str) -> Payload:
        return None

    def optional(self, name: str, args: Any, default_impl: Callable[..., Any]) -> Any:
        result = default_impl(*args)
        answers: dict[str, Callable[[], Any]] = {
            "phase": lambda: result.data,
            "std": lambda: tb.astype(result, "f64"),
            "diff": lambda: (result,),
            "outer": lambda: result.backend_copy("numpy"),
        }
        return answers[name]() if name in answers else result


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (tb.negative, r"negate of the backend 'careless' to leave its inputs unchanged, got changed=f32\[2\]; fix"),
        (lambda x: tb.concatenate([x, x + 1]), "concatenate of the backend 'careless' to leave its inputs"),
        (
            lambda x: tb.linalg.lu(tb.eye(2, like=x)),
            "lu of the backend .* to return 3 payloads in a tuple, got returned=2",
        ),
        (lambda x: tb.linalg.qr(tb.eye(2, like=x)), "qr .* to return 2 payloads in a tuple, got returned='NoneType'"),
        (tb.phase, r"optional of the backend 'careless' to return for phase a tensor of f32\[2\] on the backend, got"),
        (tb.std, r"for std a tensor of f32 on the backend, got returned=\"f64 on 'careless'\""),
        (tb.diff, r"to return for diff a tensor of f32\[1\] on the backend"),
        (lambda x: tb.outer(x, x), "got returned=\"f32.* on 'numpy'\"; return the result of default_impl"),
    ],
)
def test_checked_mode_finds_what_a_backend_does_wrong(call: Callable[[tb.Tensor], Any], message: str) -> None:
    x = tb.add(tb.tensor([1.0, 2.0], backend=Careless), 0)  # in memory of the backend
    for _ in range(3):
        with pytest.raises(ContractError, match=message):
            call(x)


def test_a_result_may_be_the_payload_of_an_input() -> None:
    class Sharing(NumpyBackend):
        name = "sharing"

        def reshape(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
            return x.data.reshape(out.shape) if out.shape != x.shape else x.data

    x = tb.ones(3, backend=Sharing)
    y = tb.reshape(x, (3,))
    assert y.data is x.data
    x[0] = 5.0
    assert y.tolist() == [1.0, 1.0, 1.0]  # an assignment gives x another payload


def test_the_kit_tells_an_error_by_accident() -> None:
    with pytest.raises(Disagreement, match="the library's own words") as caught:
        judge(Invocation("sin", (tb.tensor([1.0, 2.0], backend="binary"),), {}), Failing())
    assert caught.value.kind == "exception"


class Miscounting(NumpyBackend):
    """A plugin that returns another number of results than a composite has."""

    name = "miscounting"
    count = 0

    def optional(self, name: str, args: Any, default_impl: Callable[..., Any]) -> Any:
        result = default_impl(*args)
        if name != "split":
            return result
        several = list(result)
        return tuple((several * (self.count + 1))[: self.count])


@profile(10)
@given(st.integers(0, 5))
def test_checked_mode_counts_the_results_of_a_composite(count: int) -> None:
    Miscounting.count = count
    x = tb.tensor([1.0, 2.0, 3.0, 4.0], backend=Miscounting)
    if count == 2:
        assert [part.tolist() for part in tb.split(x, 2)] == [[1.0, 2.0], [3.0, 4.0]]
    else:
        with pytest.raises(ContractError, match="optional of the backend 'miscounting' to return for split"):
            tb.split(x, 2)


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        (None, r"sin of the backend 'giving' to return a payload, got returned=None; fix the backend"),
        (NotImplemented, r"got returned=NotImplemented; mark the dtypes that it takes by limited_to\(\)"),
        (tb.ones(2), r"sin of the backend 'giving' to return a payload, got returned="),
        ([1.0, 1.0], r"sin of the backend 'giving' to return the payload of f32\[2\], got payload="),
    ],
)
def test_a_result_that_is_no_payload(returned: Any, told: str) -> None:
    methods = {"name": "giving", "sin": lambda self, out, x, /: returned}
    kind: Any = type("Giving", (NumpyBackend,), {**methods, "__module__": __name__})
    with pytest.raises(ContractError, match=told):
        tb.sin(tb.ones(2, backend=kind))
