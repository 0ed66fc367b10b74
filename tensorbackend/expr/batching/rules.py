"""Importing this declares the rules of all families. What batches does so; the engine, which rules use, cannot."""

from __future__ import annotations

from . import contraction as contraction
from . import control as control
from . import indexing as indexing
from . import shape as shape
from . import window as window
