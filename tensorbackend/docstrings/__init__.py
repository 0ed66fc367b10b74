"""Docstrings of ops, completed with the sections that numpydoc asks for."""

from .sections import completed as completed
from .sections import described as described
