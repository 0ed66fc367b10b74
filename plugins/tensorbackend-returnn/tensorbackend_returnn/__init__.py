"""Run RETURNN's frontend on tensorbackend: `tensorbackend_returnn.select_backend("jax")`.

>>> import returnn.frontend as rf
>>> import tensorbackend_returnn
>>> backend = tensorbackend_returnn.select_backend("numpy")
>>> rf.reduce_sum(x := rf.convert_to_tensor([1.0, 2.0]), axis=x.dims).raw_tensor.item()
3.0
"""

from .backend import TensorBackend as TensorBackend
from .registry import select_backend as select_backend
from .registry import selected as selected
from .training import parameters as parameters
from .training import substituted as substituted
