"""Docstrings of ops, completed with the sections that numpydoc asks for."""

from .sections import complete_docstring as complete_docstring
from .sections import document as document
