"""`DaskBackend`: its options and its transport. The modules of the op families define the callbacks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextvars import ContextVar
from math import isnan
from typing import TYPE_CHECKING, Any

from tensorbackend import Template, Tensor
from tensorbackend.dtypes import as_dtype
from tensorbackend.errors import ArgumentError, ExchangeError, expected
from tensorbackend.extending import CompositeCall, Default, import_library, numpy_dtype, read_only
from tensorbackend.protocol import Payload

from . import running
from .chunks import bytes_of, rules_of
from .contraction import DaskContraction
from .creation import DaskCreation
from .cumulative import DaskCumulative
from .elementwise import DaskElementwise
from .graphs import known, rechunked, value_of
from .indexing import DaskIndexing
from .library import da, np, numpy_backend
from .reduction import DaskReduction
from .shape import DaskShaping
from .whole import DaskFourier, DaskLinalg, DaskRandom, DaskSorting
from .window import DaskWindow

if TYPE_CHECKING:
    import numpy


class DaskBackend(
    DaskElementwise,
    DaskReduction,
    DaskCumulative,
    DaskSorting,
    DaskShaping,
    DaskIndexing,
    DaskContraction,
    DaskWindow,
    DaskLinalg,
    DaskFourier,
    DaskRandom,
    DaskCreation,
):
    """Stores tensors as Dask arrays. NumpyBackend computes each block when the elements are read.

    >>> DaskBackend(chunks={"time": 2}) is DaskBackend(chunks={"time": 2})
    True
    """

    name = "dask"
    array_types = ("dask.array:Array",)
    writable_payloads = False

    @classmethod
    def init(cls, **options: object) -> Mapping[str, Hashable]:
        """Checks the options and fills in the defaults.

        `chunks` maps axis names to block sizes; `None` keeps an axis whole. The other axes are cut until a block has at
        most `block_bytes`, 64 MiB by default. Blocks that are needed a second time are kept if they have at most
        `keep_bytes` together, 256 MiB by default; otherwise they are computed again.
        """
        known_options = {"chunks": (), "block_bytes": 1 << 26, "keep_bytes": 1 << 28}
        others = {name: value for name, value in options.items() if name not in known_options}
        if others:
            expectation = f"no options for the backend {cls.name!r} except {', '.join(known_options)}"
            raise ArgumentError(expected(expectation, options=others))
        settings = {**known_options, **options}
        return {
            "chunks": rules_of(settings["chunks"]),
            "block_bytes": bytes_of("block_bytes", settings["block_bytes"]),
            "keep_bytes": bytes_of("keep_bytes", settings["keep_bytes"]),
        }

    def setup(self) -> None:
        """Imports Dask."""
        import_library("dask.array", self.name)
        self.rules = dict(self.options["chunks"])  # type: ignore[call-overload] # pairs, by init
        self.names_inside: ContextVar[Template | None] = ContextVar("names_inside", default=None)

    def versions(self) -> Mapping[str, str]:
        """Dask's version, and that of `distributed` where it is installed."""
        from importlib.metadata import PackageNotFoundError, version

        versions = {"dask": version("dask")}
        try:
            return {**versions, "distributed": version("distributed")}
        except PackageNotFoundError:
            return versions

    def optional(self, name: str, args: CompositeCall, default_impl: Default) -> Tensor | tuple[Tensor, ...]:
        """Runs the default implementation. If it makes unnamed tensors in the shape of the result, the names of the
        result decide where they are cut into blocks.
        """
        if not isinstance(args.out, Template) or not any(args.out.names):
            return default_impl(*args)
        token = self.names_inside.set(args.out)
        try:
            return default_impl(*args)
        finally:
            self.names_inside.reset(token)

    # Transport

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """Returns blocks that are views of the bytes."""
        array = np.frombuffer(bytes(data), numpy_dtype(out.dtype)).reshape(out.shape)
        return known(array, self.chunks_for(out))

    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """Returns the first `limit` elements as bytes. Computes only the blocks that hold them."""
        encoded: bytes = self._first(x.data, limit).tobytes()
        return encoded[: limit * x.dtype.itemsize]

    def _first(self, data: Payload, limit: int) -> Any:
        """Returns a NumPy array that begins with the first `limit` elements and may hold more."""
        values = value_of(data)
        if values is None and limit < data.size and data.ndim:
            key: list[slice] = []
            inner, size = data.size, limit
            for length in data.shape:
                inner //= length
                rows = -(-size // inner)
                key.append(slice(0, rows))
                if rows > 1:
                    break
            data = data[tuple(key)]
        if values is not None:
            return values.reshape(-1)[:limit] if limit < values.size else values
        return self.values(data)[0]

    def from_numpy(self, out: Template, array: numpy.ndarray[Any, Any], /, *, copy: bool) -> Payload:
        """Returns blocks that are views of the array, or of a copy."""
        tensor = Tensor(out, numpy_backend(), array)
        return known(numpy_backend().from_numpy(out, tensor.data, copy=copy), self.chunks_for(out))

    def to_numpy(self, x: Tensor, dtype: Any, copy: bool | None, /) -> numpy.ndarray[Any, Any]:
        """Computes the values, and returns them as a read-only array."""
        if copy is False and value_of(x.data) is None:
            raise ValueError(expected("data in memory for copy=False", "leave copy out", tensor=x.template))
        return read_only(self.values(x.data)[0], dtype, copy)

    def adopted(self, array: Any, /) -> tuple[Template, Payload] | None:
        """Uses a Dask array of NumPy arrays with known chunks without a copy."""
        if not isinstance(array, da.Array):
            return None
        if any(isnan(size) for sizes in array.chunks for size in sizes):
            remedy = "call its compute_chunk_sizes() first"
            raise ExchangeError(expected("a Dask array whose chunks are known", remedy, chunks=array.chunks))
        if not isinstance(array._meta, np.ndarray):
            kind = type(array._meta).__name__
            raise ExchangeError(
                expected("a Dask array of NumPy arrays", "convert its blocks with map_blocks()", blocks=kind)
            )
        out = Template(tuple(map(int, array.shape)), as_dtype(array.dtype), None)
        filled = tuple(tuple(int(size) for size in sizes if size) or (0,) for sizes in array.chunks)
        native = array.astype(numpy_dtype(out.dtype)) if array.dtype != numpy_dtype(out.dtype) else array
        return out, rechunked(native, filled)

    def from_backend(self, x: Tensor, /, *, copy: bool) -> Payload:
        """Makes the payload from a tensor of any backend; rechunks a tensor on Dask by the rules of this backend."""
        if isinstance(x.backend, DaskBackend):
            return rechunked(x.data, self.chunks_for(x.template))
        return super().from_backend(x, copy=copy)

    def block_until_ready(self, x: Tensor, /) -> None:
        """Computes the tensor, on the cluster if there is one, and keeps its blocks there for later computations."""
        running.kept(x.data, running.keep_of(x))

    def backend_deallocate(self, x: Tensor, /) -> None:
        """Does nothing: a cluster frees blocks when no array needs them any more."""

    def violation(self, out: Template, data: Payload, /) -> str | None:
        """Says what is wrong with the type, shape or dtype of a payload, or returns `None`. Computes nothing."""
        if not isinstance(data, da.Array):
            return f"a {type(data).__name__} instead of a dask.array.Array"
        if data.shape != out.shape or data.dtype != numpy_dtype(out.dtype):
            return f"an array of shape {data.shape} and dtype {data.dtype}"
        return None

    def to_batched(self, x: Tensor, size: int, /) -> Iterator[Payload]:
        """Yields consecutive runs of entries along the first axis, without computing them."""
        return (x.data[start : start + size] for start in range(0, x.shape[0], size))

    def inspect(self, x: Tensor, /, *, limit: int = 100) -> str:
        """Returns the tensor as text, with its elements only if they are known: display computes nothing."""
        if value_of(x.data) is not None:
            return super().inspect(x, limit=limit)
        return f"{x.template!r} {self.name} ({x.data.npartitions} blocks, not computed)"
