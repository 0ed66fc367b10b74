"""What takes Python or NumPy many times as long as C: warm calls of ops, and the bits of random numbers.

The library looks for this package when it is imported. `TENSORBACKEND_NATIVE=0` in the environment hides it.
"""

from __future__ import annotations

from contextlib import suppress

from ._native import encrypt

with suppress(ModuleNotFoundError):  # builds of Python without the global lock have no such module
    from ._calls import Call as Call
    from ._calls import configure as configure

__all__ = ["encrypt"]

__version__ = "0.1.0"

INTERFACE = 1
"""What the library expects here, by number; it leaves a package with another one alone."""
