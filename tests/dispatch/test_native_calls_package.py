"""tensorbackend-native is found where it is installed; the package's own tests judge what it computes."""

from __future__ import annotations

import os
import subprocess
import sys
from array import array
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.backends.threefry import encrypt
from tensorbackend.dispatch.native_calls import INTERFACE


def encrypt_arrays(key: tuple[int, int], first: Any, second: Any) -> None:
    first[...], second[...] = encrypt(key, array("Q", first.tolist()), array("Q", second.tolist()))


NATIVE = SimpleNamespace(encrypt=encrypt_arrays, __version__="0.0")


def found_next_to(package: str, setting: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What a new process finds, and what it warns of."""
    (folder / "tensorbackend_native.py").write_text(f"__version__ = '9.9'\n{package}\n")
    program = "from tensorbackend.dispatch.native_calls import NATIVE; print(NATIVE and NATIVE.__version__)"
    path = os.pathsep.join([str(folder), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "TENSORBACKEND_NATIVE": setting}
    return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)


@pytest.mark.parametrize(("setting", "expected"), [("", "9.9"), ("1", "9.9"), ("0", "None")])
def test_it_is_found_where_it_is_installed_and_the_environment_hides_it(
    setting: str, expected: str, tmp_path: Path
) -> None:
    shown = found_next_to(f"INTERFACE = {INTERFACE}", setting, tmp_path)
    assert (shown.stdout.strip(), shown.stderr) == (expected, "")


@pytest.mark.parametrize("package", ["", f"INTERFACE = {INTERFACE + 1}"])
def test_one_of_another_release_is_left_alone_with_a_warning(package: str, tmp_path: Path) -> None:
    shown = found_next_to(package, "", tmp_path)
    assert shown.stdout.strip() == "None"
    assert "expected tensorbackend-native of interface 1, got interface=" in shown.stderr


@pytest.mark.parametrize("count", [3, 1000])
def test_the_backend_draws_the_same_with_it(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    backend, key = NumpyBackend(), tb.random.key(5)
    monkeypatch.setattr(backend, "native", None)
    assert set(backend.versions()) == {"numpy"}
    without = tb.random.bits(key, (count,)).tolist()
    monkeypatch.setattr(backend, "native", NATIVE)
    assert set(backend.versions()) == {"numpy", "tensorbackend-native"}
    assert tb.random.bits(key, (count,)).tolist() == without
