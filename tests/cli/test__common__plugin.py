"""What commands import of other distributions."""

from __future__ import annotations

import sys

import pytest

from tensorbackend.cli._common import onnx_plugin
from tensorbackend.errors import ArgumentError


def test_a_distribution_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorbackend_onnx", None)
    with pytest.raises(ArgumentError, match="install the distribution tensorbackend-onnx"):
        onnx_plugin("command")
