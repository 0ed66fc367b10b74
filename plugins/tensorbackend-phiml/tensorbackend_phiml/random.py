"""Random numbers: PhiML's generator has a state, which is a key that each draw splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorbackend as tb

from .base import Operand
from .creation import Creation, sizes
from .dtypes import from_phiml


class Random(Creation):
    """Functions that draw."""

    _key: tb.Tensor | None = None

    def seed(self, seed: int) -> None:
        """Begins the draws anew."""
        self._key = tb.random.key(int(seed), backend=self.base)

    def _drawn(self) -> tb.Tensor:
        """The key of one draw."""
        if self._key is None:
            self.seed(0)
        held, drawn = tb.unstack(tb.random.split(self._key))  # type: ignore[arg-type] # a seed makes one
        self._key = held
        return drawn.backend_copy(self.base) if drawn.backend is not self.base else drawn

    def random_uniform(self, shape: Sequence[int], low: Operand, high: Operand, dtype: Any) -> Any:
        """Numbers from `low` up to and without `high`; of complex ones each part between those of the bounds."""
        asked = self._float if dtype is None else from_phiml(dtype)
        if asked.is_integer:
            return tb.random.randint(self._drawn(), sizes(shape), low, high, asked)
        if not asked.is_complex:
            return tb.random.uniform(self._drawn(), sizes(shape), asked, low, high)
        part = tb.float32 if asked is tb.complex64 else tb.float64
        parts = [
            tb.random.uniform(self._drawn(), sizes(shape), part, minimum, maximum)
            for minimum, maximum in ((low.real, high.real), (low.imag, high.imag))
        ]
        return tb.complex(*parts)

    def random_normal(self, shape: Sequence[int], dtype: Any) -> Any:
        """Numbers of the standard normal distribution; as integers they are cut to those."""
        asked = self._float if dtype is None else from_phiml(dtype)
        drawn = tb.random.normal(self._drawn(), sizes(shape), asked if asked.is_inexact else self._float)
        return self._cast(drawn, asked)

    def random_permutations(self, permutations: int, n: int) -> Any:
        """Orders of the first n integers, each by itself."""
        rows = tb.broadcast_to(tb.arange(n, backend=self.base), (permutations, n))
        return tb.random.permutation(self._drawn(), rows, axis=1, independent=True)

    def random_subsets(
        self,
        element_count: int,
        subset_size: int,
        subset_count: int,
        allow_duplicates: bool,
        element_weights: Operand = None,
    ) -> Any:
        """Subsets of the first integers, with the chances that weights give them, with or without duplicates."""
        chances = None
        if element_weights is not None:
            weights = self.to_float(element_weights)
            chances = weights / tb.sum(weights)
        return tb.stack(
            [
                tb.random.choice(
                    self._drawn(),
                    tb.arange(element_count, backend=self.base),
                    (subset_size,),
                    replace=allow_duplicates,
                    p=chances,
                )
                for _ in range(subset_count)
            ]
        )
