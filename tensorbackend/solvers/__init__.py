"""Solvers of linear systems, of eigenproblems and of ordinary differential equations, on any backend."""

from ..display import directory as _directory
from ..tensor.missing_names import missing_names as _missing_names
from .differential import Trajectory as Trajectory
from .differential import solve_ivp as solve_ivp
from .eigenpairs import Eigenpairs as Eigenpairs
from .eigenpairs import eigsh as eigsh
from .systems import Solution as Solution
from .systems import solve as solve

__dir__ = _directory(__name__)
__getattr__ = _missing_names(__name__)
