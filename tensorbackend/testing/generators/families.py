"""Enters all generators of calls, by importing their modules."""

from . import contraction as contraction
from . import convolution as convolution
from . import creation as creation
from . import cumulative as cumulative
from . import elementwise as elementwise
from . import fourier as fourier
from . import functional as functional
from . import indexing as indexing
from . import linalg as linalg
from . import networks as networks
from . import random as random
from . import reduction as reduction
from . import shape as shape
from . import sorting as sorting
from . import special as special
from . import window as window
