"""`dir()` of a namespace shows what its page in the reference lists, and no module that defines it."""

from __future__ import annotations

from types import ModuleType

import pytest

import tensorbackend as tb
from tensorbackend import late_imports


@pytest.mark.parametrize("name", late_imports.NAMESPACES)
def test_no_inner_module_is_shown(name: str) -> None:
    namespace = getattr(tb, name)
    shown = [public for public in dir(namespace) if not public.startswith("_")]
    assert shown
    for public in shown:
        value = getattr(namespace, public)
        assert not isinstance(value, ModuleType), public
        assert (getattr(value, "__module__", None) or "tensorbackend").startswith("tensorbackend"), public


def test_public_functions_are_shown() -> None:
    assert {"softmax", "LSTMResult", "attention"} <= set(dir(tb.nn))
    assert {"save", "load"} == {name for name in dir(tb.checkpoints) if not name.startswith("_")}
