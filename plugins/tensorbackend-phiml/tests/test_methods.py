"""Every method of the adapter has a call in `cases.py` and returns the expected value on each backend."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest
from cases import CASES, Case
from phiml.backend import NUMPY
from phiml.backend import Backend as PhimlBackend

from tensorbackend_phiml import TensorBackend
from tensorbackend_phiml.base import ABSENT

METHODS = {name for name in dir(TensorBackend) if not name.startswith("_") and callable(getattr(TensorBackend, name))}


def test_each_method_has_a_call() -> None:
    assert METHODS - CASES.keys() - ABSENT == set()


def test_each_call_is_of_a_method() -> None:
    assert CASES.keys() - METHODS == set()


def test_what_is_absent_is_a_function_of_phiml() -> None:
    assert [name for name in ABSENT if not hasattr(PhimlBackend, name)] == []


@pytest.mark.parametrize("name", sorted(ABSENT))
def test_what_is_absent_is_refused(b: TensorBackend, name: str) -> None:
    assert not b.supports(name)
    with pytest.raises(NotImplementedError):
        getattr(b, name)(*[None] * len(signature(getattr(b, name)).parameters))


def arrays(b: Any, tree: Any) -> Any:
    """Convert nested native tensors to nested arrays."""
    if isinstance(tree, tuple | list):
        return [arrays(b, subtree) for subtree in tree]
    return np.asarray(b.numpy(tree))


def agree(result: Any, expected: Any) -> bool:
    """Whether nested arrays are close and have the same shapes and kinds; integers and floats count as one kind."""
    if isinstance(result, list):
        if not isinstance(expected, list):
            return agree(np.stack(result) if result else np.zeros(0), expected)
        return len(result) == len(expected) and all(map(agree, result, expected))
    expected = np.asarray(expected)
    alike = result.dtype.kind == expected.dtype.kind or {result.dtype.kind, expected.dtype.kind} == {"i", "f"}
    return alike and result.shape == expected.shape and bool(np.allclose(result, expected, rtol=1e-4, atol=1e-5))


@pytest.mark.parametrize(("name", "case"), [(name, case) for name in sorted(CASES) for case in CASES[name]])
def test_a_call_gives_its_value(b: TensorBackend, name: str, case: Case) -> None:
    result = arrays(b, case.call(b))
    expected = arrays(NUMPY, case.call(NUMPY)) if case.expected is None else arrays(NUMPY, case.expected)
    assert agree(result, expected), f"{result} is not {expected}"


@pytest.mark.parametrize("wrong", [np.zeros((2, 3)), [[0.0, 1.0]], np.ones((2, 3), bool), np.ones((3, 2))])
def test_the_comparison_tells_other_values(wrong: Any) -> None:
    assert not agree(np.ones((2, 3)), arrays(NUMPY, wrong))
