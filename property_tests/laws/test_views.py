"""What is written to the result of a function or a key reaches its argument where it does so with NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as ours

from ..numpy_programs.views import COPIES, VIEWS, WRITES, Maker

Outcome = tuple[Any, ...]


def _fresh(np: Any) -> Any:
    return np.array(numpy.arange(12.0).reshape(3, 4))


def _outcome(np: Any, maker: Maker, write: Maker, owned: bool) -> Outcome:
    """The values of an array, if a variable owns it, and of what was made of it, after a write; or the error."""
    x: Any = _fresh(np) if owned else None
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        y = maker(np, _fresh(np) if x is None else x)
        error: type[Exception] | None = None
        try:
            y = write(np, y)
        except Exception as raised:
            error = type(raised)
    return error, None if x is None else x.tolist(), y.tolist(), numpy.shape(y)


@pytest.mark.parametrize("owned", [True, False], ids=["variable", "temporary"])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("backend", ["numpy", "binary"])
def test_a_write_reaches_the_array_that_numpy_writes_to(backend: str, write: str, owned: bool) -> None:
    wrong = []
    with tb.default_backend(backend):
        for name, maker in {**VIEWS, **COPIES}.items():
            error, *values = _outcome(numpy, maker, WRITES[write], owned)
            our_error, *our_values = _outcome(ours, maker, WRITES[write], owned)
            fits = (error is None) == (our_error is None) and (error is None or issubclass(our_error, error))
            if not fits or repr(our_values) != repr(values):
                wrong.append((name, our_error, our_values, error, values))
    assert not wrong, f"{len(wrong)}: " + "\n".join(map(str, wrong[:4]))
