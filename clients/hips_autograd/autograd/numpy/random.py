"""NumPy's random numbers."""

from numpy.random import *  # noqa: F403
from numpy.random import RandomState, rand, randint, randn, seed  # noqa: F401
