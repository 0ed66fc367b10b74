"""PyTorch behind tensorbackend's protocol: `tb.get_backend("torch")`, or `TorchBackend(device="cuda:0")`.

>>> import tensorbackend as tb
>>> tb.tensor([1.0, 2.0], names=("n",), backend="torch") * 2
f32[n: 2] torch [2.0, 4.0]
"""

from .backend import TorchBackend as TorchBackend
from .compiled import CompiledTorchBackend as CompiledTorchBackend
