"""The table of foreign methods of tensors; `tests/tensor/test_missing_names.py` has the errors."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend.errors.foreign_methods import OF_TENSORS
from tensorbackend.errors.foreign_names import advice


def test_no_name_that_exists_is_answered() -> None:
    assert [name for name in OF_TENSORS if hasattr(tb.ones((2, 2)), name)] == []


def test_a_method_is_answered_in_the_package_too() -> None:
    assert advice("fillna") == advice("fillna", "Tensor") == OF_TENSORS["fillna"]
    assert advice("no_such") is None
