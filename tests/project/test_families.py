"""Each op belongs to a family: modules with code for the op are named after the family that the protocol declares."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from inspect import unwrap
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

import tensorbackend as tb
import tensorbackend.testing  # declares the ops of all namespaces
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.backends.cupy_backend import CupyBackend
from tensorbackend.backends.jax_backend import JaxBackend
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.declarations.op_specs import CALLBACKS, OPS, OpSpec, overridable
from tensorbackend.protocol import Backend
from tensorbackend.testing import GENERATORS

PACKAGE = Path(tb.__file__).parent

SPECS = [spec for spec in OPS.values() if spec.module.startswith("tensorbackend.")]
WORD = {
    **{spec.callback: spec.family for spec in SPECS},
    **{name: callback.family for name, callback in CALLBACKS.items()},
}
"""The family of each callback and override; a composite that the protocol lacks has the family of its own module."""

FAMILIES = {callback.family for callback in CALLBACKS.values()}

SHARED = {"axes", "broadcasting", "data_errors", "plan"}
"""Modules of `rules/` that all families share."""

DECLARING = {
    "ops/fallbacks": ("fallback",),
    "expr/grad": ("rule", "zero_gradient", "not_differentiable"),
    "expr/batching": ("rule",),
}
"""The functions in each folder that declare something about an op, with the name of its callback."""


def place(module: str) -> tuple[str, str]:
    """Return a module's folder and family: `("backends/binary", "linalg")` for `backends.binary.linalg`."""
    parts = module.split(".")[1:]
    for depth in (2, 1):
        if len(parts) > depth and "/".join(parts[:depth]) in FOLDERS:
            return "/".join(parts[:depth]), parts[depth]
    return "", parts[0]


FOLDERS = (
    "ops",
    "ops/composite",
    "rules",
    "backends/binary",
    "backends/array_module",
    "backends/jax_backend",
    "backends/numpy_backend",
    *DECLARING,
)


def test_the_words_are_those_of_the_protocol() -> None:
    assert {spec.family for spec in SPECS} <= FAMILIES


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_an_op_lies_in_its_family(spec: OpSpec) -> None:
    folder = "ops" if spec.kind == "primitive" else "ops/composite"
    assert place(spec.module) == (folder, spec.family), f"move {spec.name} to tensorbackend/{folder}/{spec.family}"


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the global names that a function's code reads, with those of nested functions."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


def called(function: Callable[..., Any]) -> list[Any]:
    assert isinstance(function, FunctionType)
    return [function.__globals__[name] for name in names_in(function.__code__) if name in function.__globals__]


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec.kind == "primitive"], ids=lambda spec: spec.name)
def test_a_rule_lies_in_its_family(spec: OpSpec) -> None:
    modules = {getattr(callee, "__module__", None) or "" for callee in called(spec.function)}
    words = {place(module)[1] for module in modules if module.startswith("tensorbackend.rules.")}
    assert words <= SHARED or spec.family in words  # next to its own module, it may use another family's


@pytest.mark.parametrize("backend", [BinaryBackend, NumpyBackend, CupyBackend, JaxBackend])
def test_implementations_lie_in_their_family(backend: type[Backend]) -> None:
    names = {*overridable(), *CALLBACKS}
    wrong = {
        f"{name} in {owner.__module__}: {WORD[name]}"
        for owner in backend.__mro__
        for name in names & vars(owner).keys()
        if place(owner.__module__)[0].startswith("backends/")  # a backend in one file has no families
        if place(owner.__module__)[1] != WORD[name]
    }
    assert not wrong


def declarations(folder: str) -> Iterator[tuple[str, Path]]:
    """Yield the callback names that declarations in a folder mention, each with its file."""
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in DECLARING[folder]:
                several = node.args[:1] if folder == "ops/fallbacks" else node.args
                for argument in several:
                    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                        yield argument.value, path.relative_to(PACKAGE / folder)


@pytest.mark.parametrize("folder", DECLARING)
def test_declarations_lie_in_their_family(folder: str) -> None:
    declared = list(declarations(folder))
    assert len(declared) > 5
    words = {**WORD, "custom_gradient": "control"}  # an op that only graphs have
    assert not {
        f"{name} in {path}: {words[name]}" for name, path in declared if path.with_suffix("").parts[0] != words[name]
    }


def test_generators_lie_in_the_family_of_an_op_of_theirs() -> None:
    words: dict[str, set[str]] = {}
    for name, generator in GENERATORS.items():
        if name in OPS:
            words.setdefault(f"{generator.__module__}.{generator.__name__}", set()).add(OPS[name].family)
    wrong = {name for name, families in words.items() if name.split(".")[-2] not in families}
    assert not wrong


def public_functions() -> Iterator[FunctionType]:
    for namespace in (tb, tb.linalg, tb.fft, tb.random, tb.nn):
        for value in vars(namespace).values():
            if isinstance(value, FunctionType) and value.__module__.startswith("tensorbackend.ops.composite."):
                yield value


def test_a_plain_function_among_composites_leads_to_one_of_its_module() -> None:
    def leads(function: FunctionType, seen: set[str]) -> bool:
        """Return whether a function calls a composite of its module, directly or through the module's functions."""
        fresh = {name for name in names_in(function.__code__) if name in function.__globals__} - seen
        seen |= fresh
        if any((function.__module__, name) in composites for name in fresh):
            return True
        callees = [function.__globals__[name] for name in fresh]
        return any(
            leads(unwrap(callee), seen)
            for callee in callees
            if getattr(callee, "__module__", None) == function.__module__
            if isinstance(callee, FunctionType)
        )

    declared = [spec for spec in SPECS if spec.kind == "composite"]
    composites = {(spec.module, spec.function.__name__) for spec in declared}
    ops = {spec.name for spec in declared if spec.name == spec.function.__name__}
    plain = [unwrap(function) for function in public_functions() if function.__name__ not in ops]
    assert plain
    wrong = {function.__qualname__ for function in plain if not leads(function, set())}
    assert not wrong, "move them to a module of tensorbackend/ops/"
