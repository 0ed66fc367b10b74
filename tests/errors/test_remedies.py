"""What errors advise in place of shapes, names and elements runs, and is right."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import tensorbackend as tb
from tensorbackend.errors import DTypeError, NamesError, OperandError, ShapeError
from tensorbackend.errors.remedies import of_element, of_meeting, of_names, of_shape

X = tb.asarray(np.arange(9.0).reshape(3, 3), names=("row", "column"))
CUBE = tb.asarray(np.arange(60.0).reshape(5, 4, 3), names=("time", "lat", "lon"))
WEIGHTS = tb.asarray([1.0, 2.0, 3.0, 4.0], names=("lat",))


def answer(mistake: Callable[[], Any], kind: type[Exception], pattern: str) -> str:
    """The code in an error that matches a pattern, whose group it is."""
    with pytest.raises(kind) as caught:
        mistake()
    found = re.search(pattern, str(caught.value))
    assert found is not None, caught.value
    return found[1]


def test_the_transpose_is_added_by_position() -> None:
    code = answer(lambda: X + X.T, NamesError, r"; (right\.rename\(.*?\)) pairs the axes by position, ")
    found = X + eval(code, {"right": X.T})
    np.testing.assert_array_equal(found, np.asarray(X) + np.asarray(X).T)
    assert found.names == X.names
    assert "align_as() pairs axes by name" in of_meeting(("a", "b"), ("b", "c"))
    assert "right.rename" not in of_meeting(("a", "b"), ("b", "a"), whole=False)


def test_a_product_over_an_axis_of_both_is_a_dot() -> None:
    code = answer(lambda: CUBE @ WEIGHTS, ShapeError, r"; (tb\.dot\(.*?\)) sums over the axis of that name")
    found = eval(code, {"tb": tb, "x": CUBE, "y": WEIGHTS})
    np.testing.assert_allclose(found, np.einsum("tij,i->tj", CUBE, WEIGHTS))
    assert found.names == ("time", "lon")
    bare = WEIGHTS.rename(None)
    code = answer(lambda: CUBE @ bare, ShapeError, r"; (tb\.dot\(.*\)) sums over the axis of that size")
    np.testing.assert_allclose(eval(code, {"tb": tb, "x": CUBE, "y": bare}), np.asarray(found))


def test_names_of_axes_are_told_apart() -> None:
    assert of_names(("a", "b", "a"), 3) == "write ('a', 'b', 'a2')"
    assert of_names(("a", 3), 2).startswith("use None for an axis without")
    code = answer(lambda: tb.eye(3, names="point"), NamesError, r"; write (\(.*?\)), or ")
    assert tb.eye(3, names=eval(code)).names == ("point", "point2")


def test_a_shape_by_names_is_a_shape_and_names() -> None:
    assert of_shape((None, ("a", 2), ("b", 3))) == of_shape({"a": 2, "b": 3})
    assert of_shape((2, "time"))[""].startswith("names of axes are names=")
    assert of_shape(float("nan")).get("") is None
    assert of_shape(None).get("") is None
    assert of_shape(np.zeros(2, [("a", "f4"), ("b", "i2")])).get("") is None


def test_a_missing_number_and_a_sparse_matrix_of_scipy_are_answered() -> None:
    matrix = scipy.sparse.csr_array(np.eye(2))
    assert answer(lambda: tb.asarray([1.0, None]), OperandError, r"; write (float\('nan'\)) ") == "float('nan')"
    for mistake in (lambda: tb.asarray(matrix), lambda: tb.sum(matrix)):
        code = answer(mistake, OperandError, r"; write (tb\..*\))")
        np.testing.assert_array_equal(eval(code, {"tb": tb, "A": matrix}).to_dense(), np.eye(2))
    assert of_element(object()) == ""


def test_dates_and_objects_are_answered_by_numbers() -> None:
    dates = np.asarray(["2020-01-01", "2020-01-03"], dtype="datetime64[D]")
    known: dict[str, Any] = {"numpy": np, "dates": dates, "durations": dates - dates[0]}
    code = answer(lambda: tb.asarray(dates), DTypeError, r"; write (.*\)) for dates as numbers of days$")
    assert tb.asarray(eval(code, known)).tolist() == [0.0, 2.0]
    code = answer(lambda: tb.asarray(known["durations"]), DTypeError, r"; write (.*\)) for durations")
    assert tb.asarray(eval(code, known)).tolist() == [0.0, 2 * 86400.0]
    objects = np.asarray([1, None], dtype=object)
    code = answer(lambda: tb.asarray(objects), DTypeError, r"; write (.*\))$")
    assert np.isnan(np.asarray(tb.asarray(eval(code, {"array": objects})))).tolist() == [False, True]


def test_a_result_that_a_function_forgot_to_return_is_none() -> None:
    text = answer(lambda: X + None, OperandError, r"; (.*)$")  # type: ignore[arg-type] # the mistake
    assert text == "None comes from a function without a return"


def test_a_shape_in_place_of_a_parameter_of_a_distribution_is_answered() -> None:
    key = tb.random.key(0)
    code = answer(lambda: tb.random.poisson(key, (3,)), OperandError, r"; write (shape=\(3,\)) ")  # type: ignore[arg-type]
    assert eval(f"tb.random.poisson(key, 2.0, {code})", {"tb": tb, "key": key}).shape == (3,)
