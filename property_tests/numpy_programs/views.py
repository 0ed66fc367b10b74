"""Programs that write to what functions and keys return: makers of arrays from an array, and ways to write to them.

A maker gets a namespace and an array of 3 rows and 4 columns of floats. A write gets the namespace and what a maker
made, and returns it: another array only where `op=` binds the name again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

Maker = Callable[[Any, Any], Any]
"""A function of a namespace and an array."""


def _after(do: Callable[[Any, Any], Any]) -> Maker:
    def write(np: Any, y: Any) -> Any:
        do(np, y)
        return y

    return write


VIEWS: dict[str, Maker] = {
    "x": lambda np, x: x,
    "x[...]": lambda np, x: x[...],
    "x[1]": lambda np, x: x[1],
    "x[1:]": lambda np, x: x[1:],
    "x[:, 1:3]": lambda np, x: x[:, 1:3],
    "x[::2]": lambda np, x: x[::2],
    "x[::-1]": lambda np, x: x[::-1],
    "x[:, 2]": lambda np, x: x[:, 2],
    "x[None]": lambda np, x: x[None],
    "x.reshape(2, 6)": lambda np, x: x.reshape(2, 6),
    "x.reshape(-1)": lambda np, x: x.reshape(-1),
    "x.ravel()": lambda np, x: x.ravel(),
    "x.T": lambda np, x: x.T,
    "x.mT": lambda np, x: x.mT,
    "x.transpose(1, 0)": lambda np, x: x.transpose(1, 0),
    "np.swapaxes(x, 0, 1)": lambda np, x: np.swapaxes(x, 0, 1),
    "np.moveaxis(x, 0, -1)": lambda np, x: np.moveaxis(x, 0, -1),
    "np.rollaxis(x, 1)": lambda np, x: np.rollaxis(x, 1),
    "np.squeeze(x)": lambda np, x: np.squeeze(x),
    "np.expand_dims(x, 0)": lambda np, x: np.expand_dims(x, 0),
    "np.atleast_3d(x)": lambda np, x: np.atleast_3d(x),
    "np.flip(x)": lambda np, x: np.flip(x),
    "np.fliplr(x)": lambda np, x: np.fliplr(x),
    "np.rot90(x)": lambda np, x: np.rot90(x),
    "x.view()": lambda np, x: x.view(),
    "x.real": lambda np, x: x.real,
    "np.asarray(x)": lambda np, x: np.asarray(x),
    "np.split(x, 3)[1]": lambda np, x: np.split(x, 3)[1],
    "np.hsplit(x, 2)[1]": lambda np, x: np.hsplit(x, 2)[1],
    "next(iter(x))": lambda np, x: next(iter(x)),
}  # fmt: skip
"""Makers whose results show the elements of their argument."""

COPIES: dict[str, Maker] = {
    "x.copy()": lambda np, x: x.copy(),
    "x.flatten()": lambda np, x: x.flatten(),
    "x[x > 3]": lambda np, x: x[x > 3],
    "x[[0, 1]]": lambda np, x: x[[0, 1]],
    "np.array(x)": lambda np, x: np.array(x),
    "x.astype(float)": lambda np, x: x.astype(float),
    "np.take(x, [0], 0)": lambda np, x: np.take(x, [0], 0),
    "x + 0": lambda np, x: x + 0,
}
"""Makers whose results have elements of their own."""

WRITES: dict[str, Maker] = {
    "y += 1": lambda np, y: operator.iadd(y, 1),
    "y -= y.mean()": lambda np, y: operator.isub(y, y.mean()),
    "y *= y": lambda np, y: operator.imul(y, y),
    "y **= 2": lambda np, y: operator.ipow(y, 2),
    "y[...] = 5": _after(lambda np, y: operator.setitem(y, ..., 5)),
    "y[:] = y": _after(lambda np, y: operator.setitem(y, slice(None), y)),
    "y[:] = y[::-1]": _after(lambda np, y: operator.setitem(y, slice(None), y[::-1])),
    "y[0] = 5": _after(lambda np, y: operator.setitem(y, 0, 5)),
    "y[-1:] += 1": _after(lambda np, y: operator.setitem(y, slice(-1, None), operator.iadd(y[-1:], 1))),
    "y[y > 3] = 0": _after(lambda np, y: operator.setitem(y, y > 3, 0)),
    "y[y > 3] += 1": _after(lambda np, y: operator.setitem(y, y > 3, y[y > 3] + 1)),
    "y[[0]] = 7": _after(lambda np, y: operator.setitem(y, [0], 7)),
    "np.add(y, 1, out=y)": _after(lambda np, y: np.add(y, 1, out=y)),
    "np.add(y, y, out=(y,))": _after(lambda np, y: np.add(y, y, out=(y,))),
    "np.sqrt(y, y)": _after(lambda np, y: np.sqrt(y, y)),
    "np.add(y, 1, out=y, where=y > 3)": _after(lambda np, y: np.add(y, 1, out=y, where=y > 3)),
    "np.add.at(y, 0, 1)": _after(lambda np, y: np.add.at(y, 0, 1)),
    "np.negative.at(y, [0])": _after(lambda np, y: np.negative.at(y, [0])),
    "np.add.accumulate(y, out=y)": _after(lambda np, y: np.add.accumulate(y, out=y)),
    "np.cumsum(y, 0, out=y)": _after(lambda np, y: np.cumsum(y, 0, out=y)),
    "np.clip(y, 2, 5, out=y)": _after(lambda np, y: np.clip(y, 2, 5, out=y)),
    "y.round(out=y)": _after(lambda np, y: y.round(out=y)),
    "np.multiply(y, 2, out=y[...])": _after(lambda np, y: np.multiply(y, 2, out=y[...])),
    "y.sort()": _after(lambda np, y: y.sort()),
    "y[::-1].sort(0)": _after(lambda np, y: y[::-1].sort(0)),
    "y.partition(0)": _after(lambda np, y: y.partition(0)),
    "y.fill(3)": _after(lambda np, y: y.fill(3)),
    "y.put([0, 1], 9)": _after(lambda np, y: y.put([0, 1], 9)),
    "np.put(y, [0, 1], [8, 9])": _after(lambda np, y: np.put(y, [0, 1], [8, 9])),
    "np.putmask(y, y > 2, [8, 9])": _after(lambda np, y: np.putmask(y, y > 2, [8, 9])),
    "np.place(y, y > 2, [8, 9])": _after(lambda np, y: np.place(y, y > 2, [8, 9])),
    "np.copyto(y, 9)": _after(lambda np, y: np.copyto(y, 9)),
    "np.copyto(y, 9, where=y > 2)": _after(lambda np, y: np.copyto(y, 9, where=y > 2)),
    "np.put_along_axis(y, y.argmax(0)[None], 99, 0)":
        _after(lambda np, y: np.put_along_axis(y, np.argmax(y, 0)[None], 99, 0)),
    "np.fill_diagonal(y, 9)": _after(lambda np, y: np.fill_diagonal(y, 9)),
    "np.nan_to_num(y, copy=False)": _after(lambda np, y: np.nan_to_num(y, copy=False)),
    "y.flat[1] = 9": _after(lambda np, y: operator.setitem(y.flat, 1, 9)),
    "y.flat = 9": _after(lambda np, y: setattr(y, "flat", 9)),
    "y.real = 9": _after(lambda np, y: setattr(y, "real", 9)),
    "y.itemset(0, 9)": _after(lambda np, y: y.itemset(0, 9)),
    "y.byteswap(True)": _after(lambda np, y: y.byteswap(True)),
}  # fmt: skip
"""Ways to write to an array."""
