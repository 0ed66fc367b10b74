"""Rules for the package as a whole; each failure names the file to edit."""

from pathlib import Path

import pytest

import tensorbackend as tb
import tensorbackend.testing  # declares the ops of all namespaces
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.backends.cupy_backend import CupyBackend
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.declarations import op_specs
from tensorbackend.protocol import Backend, defines

PACKAGE = Path(tb.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("backend", [BinaryBackend, NumpyBackend, CupyBackend])
def test_every_declared_primitive_is_implemented(backend: type[Backend]) -> None:
    missing = {
        f"{spec.callback} in {backend.__module__}"
        for spec in op_specs.OPS.values()
        if spec.kind == "primitive" and spec.function.__module__.startswith("tensorbackend.")
        if not defines(backend, spec.callback)
    }
    assert not missing


def test_every_declared_op_is_public() -> None:
    for spec in op_specs.OPS.values():
        if spec.function.__module__.startswith("tensorbackend."):
            places = [
                tb,
                *(getattr(tb, namespace) for namespace in ("linalg", "fft", "random", "nn") if hasattr(tb, namespace)),
            ]
            is_public = any(hasattr(place, spec.name) for place in places)
            assert is_public, f"add {spec.name} to tensorbackend/__init__.py or to the namespace of an extension"


def test_a_file_has_one_subject() -> None:
    long = {}
    for path in FILES:
        most = 520 if path.parent == PACKAGE else 460  # `__init__` lists the public names
        if (lines := len(path.read_text().splitlines())) > most:
            long[path.relative_to(PACKAGE).as_posix()] = lines
    assert not long, "split each by family"
