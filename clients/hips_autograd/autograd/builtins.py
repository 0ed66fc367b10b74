"""autograd's containers: here a traced list, tuple or dictionary is a plain container of tensors."""

from builtins import dict, isinstance, list, tuple  # noqa: UP029

__all__ = ["dict", "isinstance", "list", "tuple"]
