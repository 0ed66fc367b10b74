"""Importing this module declares all gradient rules.

The modules that differentiate import it. The engine cannot, because rules import the engine.
"""

from . import contraction as contraction
from . import control as control
from . import convolution as convolution
from . import cumulative as cumulative
from . import elementwise as elementwise
from . import fourier as fourier
from . import functional as functional
from . import indexing as indexing
from . import reduction as reduction
from . import shape as shape
from . import sorting as sorting
from . import special as special
from . import window as window
from .linalg import determinants as determinants
from .linalg import factorisations as factorisations
from .linalg import roots as roots
from .linalg import sparse as sparse
from .linalg import systems as systems
