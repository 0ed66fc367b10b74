"""Mistakes that raise the same error on every backend and for templates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import TensorBackendError

Mistake = tuple[Callable[[tb.Tensor], Any], type[TensorBackendError], str]
"""A wrong call with a tensor, the class of its error, and a part of the text."""


def every_mistake(mistakes: Sequence[Mistake]) -> pytest.MarkDecorator:
    """Return a decorator of a test that is run for each mistake, with `mistake`, `kind` and `text`."""
    names = [text for _, _, text in mistakes]
    return pytest.mark.parametrize(("mistake", "kind", "text"), mistakes, ids=names)


def error_text(
    mistake: Callable[[tb.Tensor], Any], kind: type[TensorBackendError], text: str, tensors: Sequence[tb.Tensor] = ()
) -> str:
    """Return the text of the error of a wrong call, which must be the same for all tensors."""
    texts = set()
    for x in tensors or (tb.zeros((2, 3), backend="binary"), tb.zeros((2, 3)), tb.template((2, 3), "f32")):
        with pytest.raises(kind, match=text) as caught:
            mistake(x)
        texts.add(str(caught.value))
    (only,) = texts
    return only
