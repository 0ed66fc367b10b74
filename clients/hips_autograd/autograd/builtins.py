"""autograd's containers: a traced list, tuple or dictionary here is a plain one whose leaves are tensors."""

from builtins import dict, isinstance, list, tuple  # noqa: UP029

__all__ = ["dict", "isinstance", "list", "tuple"]
