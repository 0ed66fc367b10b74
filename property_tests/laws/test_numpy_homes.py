"""Every call of `numpy_programs`, with one array on a backend that is not the default one: all of it computes there.

The other operands are NumPy's arrays or lists. The call inside a block that makes the backend of the array the default
one says what is right: its value, its dtype, its backend.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.testing import profile

from ..numpy_programs.calls import CALLS
from ..numpy_programs.writes import WRITES
from .test_numpy_namespace import drawn

PLACES: Final = [("binary", "numpy", 300), ("numpy", "binary", 300), ("jax", "numpy", 30)]
"""The backend of the array, the default one, and the draws. BinaryBackend yields to NumPy; JAX refuses its arrays."""

LAYS: Final = [numpy.array, numpy.ndarray.tolist]
"""How the other operands are given: as NumPy's arrays, and as lists of numbers."""

MAKERS: Final = {
    "arange", "array", "asarray", "empty", "eye", "identity", "linspace", "logspace", "geomspace", "ones", "tri",
    "zeros", "indices", "fromfunction", "fromiter", "tril_indices", "triu_indices", "diag_indices", "mask_indices",
    "ix_", "full", "default_rng", "poly1d",
}  # fmt: skip
"""Functions whose arrays are on the default backend, whatever else is in the program."""

OWN: Final = {
    "np.empty_like(a) * 0": "what an empty array holds is arbitrary",
}  # fmt: skip


def operands_of(call: str) -> list[str]:
    """Return the names of the operands of a call, unless it makes other arrays on the default backend."""
    tree = ast.parse(call)
    if any(isinstance(node, ast.Attribute) and node.attr in MAKERS for node in ast.walk(tree)):
        return []
    named = _names(tree) & set(drawn(0, 2, 2))
    for inner in _inner_calls(tree):
        named &= _names(inner)  # of any other array the inner call makes one on the default backend
    return sorted(named)


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _inner_calls(tree: ast.AST) -> list[ast.Call]:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("np.")]
    return [call for call in calls if any(call in ast.walk(other) for other in calls if other is not call)]


CASES: Final = [(call, name) for call in [*CALLS, *WRITES] if call not in OWN for name in operands_of(call)]
"""Each call and statement, with the operand that is an array."""


def _outcome(call: str, scope: dict[str, Any], name: str, place: AbstractContextManager[Any]) -> Any:
    """What a call returns, or what a statement leaves in an array; an error is an outcome too."""
    scope = {"np": np, **scope}
    with warnings.catch_warnings(), numpy.errstate(all="ignore"), place:
        warnings.simplefilter("ignore")
        try:
            if call in WRITES:
                exec(call, scope)
                return scope[name]
            return eval(call, scope)
        except Exception as error:  # lists have no methods of arrays; then both are errors
            return type(error)


def _facts(value: Any) -> Iterator[Any]:
    """What must be equal of two outcomes, part by part."""
    if isinstance(value, tuple | list):
        yield type(value)
        for part in value:
            yield from _facts(part)
    elif type(value) is np.ndarray:
        yield value.tensor.backend, value.dtype, numpy.asarray(value)
    elif isinstance(value, numpy.ndarray | numpy.generic):
        yield type(value), value.dtype, numpy.asarray(value)
    elif isinstance(value, int | float | complex | str | bytes | type):
        yield value


def _same(one: Any, other: Any) -> bool:
    numpy.testing.assert_equal(list(_facts(one)), list(_facts(other)))
    return True


@pytest.mark.parametrize("places", PLACES, ids=str)
def test_lists_and_numpys_arrays_follow_an_array_that_is_elsewhere(places: tuple[str, str, int]) -> None:
    home, default, draws = places

    @profile(draws)
    @given(st.sampled_from(CASES), st.sampled_from(LAYS), st.integers(0, 99))
    def check(case: tuple[str, str], lay: Any, seed: int) -> None:
        call, name = case
        chosen, expected = ({key: lay(value) for key, value in drawn(seed, 3, 3).items()} for _ in range(2))
        for scope in (chosen, expected):
            with tb.default_backend(home):
                scope[name] = np.array(numpy.asarray(drawn(seed, 3, 3)[name]))
        with tb.default_backend(default):
            got = _outcome(call, chosen, name, nullcontext())
        assert _same(got, _outcome(call, expected, name, tb.default_backend(home)))

    check()
