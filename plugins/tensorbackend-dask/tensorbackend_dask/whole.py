"""Ops that need some axes whole: NumpyBackend computes each block along the other axes."""

from __future__ import annotations

from typing import Any, Literal

from tensorbackend import Template, Tensor
from tensorbackend.dtypes import DType
from tensorbackend.protocol import Payload

from .base import DaskBase, lazily
from .blocks import Labels
from .graphs import Lazy, by_labels


class DaskSorting(DaskBase):
    """Sorting. The blocks along the sorted axis are merged."""

    @lazily
    def sort(self, out: Template, x: Tensor, /, *, axis: int, descending: bool) -> Payload:
        """Elements in order."""
        return self._ordered("sort", out, x, axis, descending)

    @lazily
    def argsort(self, out: Template, x: Tensor, /, *, axis: int, descending: bool) -> Payload:
        """Indices that would sort the elements."""
        return self._ordered("argsort", out, x, axis, descending)

    def _ordered(self, name: str, out: Template, x: Tensor, axis: int, descending: bool) -> Lazy:
        labels = tuple(range(x.ndim))
        options = {"axis": axis, "descending": descending}
        return by_labels(name, out, [(x.data, x.dtype, labels)], [labels], whole=[axis], options=options)

    @lazily
    def top_k(self, out: tuple[Template, Template], x: Tensor, /, *, k: int) -> Payload:
        """The largest elements along the last axis, and their indices."""
        labels = tuple(range(x.ndim))
        result_labels = (*labels[:-1], x.ndim)
        operands = [(x.data, x.dtype, labels)]
        return by_labels(
            "top_k", out, operands, [result_labels, result_labels], whole=[x.ndim - 1, x.ndim], options={"k": k}
        )

    @lazily
    def searchsorted(self, out: Template, x1: Tensor, x2: Tensor, /, *, side: str) -> Payload:
        """Finds where values belong in a sorted tensor. Merges its blocks; the values stay in their blocks."""
        labels = tuple(range(x2.ndim))
        operands = [(x1.data, x1.dtype, (x2.ndim,)), (x2.data, x2.dtype, labels)]
        return by_labels("searchsorted", out, operands, [labels], whole=[x2.ndim], options={"side": side})


class DaskFourier(DaskBase):
    """Fourier transforms. The blocks along the transformed axis are merged."""

    @lazily
    def fft(self, out: Template, x: Tensor, /, *, axis: int, length: int, norm: str) -> Payload:
        """The transform along an axis."""
        return self._transformed("fft", out, x, axis, length, norm)

    @lazily
    def ifft(self, out: Template, x: Tensor, /, *, axis: int, length: int, norm: str) -> Payload:
        """The inverse transform along an axis."""
        return self._transformed("ifft", out, x, axis, length, norm)

    def _transformed(self, name: str, out: Template, x: Tensor, axis: int, length: int, norm: str) -> Lazy:
        labels = tuple(range(x.ndim))
        options = {"axis": axis, "length": length, "norm": norm}
        return by_labels(name, out, [(x.data, x.dtype, labels)], [labels], whole=[axis], options=options)


class DaskRandom(DaskBase):
    """Counter-based random words: a block depends only on the key and on its own counters."""

    @lazily
    def threefry2x32(self, out: tuple[Template, Template], key: Tensor, high: Tensor, low: Tensor, /) -> Payload:
        """Encrypts the words of counters with a key."""
        labels = tuple(range(out[0].ndim))
        operands: list[tuple[Lazy, DType, Labels]] = [(key.data, key.dtype, (len(labels),))]
        operands += [(x.data, x.dtype, labels[len(labels) - x.ndim :]) for x in (high, low)]
        return by_labels("threefry2x32", out, operands, [labels, labels], whole=[len(labels)])


class DaskLinalg(DaskBase):
    """Linear algebra. Each matrix is needed whole; batches stay in blocks. An op that raises for some data runs now."""

    def _factors(self, name: str, out: Any, x: Tensor, **options: Any) -> Any:
        """Applies a callback of one matrix to every matrix of a batch."""
        batch = tuple(range(x.ndim - 2))
        outs = (out,) if isinstance(out, Template) else out
        results, whole = [], [x.ndim - 2, x.ndim - 1]
        for number, template in enumerate(outs):
            own_labels = tuple(range(10 * (number + 10), 10 * (number + 10) + template.ndim - len(batch)))
            results.append((*batch, *own_labels))
            whole += own_labels
        labels = tuple(range(x.ndim))
        return by_labels(name, out, [(x.data, x.dtype, labels)], results, whole=whole, options=options)

    @lazily
    def cholesky(self, out: Template, x: Tensor, /) -> Payload:
        """Lower factors, computed during the call."""
        return self.now(self._factors("cholesky", out, x))

    @lazily
    def lu(self, out: tuple[Template, Template, Template], x: Tensor, /) -> Payload:
        """Permutations, lower and upper factors."""
        return self._factors("lu", out, x)

    @lazily
    def qr(self, out: tuple[Template, Template], x: Tensor, /, *, mode: Literal["reduced", "complete"]) -> Payload:
        """Orthonormal and upper factors."""
        return self._factors("qr", out, x, mode=mode)

    @lazily
    def eigh(self, out: tuple[Template, Template], x: Tensor, /) -> Payload:
        """Eigenvalues and eigenvectors of Hermitian matrices."""
        return self._factors("eigh", out, x)

    @lazily
    def eig(self, out: tuple[Template, Template], x: Tensor, /) -> Payload:
        """Eigenvalues and eigenvectors."""
        return self._factors("eig", out, x)

    @lazily
    def svd(self, out: tuple[Template, Template, Template], x: Tensor, /, *, full_matrices: bool) -> Payload:
        """Singular values and vectors."""
        return self._factors("svd", out, x, full_matrices=full_matrices)

    @lazily
    def determinant(self, out: Template, x: Tensor, /) -> Payload:
        """Determinants."""
        return self._factors("determinant", out, x)

    @lazily
    def triangular_solve(
        self, out: Template, a: Tensor, b: Tensor, /, *, left_side: bool, lower: bool, transform: str
    ) -> Payload:
        """Solutions, computed during the call."""
        options = {"left_side": left_side, "lower": lower, "transform": transform}
        return self.now(self._solved("triangular_solve", out, a, b, 2, options))

    @lazily
    def solve(self, out: Template, a: Tensor, b: Tensor, /) -> Payload:
        """Solutions, computed during the call."""
        return self.now(self._solved("solve", out, a, b, 1 if b.ndim == 1 else 2, {}))

    def _solved(self, name: str, out: Template, a: Tensor, b: Tensor, inner: int, options: Any) -> Lazy:
        count = out.ndim - inner
        batch = tuple(range(count))

        def labels(x: Tensor, own_labels: Labels) -> Labels:
            return (*batch[count - (x.ndim - len(own_labels)) :], *own_labels)

        ours, theirs, result_labels = (count, count + 1), (count + 2, count + 3)[:inner], (count + 4, count + 5)[:inner]
        operands = [(a.data, a.dtype, labels(a, ours)), (b.data, b.dtype, labels(b, theirs))]
        return by_labels(
            name, out, operands, [(*batch, *result_labels)], whole=[*ours, *theirs, *result_labels], options=options
        )
