"""Solvers of linear systems, for sparse and dense matrices and linear functions, on any backend."""

from .systems import Solution as Solution
from .systems import solve as solve
