"""What must be true of the whole: each message names the file to edit."""

import ast
from pathlib import Path

import pytest

import tensorbackend as tb
import tensorbackend.testing  # declares the ops of all namespaces
from tensorbackend import opspec
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.backends.cupy_backend import CupyBackend
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.protocol import Backend, defines

PACKAGE = Path(tb.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
LAYERS = [
    ("errors", "dtypes"),
    ("elements", "template"),
    ("rules",),
    ("tensor", "display", "interchange"),
    ("protocol",),
    ("opspec", "select", "operands", "dispatch"),
    ("ops",),
    ("array_api", "files", "linalg", "fft", "random"),  # the namespaces of the Array API's extensions: re-exports only
    ("support",),
    ("expr",),
    ("backends",),
    ("built_in",),  # what is loaded late, handed to lower layers
    ("extending",),  # what backends of other distributions may import: re-exports only
    ("testing",),
    ("cli",),
    ("__main__",),
]
LAYER = {module: number for number, modules in enumerate(LAYERS) for module in modules}
SIDEWAYS = {"dtypes": {"errors"}, "operands": {"opspec"}, "dispatch": {"opspec", "select", "operands"}}
# For type checkers, and a type's name.
UPWARDS = {
    ("rules", "tensor"),
    ("tensor", "protocol"),
    ("display", "elements"),
    ("protocol", "testing"),
    ("protocol", "expr"),
}


@pytest.mark.parametrize("backend", [BinaryBackend, NumpyBackend, CupyBackend])
def test_every_declared_primitive_is_implemented(backend: type[Backend]) -> None:
    missing = {
        f"{spec.callback} in {backend.__module__}"
        for spec in opspec.OPS.values()
        if spec.kind == "primitive" and spec.function.__module__.startswith("tensorbackend.")
        if not defines(backend, spec.callback)
    }
    assert not missing


def test_every_declared_op_is_public() -> None:
    for spec in opspec.OPS.values():
        if spec.function.__module__.startswith("tensorbackend."):
            places = [tb, *(getattr(tb, each) for each in ("linalg", "fft", "random") if hasattr(tb, each))]
            found = any(hasattr(place, spec.name) for place in places)
            assert found, f"add {spec.name} to tensorbackend/__init__.py or to the namespace of an extension"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_lower_layers(path: Path) -> None:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    if parts == ("__init__",):
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if not (isinstance(node, ast.ImportFrom) and node.level):
            continue
        package = parts[: len(parts) - node.level]
        modules = [node.module] if node.module else [alias.name for alias in node.names]  # from .. import fft
        for module in modules:
            target = (*package, *module.split("."))[0]
            allowed = LAYER[target] < LAYER[parts[0]] or target in SIDEWAYS.get(parts[0], ())
            if target != parts[0] and (parts[0], target) not in UPWARDS:
                assert allowed, f"{'/'.join(parts)} may not import {target}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_has_one_subject(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 600, "split it by family"
