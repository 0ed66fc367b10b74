"""The default backend: payloads are NumPy arrays of exactly the template's shape and dtype."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ...dispatch.native_calls import NATIVE
from ...dtypes import ALL_DTYPES, STORED_DTYPES, bfloat16
from ...interchange import aligned_copy, numpy_dtype, payload_dtype, read_only
from ...protocol import Kernel, Payload
from ...template import Template
from ...tensor import Tensor
from ..array_module import ArrayModuleBackend
from ..array_module.base import BLOCK, Array, KernelContext
from ..array_module.module import ArrayModule
from ..threefry import encrypt
from .contraction import NumpyContraction
from .convolution import NumpyConvolution
from .creation import NumpyCreation
from .cumulative import NumpyCumulative
from .elementwise import NumpyElementwise
from .indexing import NumpyIndexing
from .linalg.factorisations import NumpyLinalg
from .linalg.sparse import NumpySparse
from .reduction import NumpyReduction
from .sorting.order_statistics import NumpyOrderStatistics

if TYPE_CHECKING:
    import numpy


_WORDS = 2 * BLOCK
"""The number of random words of a block, as a word takes half the memory of a float64."""


_MOST_WORDS_IN_PYTHON = 1 << 7
"""The number of random words up to which Python's integers are quicker than a hundred calls of NumPy."""


class NumpyModule(ArrayModule):
    """NumPy as the array module that the shared body is written for: its results are there at once."""

    eager = True


class NumpyBackend(
    NumpyCreation,
    NumpyElementwise,
    NumpyReduction,
    NumpyCumulative,
    NumpyOrderStatistics,
    NumpyIndexing,
    NumpyContraction,
    NumpyConvolution,
    NumpySparse,
    NumpyLinalg,
    ArrayModuleBackend,
):
    """Payloads are NumPy arrays. They share memory with readers, which cannot write to it."""

    name = "numpy"
    plans_kinds = True
    compiles_exactly = True
    array_types = "numpy:ndarray", "numpy:generic"
    dtypes = STORED_DTYPES
    dlpack_dtypes = frozenset(ALL_DTYPES) - {bfloat16}

    def setup(self) -> None:
        """Imports NumPy, and switches its floating-point reports off in a context that only this backend uses."""
        import numpy

        self.xp, self.native = NumpyModule(numpy), NATIVE
        self.silent = KernelContext(partial(numpy.seterr, all="ignore"))
        self.watching = KernelContext(partial(numpy.seterr, all="raise", under="ignore"))
        self.watching_all = KernelContext(partial(numpy.seterr, all="raise"))

    def versions(self) -> Mapping[str, str]:
        """Those of NumPy and, where it is used, of tensorbackend-native."""
        native = {} if self.native is None else {"tensorbackend-native": self.native.__version__}
        return {**super().versions(), **native}

    def settled(self, kernel: Kernel, out: Any, /) -> Kernel:
        """As in `ArrayBase`; where NumPy can return an array without axes itself, it makes no number first."""
        if getattr(out, "shape", None) != () or out.dtype is bfloat16 or not self._returns_arrays(kernel):
            return super().settled(kernel, out)
        return partial(kernel, out=...)

    def _returns_arrays(self, function: Any) -> bool:
        """Whether a function is a ufunc that can be told to return an array, as from NumPy 2.3 on."""
        if not isinstance(function, self.xp.ufunc) or function.nout != 1:
            return False
        return tuple(map(int, self.xp.__version__.split(".")[:2])) >= (2, 3)

    # Transport

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """A view of the bytes, which nothing can change."""
        return self.xp.frombuffer(bytes(data), payload_dtype(out.dtype)).reshape(out.shape)

    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """The first `limit` elements as bytes."""
        data: bytes = (x.data if limit >= x.template.size else x.data.flat[:limit]).tobytes()
        return data

    def from_numpy(self, out: Template, array: numpy.ndarray[Any, Any], /, *, copy: bool) -> Payload:
        """The array itself, or a copy of it."""
        dtype = payload_dtype(out.dtype)
        if out.dtype.is_narrow:
            array = array.view(dtype)
        if array.dtype is dtype and array.__class__ is self.xp.ndarray and not copy:
            return array
        return aligned_copy(array, dtype) if copy else array.astype(dtype, copy=False, subok=False)

    def to_numpy(self, x: Tensor, dtype: Any, copy: bool | None, /) -> numpy.ndarray[Any, Any]:
        """The payload as a read-only view, or a fresh array."""
        data = x.data.view(numpy_dtype(x.dtype)) if x.dtype.is_narrow else x.data
        return read_only(data, dtype, copy)

    def exported(self, x: Tensor, /) -> Any:
        """A copy, as a program may keep the payload; a number of NumPy in place of an array without axes."""
        return self.to_numpy(x, None, True)[()]

    # Blocks that stay in the cache, which only NumPy needs

    def encrypt(self, key: Array, first: Array, second: Array) -> None:
        """Runs the many steps of a random word on one block at a time; few words go into the lanes of an integer."""
        high, low = key.tolist()
        if self.native is not None:
            self.native.encrypt((high, low), first, second)
            return
        if first.size <= _MOST_WORDS_IN_PYTHON:
            mixed = encrypt((high, low), array("Q", first.tolist()), array("Q", second.tolist()))
            first[...], second[...] = mixed
            return
        for start in range(0, first.size, _WORDS):
            super().encrypt(key, first[start : start + _WORDS], second[start : start + _WORDS])
