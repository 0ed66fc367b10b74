"""Accepted divergences: the example of each row differs today, and passes only because of the row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.dtypes import bool_
from tensorbackend.errors import BackendError, UnsupportedOp
from tensorbackend.protocol import Backend, Payload
from tensorbackend.testing import (
    FLUSHED,
    NOT_COMPARED,
    Divergence,
    Invocation,
    Judgement,
    about_subnormals,
    check,
    check_row,
    divergences_of,
    judge,
)
from tensorbackend.testing.subnormals import flush_subnormals, nearer


def call(name: str, *values: list[float], dtype: str = "float32") -> Invocation:
    return Invocation(name, tuple(tb.tensor(numbers, dtype=dtype, backend="binary") for numbers in values), {})


class FlushingBackend(BinaryBackend):
    """A backend that treats subnormals as zeros when it multiplies, and whose `floor` does not round down."""

    name = "flushing"
    dispatch_priority = 1

    def multiply(self, out: tb.Template, x1: tb.Tensor, x2: tb.Tensor, /) -> Payload:
        data = BinaryBackend.multiply(self, out, flush_subnormals(x1), flush_subnormals(x2))
        return flush_subnormals(tb.from_binary(data, out, "binary")).data

    def floor(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
        return x.data

    def divergences(self) -> Sequence[Divergence]:
        return [
            Divergence(
                "the processor treats subnormals as zeros",
                call("multiply", [1e-40], [1e20]),
                FLUSHED,
                when=about_subnormals,
            ),
            Divergence("the library does not round down", call("floor", [0.5]), NOT_COMPARED, ops=("floor",)),
        ]


def installed() -> list[Backend]:
    backends: list[Backend] = [FlushingBackend()]
    for name in tb.backends():
        try:
            backends.append(tb.get_backend(name))
        except (BackendError, ImportError):  # its library is not installed
            continue
    return backends


CASES = [(backend, row) for backend in installed() for row in divergences_of(backend)]


@pytest.mark.parametrize(("backend", "row"), CASES, ids=[f"{backend.name}: {row.reason}" for backend, row in CASES])
def test_a_row_is_needed_and_enough(backend: Backend, row: Divergence) -> None:
    check_row(row, backend)
    assert judge(row.witness, backend).divergence is not None


def test_a_row_that_is_not_needed_is_found() -> None:
    row = FlushingBackend().divergences()[0]
    with pytest.raises(AssertionError, match=r"binary agrees on .* now: remove the row 'the processor"):
        check_row(row, BinaryBackend())
    with pytest.raises(AssertionError, match="expected"):
        check_row(row._replace(judgement=Judgement(ulps=1)), FlushingBackend())
    with pytest.raises(AssertionError, match="excuses every failure"):
        check_row(row._replace(judgement=NOT_COMPARED), FlushingBackend())
    with pytest.raises(AssertionError, match=r"names 'slu': expected a name of testing.names\(\)"):
        check_row(row._replace(ops=("nn.slu",)), FlushingBackend())


def test_a_row_concerns_no_other_call() -> None:
    backend = FlushingBackend()
    assert judge(call("multiply", [2.0], [3.0]), backend).divergence is None
    with pytest.raises(AssertionError):
        check(call("ceil", [0.5]), WrongCeil())
    assert not backend.divergences()[0].concerns(call("multiply", [2.0], [3.0]), [])
    assert not backend.divergences()[1].concerns(call("ceil", [1e-40]), [])


class Versioned(FlushingBackend):
    name = "versioned"

    def versions(self) -> Mapping[str, str]:
        return {"library": "1.10.2"}

    def divergences(self) -> Sequence[Divergence]:
        row = super().divergences()[0]
        return [row._replace(until=("library", version)) for version in ("1.9", "1.10.2", "1.10.10", "2.0.0rc1")]


def test_a_row_ends_with_a_version_of_the_library() -> None:
    assert [row.until for row in divergences_of(Versioned())] == [("library", "1.10.10"), ("library", "2.0.0rc1")]


class WrongCeil(FlushingBackend):
    name = "wrong_ceil"

    def ceil(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
        return x.data


def test_flushing_excuses_no_other_mistake() -> None:
    class Wrong(FlushingBackend):
        name = "wrong_product"

        def multiply(self, out: tb.Template, x1: tb.Tensor, x2: tb.Tensor, /) -> Payload:
            return BinaryBackend.add(self, out, x1, x2)

    with pytest.raises(AssertionError):
        check(call("multiply", [1e-40, 2.0], [1e20, 3.0]), Wrong())
    assert judge(call("multiply", [1e-40, 2.0], [1e20, 3.0]), FlushingBackend()).divergence is not None


def test_the_parts_of_a_complex_number_are_flushed_one_by_one() -> None:
    # log(0 - 1e-310j) on a backend that flushes: the real part is that of log(0), the imaginary part is exact.
    actual, exact, of_zero = (
        tb.tensor(number, dtype="c128", backend="binary")
        for number in (complex(-math.inf, -1.57), complex(-713.8, -1.57), complex(-math.inf, -0.0))
    )
    assert nearer(actual, of_zero, exact).item() == complex(-math.inf, -1.57)
    assert nearer(exact, of_zero, actual).item() == complex(-math.inf, -1.57)


def test_ops_are_named_with_or_without_a_namespace() -> None:
    witness = Invocation("log_sigmoid", (tb.tensor([1.0], backend="binary"),), {})
    for name in ("log_sigmoid", "nn.log_sigmoid"):
        assert Divergence("", witness, NOT_COMPARED, ops=(name,)).concerns(witness, [])
    assert not Divergence("", witness, NOT_COMPARED, ops=("nn.silu",)).concerns(witness, [])


def test_a_wider_bound() -> None:
    drawn = call("floor", [0.5])
    of_one = Divergence("", drawn, Judgement(absolute=0.5))
    assert judge(drawn, FlushingBackend(), rows=[of_one]).divergence is of_one
    with pytest.raises(AssertionError):
        judge(drawn, FlushingBackend(), rows=[of_one._replace(judgement=Judgement(absolute=0.25))])
    with pytest.raises(AssertionError):
        judge(drawn, FlushingBackend(), rows=[of_one._replace(dtypes=(tb.float64,))])
    in_ulps = Divergence("", drawn, Judgement(ulps=2**31), dtypes=(tb.float32,))
    assert judge(drawn, FlushingBackend(), rows=[in_ulps]).divergence is in_ulps


def test_a_dtype_that_a_backend_does_not_hold() -> None:
    class Narrow(BinaryBackend):
        name = "narrow"
        dtypes = frozenset({bool_, tb.int64, tb.float32})

    with pytest.raises(UnsupportedOp, match="a dtype that the backend 'narrow' holds, got dtype=float64"):
        check(call("add", [1.0], [2.0], dtype="float64"), Narrow())


def test_a_row_of_another_device_is_not_asked() -> None:
    class Elsewhere(FlushingBackend):
        name = "elsewhere"

        def divergences(self) -> Sequence[Divergence]:
            return [row._replace(device=device) for row in super().divergences()[:1] for device in ("cuda", "cpu")]

    assert [row.device for row in divergences_of(Elsewhere())] == ["cpu"]
