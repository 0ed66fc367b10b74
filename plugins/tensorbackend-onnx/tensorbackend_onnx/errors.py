"""The errors of models: of their files, their operators and their inputs."""

from __future__ import annotations

from tensorbackend.errors import FileError, UnsupportedOp


class ModelError(FileError):
    """A model file that is broken, or that says something that no operator may mean."""


class MissingOperators(UnsupportedOp):
    """A model with operators, or dtypes, that the importer does not have; the text names all of them."""
