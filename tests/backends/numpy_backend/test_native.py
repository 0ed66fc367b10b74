"""The NumPy backend with tensorbackend-native and without; the package's own tests judge what it computes."""

from __future__ import annotations

import sys
from array import array
from types import SimpleNamespace
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.backends.numpy_backend.native import find_native
from tensorbackend.backends.threefry import encrypt


def encrypt_arrays(key: tuple[int, int], first: Any, second: Any) -> None:
    first[...], second[...] = encrypt(key, array("Q", first.tolist()), array("Q", second.tolist()))


NATIVE = SimpleNamespace(encrypt=encrypt_arrays, __version__="0.0")


def test_it_is_found_where_it_is_installed_and_the_environment_hides_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TENSORBACKEND_NATIVE", raising=False)
    monkeypatch.setitem(sys.modules, "tensorbackend_native", None)
    assert find_native() is None
    monkeypatch.setitem(sys.modules, "tensorbackend_native", NATIVE)
    assert find_native() is NATIVE
    monkeypatch.setenv("TENSORBACKEND_NATIVE", "1")
    assert find_native() is NATIVE
    monkeypatch.setenv("TENSORBACKEND_NATIVE", "0")
    assert find_native() is None


@pytest.mark.parametrize("count", [3, 1000])
def test_the_backend_draws_the_same_with_it(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    backend, key = NumpyBackend(), tb.random.key(5)
    monkeypatch.setattr(backend, "native", None)
    assert set(backend.versions()) == {"numpy"}
    without = tb.random.bits(key, (count,)).tolist()
    monkeypatch.setattr(backend, "native", NATIVE)
    assert set(backend.versions()) == {"numpy", "tensorbackend-native"}
    assert tb.random.bits(key, (count,)).tolist() == without
