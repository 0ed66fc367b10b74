"""The body of a backend on an array module with NumPy's functions, such as NumPy itself or CuPy."""

from __future__ import annotations

from .convolution import ArrayConvolution
from .creation import ArrayCreation
from .elementwise import ArrayElementwise
from .fourier import ArrayFourier
from .indexing import ArrayIndexing
from .linalg import ArrayLinalg
from .random import ArrayRandom
from .reduction import ArrayReduction
from .shape import ArrayShaping
from .window import ArrayWindow


class ArrayModuleBackend(
    ArrayCreation,
    ArrayElementwise,
    ArrayReduction,
    ArrayShaping,
    ArrayIndexing,
    ArrayWindow,
    ArrayConvolution,
    ArrayLinalg,
    ArrayFourier,
    ArrayRandom,
):
    """Every callback by functions of `self.xp`.

    A subclass sets `xp` and `quiet` in `setup()`, defines transport, and overrides what its module lacks.
    """
