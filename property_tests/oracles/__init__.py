"""Oracles of all public functions, a module for each family."""

from __future__ import annotations

from . import activations as activations
from . import attention as attention
from . import contraction as contraction
from . import convolution as convolution
from . import factorisations as factorisations
from . import fourier as fourier
from . import linalg as linalg
from . import losses as losses
from . import reduction as reduction
from . import sequences as sequences
from . import signals as signals
from . import systems as systems
from . import window as window
from .table import ORACLES as ORACLES
