"""Run RETURNN's frontend on tensorbackend: `tensorbackend_returnn.select_backend("jax")`.

>>> import returnn.frontend as rf
>>> import tensorbackend_returnn
>>> backend = tensorbackend_returnn.select_backend("numpy")
>>> rf.reduce_sum(x := rf.convert_to_tensor([1.0, 2.0]), axis=x.dims).raw_tensor.item()
3.0
"""

from .backend import TensorBackend as TensorBackend
from .checkpoints import load_checkpoint as load_checkpoint
from .checkpoints import save_checkpoint as save_checkpoint
from .registry import select_backend as select_backend
from .registry import selected as selected
from .training import State as State
from .training import functional as functional
from .training import parameters as parameters
from .training import state as state
from .training import substituted as substituted
