"""Random numbers. The state of PhiML's generator is a key, which each draw splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorbackend as tb

from .base import Operand
from .creation import Creation, sizes
from .dtypes import from_phiml


class Random(Creation):
    """Functions that draw random numbers."""

    _key: tb.Tensor | None = None

    def seed(self, seed: int) -> None:
        """Set the state of the generator."""
        self._key = tb.random.key(int(seed), backend=self.base)

    def _drawn(self) -> tb.Tensor:
        """Split the key of the generator and return a key for one draw."""
        if self._key is None:
            self.seed(0)
        held, drawn = tb.unstack(tb.random.split(self._key))  # type: ignore[arg-type] # `seed` sets it
        self._key = held
        return drawn.backend_copy(self.base) if drawn.backend is not self.base else drawn

    def random_uniform(self, shape: Sequence[int], low: Operand, high: Operand, dtype: Any) -> Any:
        """Draw numbers from `low` up to, but not including, `high`.

        The real parts of complex numbers are between the real parts of the bounds, and likewise the imaginary parts.
        """
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
        """Draw numbers from the standard normal distribution; integer dtypes truncate them."""
        asked = self._float if dtype is None else from_phiml(dtype)
        drawn = tb.random.normal(self._drawn(), sizes(shape), asked if asked.is_inexact else self._float)
        return self._cast(drawn, asked)

    def random_permutations(self, permutations: int, n: int) -> Any:
        """Draw independent permutations of the integers below n."""
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
        """Draw subsets of the integers below `element_count`, with or without duplicates.

        The probability of an element is proportional to its weight.
        """
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
