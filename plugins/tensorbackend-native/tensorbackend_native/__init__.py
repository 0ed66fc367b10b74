"""What takes NumPy many times as long as a loop in C, for tensorbackend's NumPy backend: the bits of random numbers.

The backend looks for this package when it is first used. `TENSORBACKEND_NATIVE=0` in the environment hides it.
"""

from __future__ import annotations

from ._native import encrypt

__all__ = ["encrypt"]

__version__ = "0.1.0"
