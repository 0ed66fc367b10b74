"""What a backend's class must have before an instance starts."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.dtypes import bool_
from tensorbackend.errors import BackendError, ContractError, DTypeError
from tensorbackend.protocol.callbacks import limited_to


@pytest.mark.parametrize("dtypes", [("bool", "s64", tb.float32), ["bool", "int64", "f32"], {bool_, tb.int64, "f32"}])
def test_dtypes_in_any_collection(dtypes: Any) -> None:
    kind: Any = type("Listed", (tb.NumpyBackend,), {"name": "listed", "dtypes": dtypes})
    assert kind.dtypes == frozenset({bool_, tb.int64, tb.float32})
    assert tb.ones(2, dtype="f32", backend=kind).tolist() == [1, 1]


def test_dtypes_that_are_wrong() -> None:
    with pytest.raises(DTypeError, match="expected a dtype, got dtype='float33'"):
        type("Unknown", (tb.NumpyBackend,), {"name": "unknown", "dtypes": ["float33"]})
    kind: Any = type("Few", (tb.NumpyBackend,), {"name": "few", "dtypes": ["bool", "f32"]})
    with pytest.raises(BackendError, match=r"bool and int64 among the dtypes of the backend 'few', got .*; add them"):
        tb.ones(2, backend=kind)
    with pytest.raises(DTypeError, match=r"expected dtypes one by one, got .*; write limited_to\('f32', 'f64'\)"):
        limited_to(["f32"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "method", "form"),
    [
        ("from_numpy", lambda self, array: array, r"from_numpy\(self, out, array, /, \*, copy\)"),
        ("to_numpy", lambda self, x: x, r"to_numpy\(self, x, dtype, copy, /\)"),
        ("from_binary", lambda self, data, dtype, shape: data, r"from_binary\(self, out, /, \*, data\)"),
        ("to_binary", lambda self, x: x, r"to_binary\(self, x, limit, /\)"),
        ("compile_graph", lambda self: None, r"compile_graph\(self, graph, /\)"),
    ],
)
def test_methods_in_another_form(name: str, method: Any, form: str) -> None:
    kind: Any = type("Formed", (tb.NumpyBackend,), {"name": "formed", name: method})
    with pytest.raises(ContractError, match=rf"{name} of the backend 'formed' in the form .*; write {form}"):
        tb.ones(2, backend=kind)
