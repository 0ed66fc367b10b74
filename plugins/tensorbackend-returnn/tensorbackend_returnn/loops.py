"""Assertions and arrays of tensors. RETURNN's own loops and conditions run in Python."""

from __future__ import annotations

from collections.abc import Sequence

import returnn.frontend as rf
import tensorbackend as tb
from returnn.tensor import Dim, Tensor

from .base import arranged
from .random import Random


class Loops(Random):
    """Functions for control flow."""

    @classmethod
    def assert_(cls, condition: Tensor, message: str, *, stop: bool = True) -> None:
        """Raise `AssertionError` if a condition is false, or with `stop=False` print the message.

        A traced function checks the condition when it runs.
        """

        def check(held: object) -> None:
            if not held:
                if stop:
                    raise AssertionError(message)
                print(message)

        raw = condition.raw_tensor
        if tb.is_concrete(raw):
            check(bool(raw))
        else:
            tb.debug_callback(check, raw)

    TensorArrayType = list

    @classmethod
    def tensor_array_unstack(cls, tensor: Tensor, *, axis: Dim) -> list[Tensor]:
        """Split a tensor along a dim into an array of tensors."""
        return list(cls.unstack(tensor, axis=axis))

    @classmethod
    def tensor_array_stack(cls, tensor_array: Sequence[Tensor], *, axis: Dim, tensor_template: Tensor) -> Tensor:
        """Stack the tensors of an array along a new first dim."""
        if not tensor_array:
            return rf.zeros_like(tensor_template.copy_add_dim_by_tag(axis, unbroadcast=True, axis=0))
        template = tensor_array[0].copy_template()
        out = template.copy_add_dim_by_tag(axis, unbroadcast=True, axis=0)
        out.raw_tensor = tb.stack([arranged(tensor, template.dims) for tensor in tensor_array], axis=0)
        return out
