"""Oracles of all public functions, a module for each family."""

from __future__ import annotations

from . import activations as activations
from . import attention as attention
from . import collectives as collectives
from . import contraction as contraction
from . import convolution as convolution
from . import creation as creation
from . import cumulative as cumulative
from . import debugging as debugging
from . import elementwise as elementwise
from . import factorisations as factorisations
from . import fourier as fourier
from . import images as images
from . import indexing as indexing
from . import linalg as linalg
from . import losses as losses
from . import minima as minima
from . import missing_values as missing_values
from . import optax_steps as optax_steps
from . import optimize as optimize
from . import quantized as quantized
from . import ragged as ragged
from . import ragged_packing as ragged_packing
from . import random as random
from . import reduction as reduction
from . import runtime as runtime
from . import samples as samples
from . import sampling as sampling
from . import scatter as scatter
from . import sequences as sequences
from . import shape as shape
from . import signals as signals
from . import solvers as solvers
from . import sorting as sorting
from . import sparse as sparse
from . import special as special
from . import systems as systems
from . import transforms as transforms
from . import window as window
from .table import ORACLES as ORACLES
