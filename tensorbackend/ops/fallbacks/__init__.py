"""Primitives written in terms of others, by family, for backends that do not define them (`dispatch.fallbacks`).

Importing this package declares them; the dispatcher does so when a backend first lacks a callback. Each agrees with the
reference within the bound of its op; an op that cannot be derived so accurately has no fall-back.
"""

from . import contraction as contraction
from . import convolution as convolution
from . import creation as creation
from . import fourier as fourier
from . import functional as functional
from . import indexing as indexing
from . import linalg as linalg
from . import reduction as reduction
from . import shape as shape
from . import sorting as sorting
from . import window as window
from .elementwise import arithmetic as arithmetic
from .elementwise import functions as functions
from .elementwise import integers as integers
from .elementwise import narrow as narrow
