"""Computes payloads, and first the reductions on which they depend if the sources are large."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import tensorbackend as tb
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from tensorbackend.errors import BackendError, OperandError, OutOfMemoryError, TensorBackendError, expected

from .blocks import Array
from .chunks import Chunks
from .graphs import Lazy, Stage, known, meta, rechunked, value_of
from .library import da, dask, np

KEPT_BYTES = 1 << 20
"""Computed values of at most this many bytes are kept with the payload."""

_shown: ContextVar[bool] = ContextVar("progress", default=False)


@contextmanager
def progress() -> Iterator[None]:
    """Shows a progress bar for everything that is computed in the `with` block.

    With a `dask.distributed` client, the bar is `distributed.progress`; otherwise `dask.diagnostics.ProgressBar`.

    >>> import tensorbackend as tb
    >>> with progress():
    ...     pass
    """
    token = _shown.set(True)
    try:
        yield
    finally:
        _shown.reset(token)


def compute(*tensors: tb.Tensor) -> tuple[tb.Tensor, ...]:
    """Computes several tensors in one run, in which shared tasks run once, and brings their values into this process.

    Parameters
    ----------
    *tensors : Tensor
        Tensors on Dask. Their values must fit into memory together.

    Returns
    -------
    tuple of Tensor
        The same tensors on the same backends, with known values.

    Raises
    ------
    OperandError
        If a value is not a tensor on Dask.
    BackendError
        If the cluster fails, or memory does not suffice.

    Examples
    --------
    >>> x = tb.iota(4, backend="dask")
    >>> least, largest = compute(tb.min(x), tb.max(x))
    >>> least.item(), largest.item()
    (0, 3)
    """
    for x in tensors:
        _check(x)
    arrays = values([x.data for x in tensors], min(map(keep_of, tensors), default=0))
    pairs = zip(tensors, arrays, strict=True)
    return tuple(tb.Tensor(x.template, x.backend, known(array, x.data.chunks)) for x, array in pairs)


def rechunk(x: tb.Tensor, /, **chunks: int | None) -> tb.Tensor:
    """Returns a tensor in other blocks.

    The named axes get blocks of the given sizes, or one block for `None`; the other axes keep their blocks. Without
    sizes, the rules and `block_bytes` of the backend determine the blocks of all axes.

    Parameters
    ----------
    x : Tensor
        A tensor on Dask.
    **chunks : int or None
        The block sizes by axis name.

    Returns
    -------
    Tensor
        A tensor with the same elements.

    Raises
    ------
    OperandError
        If a value is not a tensor on Dask.
    ArgumentError
        If x lacks a named axis, or a size is below 1.

    Examples
    --------
    >>> x = tb.zeros((4, 6), names=("time", "feature"), backend="dask")
    >>> rechunk(x, feature=3).data.chunks
    ((4,), (3, 3))
    """
    _check(x)
    backend: Any = x.backend
    return tb.Tensor(x.template, x.backend, rechunked(x.data, backend.chunks_for(x.template, x.data, chunks)))


def _check(x: object) -> None:
    if not isinstance(x, tb.Tensor) or not isinstance(x.data, da.Array):
        raise OperandError(expected("a tensor on the backend 'dask'", "move it by backend_transfer('dask')", x=x))


def keep_of(x: tb.Tensor) -> int:
    """Returns the option `keep_bytes` of the backend of a tensor."""
    backend: Any = x.backend
    return int(backend.options["keep_bytes"])


def values(payloads: Sequence[Lazy], keep: int) -> list[Array]:
    """Returns payloads as NumPy arrays; computes those that are not known in one run."""
    arrays = [value_of(x) for x in payloads]
    missing = [x for x, value in zip(payloads, arrays, strict=True) if value is None]
    if not missing:
        return arrays
    with explained(missing):
        computed = iter(_run(dask.compute, _staged(missing, keep)))
    for number, (x, value) in enumerate(zip(payloads, arrays, strict=True)):
        if value is None:
            arrays[number] = value = np.asarray(next(computed), x.dtype).reshape(x.shape)
            if (stage := x.__dict__.get("stage")) is not None:
                stage.value = value
            if value.nbytes <= KEPT_BYTES:
                x.known = value
    return arrays


def kept(payload: Lazy, keep: int) -> None:
    """Computes a payload, on the cluster if there is one, and keeps its blocks there."""
    if value_of(payload) is not None:
        return
    with explained([payload]):
        (staged,) = _staged([payload], keep)
        (persisted,) = _run(dask.persist, [staged])
        if (client := _client()) is not None:
            client.sync(_waited, client, persisted)
    payload.dask = persisted.dask


async def _waited(client: Any, persisted: Any) -> None:
    from distributed import futures_of, wait

    futures = futures_of(persisted)
    await wait(futures)
    for future in futures:
        if future.status == "error":
            await future  # raises


def _run(function: Any, payloads: Sequence[Lazy]) -> Sequence[Any]:
    """Calls Dask with payloads, with a progress bar if one was requested."""
    client = _client()
    if not _shown.get():
        return function(*payloads)  # type: ignore[no-any-return]
    if client is None:
        from dask.diagnostics.progress import ProgressBar

        with ProgressBar():
            return function(*payloads)  # type: ignore[no-any-return]
    from distributed import progress as bar

    begun = dask.persist(*payloads)
    bar(begun, notebook=False)
    print()  # the bar does not end its line
    return function(*begun)  # type: ignore[no-any-return]


def _client() -> Any:
    """Returns the `distributed` client that computes, or `None` if there is none."""
    if "distributed" not in sys.modules:
        return None
    from dask.base import get_scheduler

    return getattr(get_scheduler(), "__self__", None)


# Dependencies


def _staged(payloads: Sequence[Lazy], keep: int) -> list[Lazy]:
    """Computes the reductions of large sources first, and returns payloads whose graphs hold their values."""
    graph = HighLevelGraph.merge(*(x.dask for x in payloads)) if len(payloads) > 1 else payloads[0].dask
    requested = {x.name for x in payloads}
    stages = {
        name: layer
        for name, layer in graph.layers.items()
        if isinstance(layer, Stage) and layer.small and (layer.value is not None or layer.held > keep)
    }
    stages = {name: stage for name, stage in stages.items() if name not in requested}
    if not stages:
        return list(payloads)
    below = {name: _stages_below(graph, name, stages) for name in stages}
    while pending := [name for name, stage in stages.items() if stage.value is None]:
        ready = [name for name in pending if all(stages[source].value is not None for source in below[name])]
        filled = _with_values(graph, stages)
        metas = {name: meta(stages[name].dtype, len(stages[name].chunks)) for name in ready}
        lazy = [_of_layer(filled, name, stages[name].chunks, metas[name]) for name in ready]
        for name, computed in zip(ready, _run(dask.compute, lazy), strict=True):
            stages[name].value = np.asarray(computed, metas[name].dtype)
    filled = _with_values(graph, stages)
    return [_of_layer(filled, x.name, x.chunks, x._meta) for x in payloads]


def _of_layer(graph: HighLevelGraph, name: str, chunks: Chunks, like: Array) -> Lazy:
    """Returns the Dask array of a layer. Dask computes every layer on which no other layer depends, so the graph keeps
    only the layers that this one needs.
    """
    return da.Array(graph.cull_layers([name]), name, chunks, meta=like)


def _stages_below(graph: HighLevelGraph, name: str, stages: dict[str, Stage]) -> set[str]:
    sources: set[str] = set()
    rest = list(graph.dependencies[name])
    met = set(rest)
    while rest:
        layer_name = rest.pop()
        if layer_name in stages:
            sources.add(layer_name)
            continue
        new = graph.dependencies[layer_name] - met
        met |= new
        rest += new
    return sources


def _with_values(graph: HighLevelGraph, stages: dict[str, Stage]) -> HighLevelGraph:
    """Returns a graph in which data replaces the stages that are already computed."""
    layers, dependencies = dict(graph.layers), dict(graph.dependencies)
    for name, stage in stages.items():
        if stage.value is not None:
            source = known(stage.value, stage.chunks)
            tasks = {}
            for key, node in source.dask.layers[source.name].items():
                renamed_key = (name, *key[1:])
                tasks[renamed_key] = type(node)(renamed_key, node.value)
            layers[name], dependencies[name] = MaterializedLayer(tasks), set()
    return HighLevelGraph(layers, dependencies)


# Errors


@contextmanager
def explained(payloads: Sequence[Lazy] = ()) -> Iterator[None]:
    """Turns a failure of the cluster, or of memory, into a `BackendError` that says what to do.

    `payloads` are those that are computed in the block.
    """
    try:
        yield
    except TensorBackendError:
        raise
    except MemoryError as error:
        remedy = "make the blocks smaller with chunks or block_bytes"
        raise OutOfMemoryError(expected("memory for the blocks", remedy, error=str(error))) from error
    except Exception as error:  # those of the cluster are recognised by name, as distributed may not be installed
        kind = type(error).__name__
        if kind == "KilledWorker":
            remedy = "give the workers more memory, or make the blocks smaller with chunks or block_bytes"
            raise BackendError(expected("workers that survive a task", remedy, error=str(error))) from error
        incomplete = isinstance(error, ValueError) and str(error).startswith("Missing dependency")
        if incomplete and not any(map(_on_cluster, payloads)):
            remedy = "report the program that shows it, as a fault of tensorbackend-dask"
            raise BackendError(
                expected("a graph with the inputs of all its tasks", remedy, error=str(error))
            ) from error
        if (
            incomplete
            or kind in _LOST
            or type(error).__module__.startswith(("distributed", "tornado"))
            or isinstance(error, ConnectionError)
        ):
            remedy = "start a new cluster and a client, and compute again what the old cluster kept"
            raise BackendError(expected("a Dask cluster that answers", remedy, error=f"{kind}: {error}")) from error
        raise


def _on_cluster(payload: Lazy) -> bool:
    """Whether a graph refers to blocks that a cluster keeps."""
    future = getattr(sys.modules.get("distributed"), "Future", ())
    return any(isinstance(getattr(task, "value", task), future) for task in dict(payload.dask).values())


_LOST = frozenset(
    {"CancelledError", "FutureCancelledError", "TimeoutError", "CommClosedError", "FuturesCancelledError"}
)
