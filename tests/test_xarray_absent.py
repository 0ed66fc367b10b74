"""The import of the module for xarray where xarray is not installed."""

from __future__ import annotations

import importlib
import sys

import pytest


def test_the_import_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    monkeypatch.delitem(sys.modules, "tensorbackend.xarray", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"expected xarray.*; in a checkout .*: pip install '.\[xarray\]'"):
        importlib.import_module("tensorbackend.xarray")
