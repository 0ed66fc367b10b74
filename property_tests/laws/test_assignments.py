"""More of the random assignments and loops of `property_tests/test_assignment.py`."""

from __future__ import annotations

from typing import Any
from weakref import getweakrefcount

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import memory, writing
from tensorbackend.testing.failures import Disagreement
from tensorbackend.testing.sharers import check_values_stay

from ..test_assignment import BACKENDS, TRANSFORMS, check_loops, check_values


@pytest.mark.parametrize("backend", BACKENDS)
def test_values_stay_values(backend: str) -> None:
    check_values(backend, 150)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_loops_keep_values(name: str) -> None:
    check_loops(TRANSFORMS[name], 60)


def _trusts_every_payload(x: Any) -> Any:
    return x.data


def _trusts_memory_that_it_made(x: Any) -> Any:
    return x.data if x.data.base.__class__ is memory.Memory else memory._own(x)


def _forgets_no_view(x: Any) -> Any:
    """Asks the first view that was lent, again and again."""
    lent = getattr(x.data.base, "lent", None)
    array = memory._own(x)
    if lent is not None:
        array.base.lent = lent
    return array


def _lends_another_view(x: Any) -> Any:
    """Gives the tensor a view that nobody watches."""
    x.data = memory._own(x).base.view(np.ndarray)
    return x.data


def _looks_at_the_tensor(x: Any) -> Any:
    """Takes a payload that has no weak reference for one that nobody has."""
    return x.data if not getweakrefcount(x.data) else memory._own(x)


@pytest.mark.parametrize(
    "wrong",
    [_trusts_every_payload, _trusts_memory_that_it_made, _forgets_no_view, _lends_another_view, _looks_at_the_tensor],
)
def test_a_route_by_which_memory_escapes_is_noticed(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five ways to write to memory that somebody else sees; without the count of checked mode, which would refuse."""
    monkeypatch.setattr(writing, "own", wrong)
    with pytest.raises(Disagreement, match="changes what"):
        check_values_stay(tb.tensor([[1.0, 2.0], [3.0, 4.0]], backend="binary"), 0, 5.0, tb.get_backend("numpy"))
