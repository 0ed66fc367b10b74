"""Optimisation: minima, roots, and transformations of gradients, on any backend."""

from ..display import directory as _directory
from ..tensor.missing_names import missing_names as _missing_names
from .adafactor import adafactor as adafactor
from .averages import LossScale as LossScale
from .averages import accumulate as accumulate
from .averages import moving_average as moving_average
from .averages import scale_loss as scale_loss
from .descent import cosine_decay as cosine_decay
from .descent import exponential_decay as exponential_decay
from .descent import lion as lion
from .descent import scale_by_rate as scale_by_rate
from .descent import sgd as sgd
from .descent import trace as trace
from .descent import warmup as warmup
from .minima import Minimum as Minimum
from .minima import minimize as minimize
from .moments import adam as adam
from .moments import adamw as adamw
from .moments import rmsprop as rmsprop
from .moments import scale_by_adam as scale_by_adam
from .moments import scale_by_rms as scale_by_rms
from .residuals import LeastSquares as LeastSquares
from .residuals import least_squares as least_squares
from .roots import Root as Root
from .roots import bisect as bisect
from .roots import fixed_point as fixed_point
from .roots import root as root
from .transformations import GradientTransformation as GradientTransformation
from .transformations import add_decayed_weights as add_decayed_weights
from .transformations import apply_updates as apply_updates
from .transformations import chain as chain
from .transformations import clip_by_global_norm as clip_by_global_norm
from .transformations import global_norm as global_norm
from .transformations import scale as scale

__dir__ = _directory(__name__)
__getattr__ = _missing_names(__name__)
