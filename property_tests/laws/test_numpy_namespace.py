"""`tensorbackend.numpy` compared with NumPy: calls return the same, and statements change the same."""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend.numpy as ours
from tensorbackend.numpy.functions import PUBLIC
from tensorbackend.testing import profile

from ..numpy_programs.calls import CALLS
from ..numpy_programs.writes import WRITES

Operands = dict[str, Any]


def drawn(seed: int, rows: int, columns: int) -> Operands:
    """Return the operands that calls name, as NumPy's arrays."""
    rng = numpy.random.default_rng(seed)
    shape = rows, columns
    values: Operands = {
        "a": rng.normal(size=shape), "b": rng.normal(size=shape), "row": rng.normal(size=columns),
        "i": rng.integers(-9, 9, shape), "j": rng.integers(-9, 9, shape), "k": rng.integers(0, 6, rows + 2),
        "p": rng.uniform(0.5, 3, shape), "m": rng.random(shape) < 0.5, "w": rng.random(shape) < 0.5,
        "v": rng.normal(size=rows + 2), "u": rng.normal(size=3), "s": numpy.sort(rng.normal(size=rows + 1)),
        "h": numpy.where(rng.random(shape) < 0.2, numpy.nan, rng.normal(size=shape)),
        "f4": rng.normal(size=shape).astype("f4"), "i4": rng.integers(-9, 9, shape).astype("i4"),
        "M": rng.normal(size=(columns, columns)), "N": rng.normal(size=(columns, columns)),
        "t": rng.normal(size=(rows, 2, columns)),
    }  # fmt: skip
    values["c"] = values["a"] + 1j * values["b"]
    values["d"] = values["b"] - 1j * values["p"]
    values["S"] = values["M"] @ values["M"].T + columns * numpy.eye(columns)
    values["h"][0, :] = 1.5
    values["h"][:, 0] = 2.5
    return values


SIZES = st.tuples(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(2, 4))


def evaluated(call: str, np: Any, operands: Operands) -> Any:
    """Return what a call gives with NumPy, or with the namespace, as `np`."""
    made = {name: value.copy() if np is numpy else np.array(value) for name, value in operands.items()}
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return eval(call, {"np": np, **made})


def assert_same(result: Any, expected: Any) -> None:
    """Asserts that a result is NumPy's: its shape, dtype and elements, also of parts of tuples and lists."""
    if isinstance(expected, tuple | list) and not numpy.isscalar(expected):
        assert len(result) == len(expected)
        for part, expected_part in zip(result, expected, strict=True):
            assert_same(part, expected_part)
    elif isinstance(expected, numpy.ndarray | numpy.generic):
        assert isinstance(result, ours.ndarray | numpy.generic), type(result)
        array = numpy.asarray(result)
        values: Any = expected  # a scalar of NumPy's is an array to the test
        assert array.shape == expected.shape
        assert array.dtype == expected.dtype
        exact = expected.dtype.kind in "biu"
        digits = 1e-5 if array.dtype in (numpy.float32, numpy.complex64, numpy.float16) else 1e-9
        numpy.testing.assert_allclose(array, values, rtol=0 if exact else digits, atol=0 if exact else digits)
    elif isinstance(expected, str | bytes | int | float | numpy.dtype | type):
        assert result == expected


@pytest.mark.parametrize("call", CALLS)
def test_a_call_gives_what_numpy_gives(call: str) -> None:
    @profile(3)
    @given(SIZES)
    def check(sizes: tuple[int, int, int]) -> None:
        operands = drawn(*sizes)
        for form in forms(call):
            assert_same(evaluated(form, ours, operands), evaluated(call, numpy, operands))

    check()


def forms(call: str) -> Iterator[str]:
    """Yield a call as it is written, and with keywords in place of positions where NumPy takes them."""
    yield call
    tree = ast.parse(call, mode="eval")
    if isinstance(tree.body, ast.Call):
        keywords = with_keywords(tree.body)
        if keywords:
            yield keywords


def with_keywords(call: ast.Call) -> str:
    """Return a call of a function of NumPy's with its arguments as keywords, an empty text where it takes none."""
    name = ast.unparse(call.func)
    function = eval(name, {"np": numpy}) if name.startswith("np.") and call.args else None
    if not callable(function):
        return ""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ""
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return ""
    positions, named = [], list(call.keywords)
    for parameter, argument in zip(parameters, call.args, strict=False):
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            named.append(ast.keyword(parameter.name, argument))
        else:
            positions.append(argument)
    if len(positions) + len(named) < len(call.args) + len(call.keywords) or len(positions) == len(call.args):
        return ""
    return ast.unparse(ast.Call(call.func, positions, named))


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # of NumPy 2.5
@pytest.mark.parametrize("statement", WRITES)
def test_a_statement_changes_what_it_changes_in_numpy(statement: str) -> None:
    @profile(3)
    @given(SIZES)
    def check(sizes: tuple[int, int, int]) -> None:
        operands = drawn(*sizes)
        expected = {name: value.copy() for name, value in operands.items()}
        with numpy.errstate(all="ignore"):
            exec(statement, {"np": numpy}, expected)
            changed = {name: ours.array(value) for name, value in operands.items()}
            exec(statement, {"np": ours}, changed)
        for name in operands:
            assert_same(changed[name], expected[name])

    check()


def named_in(calls: list[str]) -> set[str]:
    """Return the names of the namespace in calls."""
    names = set()
    for node in ast.walk(ast.parse("\n".join(calls))):
        if isinstance(node, ast.Attribute):
            names.add(ast.unparse(node).removeprefix("np.").removeprefix("lib.stride_tricks."))
    return names


ELSEWHERE = {
    "save", "savez", "savez_compressed", "load", "loadtxt", "genfromtxt", "savetxt", "fromfile", "from_dlpack",
    "geterr", "seterr", "einsum_path", "view", "in1d", "trapz", "row_stack",
}  # fmt: skip
"""Functions that tests of the package judge, as what they do is not a result."""


def test_each_function_is_called() -> None:
    called = named_in([*CALLS, *WRITES])
    missing = {name for name in PUBLIC if name not in called and f"{name}.outer" not in called} - ELSEWHERE
    synonyms = {name for name in missing if any(PUBLIC[name] is PUBLIC.get(other) for other in called)}
    assert missing - synonyms == set()
