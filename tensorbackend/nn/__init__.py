"""Neural networks: functions of tensors, with axes by name or position; layers take dictionaries of parameters.

>>> import tensorbackend as tb
>>> x = tb.asarray([[1.0, -2.0]], names=("batch", "feature"))
>>> tb.nn.relu(x).tolist()
[[1.0, 0.0]]
"""

from ..display import directory as _directory
from ..ops.composite.elementwise.activations import elu as elu
from ..ops.composite.elementwise.activations import gelu as gelu
from ..ops.composite.elementwise.activations import hard_sigmoid as hard_sigmoid
from ..ops.composite.elementwise.activations import hard_silu as hard_silu
from ..ops.composite.elementwise.activations import hard_tanh as hard_tanh
from ..ops.composite.elementwise.activations import leaky_relu as leaky_relu
from ..ops.composite.elementwise.activations import log_sigmoid as log_sigmoid
from ..ops.composite.elementwise.activations import relu as relu
from ..ops.composite.elementwise.activations import selu as selu
from ..ops.composite.elementwise.activations import silu as silu
from ..ops.composite.elementwise.activations import softplus as softplus
from ..ops.composite.reduction import standardise as standardise
from ..ops.composite.reduction.probabilities import cross_entropy as cross_entropy
from ..ops.composite.reduction.probabilities import log_softmax as log_softmax
from ..ops.composite.reduction.probabilities import masked_softmax as masked_softmax
from ..ops.composite.reduction.probabilities import softmax as softmax
from ..ops.composite.reduction.probabilities import sparse_cross_entropy as sparse_cross_entropy
from ..tensor.missing_names import missing_names as _missing_names
from .attention import attention as attention
from .attention import attention_weights as attention_weights
from .attention_heads import KeyValueCache as KeyValueCache
from .attention_heads import incremental_attention as incremental_attention
from .attention_heads import key_value_cache as key_value_cache
from .attention_heads import multi_head_attention as multi_head_attention
from .convolution import conv as conv
from .convolution import conv_transpose as conv_transpose
from .convolution import max_pool as max_pool
from .convolution import max_unpool as max_unpool
from .convolution import mean_pool as mean_pool
from .ctc import Decoded as Decoded
from .ctc import ctc_alignment as ctc_alignment
from .ctc import ctc_best_path as ctc_best_path
from .ctc import ctc_loss as ctc_loss
from .deformation import deform_conv as deform_conv
from .detection import non_maximum_suppression as non_maximum_suppression
from .initialisers import glorot_normal as glorot_normal
from .initialisers import glorot_uniform as glorot_uniform
from .initialisers import he_normal as he_normal
from .initialisers import he_uniform as he_uniform
from .initialisers import lecun_normal as lecun_normal
from .initialisers import lecun_uniform as lecun_uniform
from .initialisers import orthogonal as orthogonal
from .initialisers import variance_scaling as variance_scaling
from .layers import dense as dense
from .layers import dropout as dropout
from .layers import embedding as embedding
from .layers import glu as glu
from .layers import one_hot as one_hot
from .losses import binary_cross_entropy as binary_cross_entropy
from .losses import edit_distance as edit_distance
from .losses import huber as huber
from .losses import mean_squared_error as mean_squared_error
from .losses import triplet as triplet
from .normalisation import BatchNormResult as BatchNormResult
from .normalisation import Statistics as Statistics
from .normalisation import batch_norm as batch_norm
from .normalisation import group_norm as group_norm
from .normalisation import layer_norm as layer_norm
from .normalisation import rms_norm as rms_norm
from .positions import relative_shift as relative_shift
from .positions import rotary as rotary
from .positions import sinusoidal_positions as sinusoidal_positions
from .recurrent import GRUResult as GRUResult
from .recurrent import GRUState as GRUState
from .recurrent import LSTMResult as LSTMResult
from .recurrent import LSTMState as LSTMState
from .recurrent import gru as gru
from .recurrent import lstm as lstm
from .signal import istft as istft
from .signal import mel_filters as mel_filters
from .signal import stft as stft
from .windows import blackman as blackman
from .windows import hamming as hamming
from .windows import hann as hann
from .windows import kaiser as kaiser

__dir__ = _directory(__name__)
__getattr__ = _missing_names(__name__)
