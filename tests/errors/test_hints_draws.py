"""The orders of the arguments of random functions that hints name."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import TensorBackendError
from tensorbackend.errors.hints import rows

OF_DTYPES, OF_SHAPES = rows("arguments.dtype"), rows("arguments.shape")
KEY = tb.random.key(0)
VALUES: dict[str, Any] = {
    "a": 2.0,
    "alpha": tb.ones(3),
    "b": 3.0,
    "cov": tb.eye(2),
    "deviation": 2.0,
    "df": 4.0,
    "key": KEY,
    "lam": 3.0,
    "loc": 1.0,
    "lower": -1.0,
    "mean": tb.zeros(2),
    "n": 10,
    "p": 0.5,
    "scale": 2.0,
    "shape": (5,),
    "tb": tb,
    "upper": 1.0,
    "x": tb.ones(4),
}


@pytest.mark.parametrize("name", OF_SHAPES)
def test_a_parameter_behind_the_shape_is_answered_by_a_call_that_runs(name: str) -> None:
    code = OF_SHAPES[name].partition("as in ")[2]
    assert eval(code, dict(VALUES)).shape[0] == 5
    with pytest.raises(TensorBackendError, match=f"{name}: expected .*, got shape=0.5; .*{re.escape(code)}"):
        eval(code.replace(", shape)", ", 0.5)"), dict(VALUES))


@pytest.mark.parametrize("name", OF_DTYPES)
@pytest.mark.parametrize("place", ["shape, 2.0", "2.0, shape", "0.0, 1.0, shape"])
def test_a_scale_by_position_is_answered_by_a_call_that_runs(name: str, place: str) -> None:
    code = OF_DTYPES[name].partition("as in ")[2]
    assert eval(code, dict(VALUES)).shape == (5,)
    with pytest.raises(TensorBackendError, match=re.escape(code)):
        eval(f"tb.random.{name}(key, {place})", dict(VALUES))


def test_another_functions_shape_has_no_such_answer() -> None:
    with pytest.raises(TensorBackendError, match=r"zeros: expected a shape of integers, got shape=0\.5$"):
        tb.zeros(0.5)  # type: ignore[arg-type] # the mistake
