"""PyTorch as the modules of this package name it: `from .library import torch` imports it with the first attribute.

So importing the package is quick, and `TorchBackend.setup` is what imports PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch
else:

    class _Library:
        """The module `torch`, its attributes kept once they were asked for."""

        def __getattr__(self, name: str) -> Any:
            import torch

            attribute = getattr(torch, name)
            setattr(self, name, attribute)
            return attribute

    torch = _Library()
