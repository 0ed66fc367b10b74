"""Importing this module declares all batching rules.

Modules that batch import it. The engine cannot, because rules import the engine.
"""

from . import contraction as contraction
from . import control as control
from . import convolution as convolution
from . import elementwise as elementwise
from . import indexing as indexing
from . import linalg as linalg
from . import reduction as reduction
from . import shape as shape
from . import window as window
