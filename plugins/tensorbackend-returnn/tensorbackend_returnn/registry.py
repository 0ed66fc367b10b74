"""How RETURNN comes to use ours: its `select_backend` takes a closed list of names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import tensorbackend as tb
from returnn.frontend import _backend, attention
from returnn.frontend._cache import Cache
from returnn.util.basic import BehaviorVersion

from .backend import TensorBackend
from .base import Base

LEAST_BEHAVIOUR = 16
"""RETURNN's least behaviour version for backends that compute at once, PyTorch's too."""


def select_backend(name: str | None = None, *, device: str | None = None) -> type[TensorBackend]:
    """Makes RETURNN compute with ours, over a backend by name, by default the default one.

    Parameters
    ----------
    name : str, optional
        Such as "numpy", "jax", "torch", "cupy" or "binary", as `tb.get_backend` takes it.
    device : str, optional
        The device of new tensors, as `tb.get_backend` takes it.

    Returns
    -------
    type
        The adapter, which is RETURNN's backend from now on, and that of tensors of ours in any case.

    Raises
    ------
    BackendError
        For a name that nothing declares.

    Examples
    --------
    >>> import returnn.frontend as rf
    >>> import tensorbackend_returnn
    >>> backend = tensorbackend_returnn.select_backend("numpy")
    >>> rf.convert_to_tensor(2.0).raw_tensor.backend
    NumpyBackend()
    """
    base = tb.get_backend(name, device=device) if device else tb.get_backend(name)
    TensorBackend.close_tape()
    _set_base(base)
    _backend.register_backend_by_tensor_type(tb.Tensor, TensorBackend)
    _backend.global_backend.__class__ = TensorBackend
    BehaviorVersion.set_min_behavior_version(LEAST_BEHAVIOUR)
    return TensorBackend


@contextmanager
def selected(name: str | None = None, *, device: str | None = None) -> Iterator[type[TensorBackend]]:
    """A block in which RETURNN computes with ours; after it the backend is what it was.

    Parameters
    ----------
    name, device : str, optional
        As in `select_backend`.

    Yields
    ------
    type
        The adapter.

    Examples
    --------
    >>> import tensorbackend_returnn
    >>> with tensorbackend_returnn.selected("binary") as backend:
    ...     backend.convert_to_tensor(2.0, dims=(), dtype="float32").raw_tensor.backend
    BinaryBackend()
    """
    before, base = _backend.global_backend.__class__, Base.base
    try:
        yield select_backend(name, device=device)
    finally:
        TensorBackend.close_tape()
        _set_base(base)
        _backend.global_backend.__class__ = before


def _set_base(base: tb.Backend | None) -> None:
    """Makes new tensors on a backend from now on."""
    if base is not Base.base:
        # RETURNN keeps encodings of positions by their dims and the name of the device, which two backends may share.
        for attribute in vars(attention).values():
            if isinstance(attribute, Cache):
                attribute._lru_cache.cache_clear()
    Base.base = base
