"""Lazy import: after `from .library import torch`, the first attribute that is read imports PyTorch.

So importing the package is quick; `TorchBackend.setup` imports PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch
else:

    class _Library:
        """The module `torch`, its attributes kept after the first access."""

        def __getattr__(self, name: str) -> Any:
            import torch

            attribute = getattr(torch, name)
            setattr(self, name, attribute)
            return attribute

    torch = _Library()
