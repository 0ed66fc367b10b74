"""NumPy as the array module that the shared body is written for."""

from __future__ import annotations

from ..array_module.module import ArrayModule


class NumpyModule(ArrayModule):
    """The functions of NumPy, whose results are there at once."""

    eager = True
