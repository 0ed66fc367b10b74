"""What arrays cannot have is refused with what to write in its place."""

from __future__ import annotations

import operator
import re

import numpy
import pytest

import tensorbackend.numpy as np


@pytest.mark.parametrize(
    ("module", "name", "remedy"),
    [
        (np, "as_strided", "use np.lib.stride_tricks.as_strided"),
        (np, "mat", "use two-dimensional arrays"),
        (np, "nested_iters", "use np.nditer, or nested loops"),
        (np, "chararray", "use np.char.chararray"),
    ],
)
def test_a_name_that_is_refused_says_what_to_write(module: object, name: str, remedy: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(f"{name!r}; {remedy}")):
        getattr(module, name)


def test_a_name_that_numpy_lacks_too_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'$"):
        operator.attrgetter("nonsense")(np)


SHAPES = """
np.zeros((True, 4))
np.ones((2, True))
np.full((True,), 1)
np.empty((2.0,))
np.zeros("2")
np.zeros(2.5)
np.arange(6).reshape(True, 6)
np.broadcast_to(1, (True,))
np.resize(np.arange(3), (True,))
np.ndarray((True, 2))
""".strip().splitlines()


@pytest.mark.parametrize("call", SHAPES)
def test_sizes_that_are_no_integers_are_refused_as_in_numpy(call: str) -> None:
    for module in (numpy, np):
        with pytest.raises(TypeError, match=r"integer"):
            eval(call, {"np": module})
