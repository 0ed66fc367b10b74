"""Primitives in terms of others, by family: what runs where a backend does not define them (`dispatch.fallbacks`).

Importing this package declares them; the dispatcher does so when a backend first lacks a callback. Each agrees with
the reference within the bound of its op, or it would not be here: what cannot be had so accurately has no fall-back.
"""

from __future__ import annotations

from . import arithmetic as arithmetic
from . import comparison as comparison
from . import contraction as contraction
from . import creation as creation
from . import fourier as fourier
from . import functions as functions
from . import hyperbolic as hyperbolic
from . import indexing as indexing
from . import integers as integers
from . import linalg as linalg
from . import ordering as ordering
from . import reduction as reduction
from . import rounding as rounding
from . import shape as shape
from . import window as window
