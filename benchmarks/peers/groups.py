"""The groups of libraries that are compared; each group runs in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from . import assignment, changing, named, shapes, training
from .calls import PROGRAMS, SIZES, VIEWS, Operands, by_jax, by_numpy, by_torch, ours
from .layers import by_autoray, by_compat, by_keras, by_phiml, by_strict, by_xarray
from .measuring import Contender, Group

TEXTS = {
    "small": "8 elements, matrices of 8 x 8",
    "large": "10^6 elements, matrices of 1000 x 1000, products of 512 x 512",
}
"""Descriptions of the sizes of single calls."""


def engines(operands: Operands) -> list[Contender]:
    """Return the engines, and tensorbackend on each."""
    return [
        by_numpy(operands),
        by_torch(operands),
        by_jax(operands),
        ours(operands, "numpy", "ours on NumPy"),
        ours(operands, "torch", "ours on PyTorch"),
        ours(operands, "jax", "ours on JAX"),
    ]


def on_numpy(operands: Operands) -> list[Contender]:
    """Return the contenders that compute with NumPy."""
    return [
        by_numpy(operands),
        ours(operands, "numpy"),
        by_compat(operands, "numpy"),
        by_strict(operands),
        by_autoray(operands, "numpy"),
        by_keras(operands, "numpy"),
        by_xarray(operands),
        by_phiml(operands, "numpy"),
    ]


def on_torch(operands: Operands) -> list[Contender]:
    """Return the contenders that compute with PyTorch."""
    return [
        by_torch(operands),
        ours(operands, "torch"),
        by_compat(operands, "torch"),
        by_autoray(operands, "torch"),
        by_keras(operands, "torch"),
        by_phiml(operands, "torch"),
    ]


def on_jax(operands: Operands) -> list[Contender]:
    """Return the contenders that compute with JAX."""
    return [
        by_jax(operands),
        ours(operands, "jax"),
        by_compat(operands, "jax"),
        by_autoray(operands, "jax"),
        by_keras(operands, "jax"),
        by_phiml(operands, "jax"),
    ]


def groups() -> Iterator[Group]:
    """Yield all groups, in the order of the page."""
    above: tuple[tuple[str, str, str, Callable[[Operands], list[Contender]]], ...] = (
        ("engines", "Engines, and tensorbackend on each", "NumPy", engines),
        ("numpy", "Above NumPy", "NumPy", on_numpy),
        ("torch", "Above PyTorch", "PyTorch", on_torch),
        ("jax", "Above JAX", "JAX", on_jax),
    )
    for name, title, base, contenders in above:
        for size, text in TEXTS.items():
            yield Group(
                f"{name}, {size}",
                f"{title}: {text}",
                base,
                {program: PROGRAMS[program] for program in PROGRAMS if size == "small" or program not in VIEWS},
                partial(chosen, contenders, size),
                keras="numpy" if name == "engines" else name,
            )
    for size, (times, stations, channels) in named.SIZES.items():
        yield Group(
            f"named axes, {size}",
            f"Named axes: {times} times, {stations} stations, {channels} channels",
            "NumPy",
            named.PROGRAMS,
            partial(named.contenders, size),
        )
    yield Group(
        "shapes", "Runs without data", "TemplateBackend", shapes.PROGRAMS, shapes.contenders, keras="jax", competes=True
    )
    yield Group("changing", f"When shapes change: {changing.SIZES}", "NumPy", changing.PROGRAMS, changing.contenders)
    for size, text in assignment.TEXTS.items():
        yield Group(
            f"assignment, {size}",
            f"Assignment: {text}",
            "NumPy",
            assignment.PROGRAMS,
            partial(assignment.contenders, size),
        )
    yield Group(
        "training",
        f"A training step: {training.SIZES}",
        "NumPy, by hand",
        training.PROGRAMS,
        training.contenders,
        keras="jax",
        competes=True,
    )


def chosen(make: Callable[[Operands], list[Contender]], size: str) -> list[Contender]:
    """Return the contenders with the programs of a size; only the small size has views, as their time never changes."""
    if size == "small":
        return make(SIZES[size])
    return [
        replace(contender, calls={name: call for name, call in contender.calls.items() if name not in VIEWS})
        for contender in make(SIZES[size])
    ]
