"""`x[...] = v` on PyTorch: what was made from x before keeps its elements, and values are those on NumPy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
import tensorbackend as tb
import torch
from tensorbackend.testing.sharers import SHARERS

from tensorbackend_torch import writing

DATA = np.arange(12, dtype="float32").reshape(3, 4) + 1
KEYS: list[Any] = [0, slice(1, 3), slice(None, None, -1), ..., (), (1, 2), (None, 1), [0, 2], DATA > 5, (..., 0)]

OF_PYTORCH: dict[str, Callable[[Any], Any]] = {
    "the payload": lambda data: data,
    "a view": lambda data: data[1:],
    "a view of bits": lambda data: data.view(torch.int32),
    "detached": lambda data: data.detach(),
    "an array": lambda data: data.numpy(),
    "DLPack": lambda data: torch.utils.dlpack.from_dlpack(data),
    "NumPy by DLPack": lambda data: np.from_dlpack(data),
    "the storage": lambda data: data.untyped_storage(),
    "a parameter": lambda data: torch.nn.Parameter(data),
    "a part of a graph": lambda data: (torch.ones(data.shape, requires_grad=True) * data).sum(),
    "expanded": lambda data: data.expand(2, *data.shape),
}


def bits(kept: Any) -> bytes:
    if isinstance(kept, torch.Tensor) and kept.requires_grad and not kept.ndim:
        last: Any = kept.grad_fn
        factor = last.next_functions[0][0].next_functions[0][0].variable
        (slope,) = torch.autograd.grad(kept, factor, retain_graph=True)
        return bits(slope)
    return bytes(kept.detach().numpy().tobytes() if isinstance(kept, torch.Tensor) else
                 kept.tobytes() if isinstance(kept, np.ndarray) else bytes(kept.tolist()))  # fmt: skip


def _read(reader: Callable[[], Any]) -> bytes:
    return bytes(reader().tobytes())


@pytest.mark.parametrize("sharer", [*SHARERS, *OF_PYTORCH])
def test_what_was_made_before_keeps_its_elements(sharer: str) -> None:
    for key, turns in product(KEYS, [1, 2]):
        x = tb.tensor(DATA, backend="torch") * 1
        for _ in range(turns):
            if sharer in SHARERS:
                reader = SHARERS[sharer](x)
                read: Callable[[], bytes] = partial(_read, reader)
            else:
                kept = OF_PYTORCH[sharer](x.data)
                read = partial(bits, kept)
            before, reference = read(), np.array(x)
            x[key] = -1.0
            reference[key] = -1.0
            assert np.array_equal(x, reference)
            assert read() == before
            x[key] = x[key] * 3
            reference[key] = reference[key] * 3
            assert np.array_equal(x, reference)
            assert read() == before


def test_memory_that_nobody_else_sees_is_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without checks, which read the memory by NumPy."""
    monkeypatch.setattr(sys.modules["tensorbackend.ops.indexing.assignment"], "CHECKED", False)
    assert writing._counts()
    row = tb.zeros(4, backend="torch")
    for key, value in product([0, slice(1, 3), (1, 2), ..., tb.asarray(DATA > 5, backend="torch")], [2.0, 3, True]):
        x = tb.tensor(DATA, backend="torch") * 1
        for _ in range(2):
            x[key] = value
            x[0] = row
        place = x.data.data_ptr()
        x[key] = value
        x[0] = row
        assert x.data.data_ptr() == place


def test_memory_of_others_is_not() -> None:
    array = np.ones(4, "float32")
    for given in (array, torch.from_numpy(array), torch.ones(1).expand(4), torch.ones(4).share_memory_()):
        x = tb.asarray(given, backend="torch")
        before = bits(given)
        x[0] = 5.0
        x[1] = 6.0
        assert x.tolist() == [5.0, 6.0, 1.0, 1.0]
        assert bits(given) == before
        del given
        y = tb.asarray(torch.ones(1).expand(4), backend="torch")
        y[1] = 3.0
        assert y.tolist() == [1.0, 3.0, 1.0, 1.0]


def test_numbers_are_those_of_put_at() -> None:
    numbers = [0, 1, -1, 255, 256, 2**31, 2**53 + 1, 2**63, 0.1, 65519.9, 3.5e38, 1e-50, np.inf, np.nan, True, 1j]
    for dtype, key in product(tb.dtypes.ALL_DTYPES, [1, slice(0, 2)]):
        x = tb.zeros(3, dtype=dtype, backend="torch")
        for number in numbers * 2:
            outcomes = []
            for assign in (lambda: tb.put_at(x, key, number), lambda: x.__setitem__(key, number)):  # noqa: B023
                try:
                    put = assign()
                    outcomes.append((x if put is None else put).to_binary())
                except tb.errors.TensorBackendError as error:
                    outcomes.append(str(error).partition(":")[2].encode())
            assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("key", [3, (0, 4), slice(None, None, 0), np.array([True, False])])
def test_wrong_keys_change_nothing(key: Any) -> None:
    x = tb.tensor(DATA, backend="torch") * 1
    for _ in range(2):
        x[0] = 1.0
        before = x.to_binary()
        with pytest.raises(tb.errors.TensorBackendError):
            x[key] = 5.0
        assert x.to_binary() == before
