"""Run PhiML on tensorbackend: `phiml.math.use(tensorbackend_phiml.backend("jax"))`.

>>> import phiml.math
>>> import tensorbackend_phiml
>>> with tensorbackend_phiml.backend("numpy"):
...     x = phiml.math.tensor([1.0, 2.0])
>>> x.backend
tensorbackend:NumPy
"""

from .backend import TensorBackend as TensorBackend
from .registry import backend as backend
