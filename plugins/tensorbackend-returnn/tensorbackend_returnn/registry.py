"""Functions that make RETURNN use the adapter, as its own `select_backend` takes only a fixed list of names."""

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
"""The lowest of RETURNN's behaviour versions that eager backends support, PyTorch's included."""


def select_backend(name: str | None = None, *, device: str | None = None) -> type[TensorBackend]:
    """Make RETURNN compute with a backend of tensorbackend, by default the default backend.

    Parameters
    ----------
    name : str, optional
        A name that `tb.get_backend` knows, such as "numpy", "jax", "torch", "cupy" or "binary".
    device : str, optional
        The device for new tensors, as in `tb.get_backend`.

    Returns
    -------
    type
        The adapter. It is RETURNN's backend from now on. For tensors of tensorbackend RETURNN uses it in any case.

    Raises
    ------
    BackendError
        If the name is unknown.

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
    """A context in which RETURNN computes with a backend of tensorbackend. The previous backend is restored after it.

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
    """Set the backend on which new tensors are made."""
    if base is not Base.base:
        # RETURNN caches positional encodings by their dims and the name of the device, which two backends may share.
        for attribute in vars(attention).values():
            if isinstance(attribute, Cache):
                attribute._lru_cache.cache_clear()
    Base.base = base
