"""Apple's MLX behind tensorbackend's protocol: `tb.get_backend("mlx")`, or `MlxBackend(device="cpu")`.

>>> import tensorbackend as tb
>>> tb.tensor([1.0, 2.0], names=("n",), backend="mlx") * 2
f32[n: 2] mlx [2.0, 4.0]
"""

from .backend import MlxBackend as MlxBackend
