"""Several processes that compute together, each with its own devices.

Each process runs the same program. A tensor on a mesh of the devices of all processes is one tensor, of which each
process holds parts. Every process must make the calls that compute with it or read it (`item`, `tolist`,
`numpy.asarray`), in the same order. Printing it shows the parts of one process and needs no other process.

>>> import tensorbackend as tb
>>> tb.distributed.process_index(), tb.distributed.process_count()
(0, 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .backends.jax_backend import JaxBackend
from .backends.jax_backend.backend import library
from .declarations.argument_errors import check_arguments
from .display import directory as _directory
from .dtypes import as_dtype
from .errors import ArgumentError, BackendError, ShapeError, expected
from .ops.creation.values import asarray
from .protocol import Backend
from .template import Template, as_names
from .tensor import Tensor
from .tensor.missing_names import missing_names as _missing_names

__all__ = ["from_parts", "initialize", "process_count", "process_index", "shutdown"]


@check_arguments
def initialize(
    coordinator: str | None = None,
    processes: int | None = None,
    process: int | None = None,
    *,
    timeout: int = 300,
    heartbeat: int = 100,
) -> None:
    """Connect this process to the others, before JAX is used for anything else.

    Parameters
    ----------
    coordinator : str, optional
        Host and port of process 0, such as `"10.0.0.1:1234"`. On clusters that JAX supports, it detects this and the
        two numbers below.
    processes : int, optional
        The number of processes.
    process : int, optional
        The index of this process, from 0 up.
    timeout : int
        Seconds to wait for the others.
    heartbeat : int
        Seconds without a heartbeat after which a process is considered dead. The others are then terminated too, by
        SIGABRT: JAX has no exception for that.

    Raises
    ------
    ArgumentError
        If only some of coordinator, processes and process are passed, and for a process not below processes.
    BackendError
        If JAX was used before, and if the others do not connect in time.

    Examples
    --------
    >>> tb.distributed.initialize("127.0.0.1:1234", 2, 2)
    Traceback (most recent call last):
    tensorbackend.errors.ArgumentError: initialize: expected process from 0 to 1, got process=2
    """
    arguments = {"coordinator": coordinator, "processes": processes, "process": process}
    left_out = [argument is None for argument in arguments.values()]
    if any(left_out) and not all(left_out):
        raise ArgumentError(expected("all of coordinator, processes and process, or none", **arguments))
    if processes is not None and process is not None and not 0 <= process < processes:
        raise ArgumentError(expected(f"process from 0 to {processes - 1}", process=process))
    jax = library("jax")
    try:
        jax.distributed.initialize(
            coordinator, processes, process, initialization_timeout=timeout, heartbeat_timeout_seconds=heartbeat
        )
    except (RuntimeError, ValueError) as error:
        remedy = "call initialize() before anything else uses JAX, with the same coordinator in each process"
        came = f"{type(error).__name__}: {error}"
        raise BackendError(expected("the processes to find each other", remedy, error=came)) from error


@check_arguments
def shutdown() -> None:
    """Disconnect from the other processes, once all of them call it.

    Examples
    --------
    >>> tb.distributed.shutdown()
    """
    library("jax").distributed.shutdown()


@check_arguments
def process_index() -> int:
    """Return the index of this process, 0 if there is only one.

    Returns
    -------
    int
        From 0 up.

    Examples
    --------
    >>> tb.distributed.process_index()
    0
    """
    return int(library("jax").process_index())


@check_arguments
def process_count() -> int:
    """The number of processes.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> tb.distributed.process_count()
    1
    """
    return int(library("jax").process_count())


@check_arguments
def from_parts(part: Any, *, names: Sequence[str | None], backend: Backend) -> Tensor:
    """Make a tensor from the parts of the processes, laid out by its names; each process keeps its own data.

    Parameters
    ----------
    part : tensor, array or nested lists
        The part of this process: its entries along each axis that the layout divides among processes, and all
        entries along other axes.
    names : sequence of str or None
        The names of the axes.
    backend : Backend
        A JaxBackend on a mesh.

    Returns
    -------
    Tensor
        The whole tensor.

    Raises
    ------
    ShapeError
        If the parts do not form one tensor that the mesh can divide.
    BackendError
        For a backend without a mesh.

    Examples
    --------
    >>> sharded = tb.JaxBackend(mesh=tb.Mesh({"data": 1}), layout={"batch": "data"})
    >>> tb.distributed.from_parts([1.0, 2.0], names=["batch"], backend=sharded)
    f32[batch: 2 / data] jax [1.0, 2.0]
    """
    if not isinstance(backend, JaxBackend) or not backend.lays_by_name:
        raise BackendError(expected("a JaxBackend on a mesh", "make one: tb.JaxBackend(mesh=mesh)", backend=backend))
    on_mesh: Any = backend
    local = asarray(part, backend="numpy")
    known = Template(local.shape, local.dtype, as_names(names, local.ndim))
    try:
        data = on_mesh.assemble(known, local.__array__())
    except ValueError as error:
        raise ShapeError(expected("parts of one tensor that the mesh can divide", part=known)) from error
    return Tensor(Template(tuple(data.shape), as_dtype(data.dtype.name), known.names), backend, data)


__dir__ = _directory(__name__)
__getattr__ = _missing_names(__name__)
