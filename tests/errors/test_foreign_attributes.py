"""The table of foreign names of namespaces; `tests/tensor/test_missing_names.py` has the errors."""

from __future__ import annotations

from importlib import import_module

from tensorbackend.errors.foreign_attributes import IN_NAMESPACES


def test_no_name_that_exists_is_answered() -> None:
    for space, names in IN_NAMESPACES.items():
        module = import_module(f"tensorbackend.{space}")
        assert [name for name in names if hasattr(module, name)] == []
