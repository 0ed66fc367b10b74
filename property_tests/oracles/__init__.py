"""Oracles of all public functions, a module for each family."""

from __future__ import annotations

from . import contraction as contraction
from . import reduction as reduction
from .table import ORACLES as ORACLES
