"""Docstrings of ops, completed with the sections that numpydoc asks for."""

from .sections import REQUIRED as REQUIRED
from .sections import complete_docstring as complete_docstring
from .sections import document as document
from .sections import parameters_of as parameters_of
