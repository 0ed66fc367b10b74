"""Operands of other libraries take NumPy's functions over, as NumPy lets them: tables, lazy arrays, quantities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as ours


class Table:
    """Like a series of pandas: it takes universal functions over, and NumPy calls its methods for others."""

    def __init__(self, values: Any) -> None:
        self.values = numpy.asarray(values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.values if dtype is None else self.values.astype(dtype)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if not all(isinstance(x, Table | numpy.ndarray | numpy.generic | int | float) for x in inputs):
            return NotImplemented
        plain = [x.values if isinstance(x, Table) else x for x in inputs]
        return Table(getattr(function, method)(*plain, **options))

    def cumsum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Table:
        return Table(self.values.cumsum())

    def sum(self, axis: Any = None, out: Any = None, **options: Any) -> Table:
        return Table([self.values.sum(axis)])

    def round(self, decimals: int = 0, out: Any = None) -> Table:
        return Table(self.values.round(decimals))

    def reshape(self, *shape: Any, **options: Any) -> Table:
        return Table(self.values.reshape(*shape))

    def __radd__(self, other: Any) -> Table:
        return Table(other + self.values)


class Quantity:
    """A number or an array with a unit, over any array: it takes all functions over."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return Quantity(getattr(function, method)(*map(bare, inputs), **options))

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        return Quantity(function(*map(bare, arguments), **options))


def bare(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [bare(each) for each in value]
    return value.held if isinstance(value, Quantity) else value


OF_TABLES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "exp": lambda np, t, x: np.exp(t),
    "add": lambda np, t, x: np.add(t, 1),
    "maximum": lambda np, t, x: np.maximum(x, t),
    "maximum the other way": lambda np, t, x: np.maximum(t, x),
    "operator": lambda np, t, x: x + t,
    "isnan": lambda np, t, x: np.isnan(t),
    "outer": lambda np, t, x: np.multiply.outer(x, np.asarray(t)),
    "reduce": lambda np, t, x: np.add.reduce(np.asarray(t)),
    "cumsum": lambda np, t, x: np.cumsum(t),
    "sum": lambda np, t, x: np.sum(t),
    "sum along an axis": lambda np, t, x: np.sum(t, axis=0),
    "round": lambda np, t, x: np.round(t, 1),
    "reshape": lambda np, t, x: np.reshape(t, (3, 1)),
    "where": lambda np, t, x: np.where(x > 1, t, 0),
    "diff": lambda np, t, x: np.diff(t),
    "asarray": lambda np, t, x: np.asarray(t),
    "dot": lambda np, t, x: np.dot(t, x),
    "concatenate": lambda np, t, x: np.concatenate([t, x]),
}

OF_QUANTITIES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "exp": lambda np, q, x: np.exp(q),
    "multiply": lambda np, q, x: np.multiply(x, q),
    "operator": lambda np, q, x: x - q,
    "sum": lambda np, q, x: np.sum(q, axis=0),
    "cumsum": lambda np, q, x: np.cumsum(q),
    "where": lambda np, q, x: np.where(x > 1, q, 0),
    "dot": lambda np, q, x: np.dot(x, q),
    "dot the other way": lambda np, q, x: np.dot(q, x),
    "interp": lambda np, q, x: np.interp(x, x, q),
    "hstack": lambda np, q, x: np.hstack([q, q]),
    "atleast_2d": lambda np, q, x: np.atleast_2d(q),
    "kron": lambda np, q, x: np.kron(x, q),
    "concatenate": lambda np, q, x: np.concatenate([q, q]),
    "norm": lambda np, q, x: np.linalg.norm(q),
    "sort": lambda np, q, x: np.sort(q),
    "round": lambda np, q, x: np.round(q, 1),
}


def assert_alike(found: Any, wanted: Any) -> None:
    assert type(found) is (type(wanted) if not isinstance(wanted, numpy.ndarray) else ours.ndarray)
    for name in ("values", "held"):
        if hasattr(wanted, name):
            found, wanted = getattr(found, name), getattr(wanted, name)
    numpy.testing.assert_array_equal(numpy.asarray(found), numpy.asarray(wanted))


@pytest.mark.parametrize("name", OF_TABLES)
def test_a_table_is_what_numpy_makes_of_it(name: str) -> None:
    values = [0.25, 2.5, numpy.nan]
    found = OF_TABLES[name](ours, Table(values), ours.array([1.0, 2.0, 3.0]))
    assert_alike(found, OF_TABLES[name](numpy, Table(values), numpy.array([1.0, 2.0, 3.0])))


@pytest.mark.parametrize("held", [numpy, ours], ids=["numpy", "ours"])
@pytest.mark.parametrize("name", OF_QUANTITIES)
def test_a_quantity_is_what_numpy_makes_of_it(name: str, held: Any) -> None:
    found = OF_QUANTITIES[name](ours, Quantity(held.array([3.0, 0.25])), ours.array([1.0, 2.0]))
    assert_alike(found, OF_QUANTITIES[name](numpy, Quantity(numpy.array([3.0, 0.25])), numpy.array([1.0, 2.0])))


def test_traces_go_through_a_quantity_and_take_a_table_for_a_constant() -> None:
    x: Any = ours.array([1.0, 2.0, 3.0])
    table = Table([3.0, 2.0, 1.0])
    assert tb.jit(lambda x: ours.maximum(x, table))(x).tolist() == [3.0, 2.0, 3.0]
    assert tb.grad(lambda x: ours.dot(table, x))(x).tolist() == [3.0, 2.0, 1.0]

    def energy(x: Any) -> Any:
        total: Any = ours.sum(ours.multiply(Quantity(x), x))
        return total.held

    assert tb.grad(energy)(x).tolist() == tb.jit(tb.grad(energy))(x).tolist() == [2.0, 4.0, 6.0]
    with tb.tape() as tape:
        y = tape.watch(ours.array([1.0, 2.0]))
        total = ours.sum(ours.multiply(Table([3.0, 5.0]), y)) + ours.dot(Table([1.0, 1.0]), y)
    assert tb.gradient(total, y).tolist() == [4.0, 6.0]
