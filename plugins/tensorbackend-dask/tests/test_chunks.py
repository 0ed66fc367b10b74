"""Tests the options, and where they cut tensors into blocks."""

from __future__ import annotations

import pickle
from typing import Any

import dask.array as da
import numpy
import pytest
import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ExchangeError, OperandError

from tensorbackend_dask import DaskBackend, rechunk
from tensorbackend_dask.chunks import common, cut

BY_TIME = DaskBackend(chunks={"time": 3})


def test_equal_options_give_one_instance() -> None:
    assert DaskBackend(chunks={"b": 1, "a": 2}) is DaskBackend(chunks={"a": 2, "b": 1})
    assert DaskBackend() is tb.get_backend("dask") is not BY_TIME
    assert pickle.loads(pickle.dumps(BY_TIME)) is BY_TIME
    assert eval(repr(BY_TIME), {"DaskBackend": DaskBackend}) is BY_TIME


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"chunks": {"time": 0}}, r"a block size of at least 1.*got chunks\['time'\]=0"),
        ({"chunks": {"time": -1}}, "a block size of at least 1"),
        ({"chunks": {"time": 2.0}}, "a block size of at least 1"),
        ({"chunks": {"time": True}}, "a block size of at least 1"),
        ({"chunks": {0: 3}}, "the name of an axis, got chunks=0"),
        ({"chunks": 1000}, "a mapping from axis names to block sizes, got chunks=1000"),
        ({"block_bytes": 0}, "at least 1 byte, got block_bytes=0"),
        ({"keep_bytes": "1 GB"}, "at least 1 byte, got keep_bytes='1 GB'"),
        ({"workers": 2}, "no options for the backend 'dask' except chunks, block_bytes, keep_bytes"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        DaskBackend(**options)


def test_names_decide_where_tensors_are_cut() -> None:
    x = tb.zeros((7, 4), names=("time", "feature"), backend=BY_TIME)
    assert x.data.chunks == ((3, 3, 1), (4,))
    assert tb.zeros((7, 4), backend=BY_TIME).data.chunks == ((7,), (4,))  # no name, no rule
    assert x.rename(time="hour").data.chunks == x.data.chunks  # a new name moves nothing
    assert x.rename("hour", "time").data.chunks == x.data.chunks
    assert rechunk(x.rename("hour", "time")).data.chunks == ((7,), (3, 1))
    assert rechunk(x, feature=2, time=None).data.chunks == ((7,), (2, 2))
    with pytest.raises(ArgumentError, match="the name of an axis of"):
        rechunk(x, hour=2)
    with pytest.raises(ArgumentError, match="a block size of at least 1, or None to keep the axis whole, got time=0"):
        rechunk(x, time=0)
    with pytest.raises(OperandError, match="a tensor on the backend 'dask'"):
        rechunk(tb.zeros(2, backend="numpy"))


def test_bytes_cut_what_no_rule_is_for() -> None:
    backend = DaskBackend(chunks={"time": 4, "whole": None}, block_bytes=64)
    assert tb.zeros((16, 8), backend=backend).data.chunks == ((2,) * 8, (8,))
    assert tb.zeros((16, 8), names=("time", None), backend=backend).data.chunks == ((4,) * 4, (4, 4))
    assert tb.zeros((16, 8), names=("whole", None), backend=backend).data.chunks == ((16,), (1,) * 8)
    assert tb.zeros((0, 8), backend=backend).data.chunks == ((0,), (8,))


def test_what_is_drawn_is_cut_by_its_names_and_the_same_in_any_blocks() -> None:
    draws: list[list[Any]] = []
    for backend in (BY_TIME, DaskBackend(block_bytes=8), tb.get_backend("numpy")):
        key = tb.random.key(7, backend=backend)
        for draw in (tb.random.normal, tb.random.uniform, tb.random.exponential):
            x = draw(key, (7, 2), names=("time", None))
            if backend is BY_TIME:
                assert x.data.chunks == ((3, 3, 1), (2,)), draw
            draws.append(x.tolist())
    assert draws[:3] == draws[3:6] == draws[6:]


def test_dask_arrays_come_in_as_they_are() -> None:
    array = da.ones((6, 2), chunks=(4, 1))
    x = tb.asarray(array, names=("time", "feature"), backend="dask")
    assert tb.backend_of(array) is DaskBackend()
    assert x.data.chunks == array.chunks
    assert tb.sum(x, axis="time").tolist() == [6.0, 6.0]
    unknown = array[array[:, 0] > 0]
    with pytest.raises(ExchangeError, match="whose chunks are known"):
        tb.asarray(unknown, backend="dask")
    with_empty = da.concatenate([da.ones((0,), chunks=1), da.ones(3, chunks=2)])
    assert tb.max(tb.asarray(with_empty, backend="dask")).item() == 1.0


def test_between_rules() -> None:
    x = tb.asarray(numpy.arange(7), names=("time",), backend=BY_TIME)
    y = x.backend_copy(DaskBackend(chunks={"time": 2}))
    assert y.data.chunks == ((2, 2, 2, 1),)
    assert y.tolist() == x.tolist() == x.backend_copy("numpy").tolist()


def test_sizes() -> None:
    assert cut(5, 2) == (2, 2, 1)
    assert common([(5, 5), (3, 7), (10,)]) == (3, 2, 5)
