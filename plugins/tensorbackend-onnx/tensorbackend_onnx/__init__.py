"""ONNX models as functions of tensors, on every backend: `model = tensorbackend_onnx.load("model.onnx")`."""

from tensorbackend.extending import count_as_ours

from .engine import Placement as Placement
from .engine import placement as placement
from .errors import MissingOperators as MissingOperators
from .errors import ModelError as ModelError
from .exporting import export as export
from .model import Model as Model
from .model import load as load
from .pytorch import TorchFunction as TorchFunction
from .pytorch import from_torch as from_torch

count_as_ours(__file__)
