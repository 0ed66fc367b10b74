"""Axes with lengths: padded tensors with a length for each example, and functions whose results ignore the padding.

>>> import tensorbackend as tb
>>> x = tb.ragged.from_list([[1.0, 2.0, 6.0], [4.0]])
>>> tb.ragged.mean(x, axis="time").tolist()
[3.0, 4.0]
"""

from ..display import directory as _directory
from ..tensor.missing_names import missing_names as _missing_names
from .construction import from_list as from_list
from .construction import resize as resize
from .construction import sequence_mask as sequence_mask
from .construction import take as take
from .construction import to_list as to_list
from .construction import with_lengths as with_lengths
from .loops import TensorArray as TensorArray
from .loops import Unrolled as Unrolled
from .loops import scan as scan
from .loops import tensor_array as tensor_array
from .loops import unroll as unroll
from .moving import concat as concat
from .moving import flip as flip
from .moving import pad as pad
from .moving import shift as shift
from .moving import slice_along_axis as slice_along_axis
from .moving import split as split
from .normalisation import log_softmax as log_softmax
from .normalisation import normalize as normalize
from .normalisation import softmax as softmax
from .packing import merge_axes as merge_axes
from .packing import pack as pack
from .packing import unmerge_axis as unmerge_axis
from .packing import unpack as unpack
from .reduction import all as all
from .reduction import any as any
from .reduction import argmax as argmax
from .reduction import argmin as argmin
from .reduction import logsumexp as logsumexp
from .reduction import max as max
from .reduction import mean as mean
from .reduction import min as min
from .reduction import prod as prod
from .reduction import std as std
from .reduction import sum as sum
from .reduction import var as var
from .running import argsort as argsort
from .running import cumulative_max as cumulative_max
from .running import cumulative_min as cumulative_min
from .running import cumulative_prod as cumulative_prod
from .running import cumulative_sum as cumulative_sum
from .running import sort as sort
from .running import top_k as top_k
from .selection import put_selected as put_selected
from .selection import select as select
from .value import Ragged as Ragged
from .value import apply as apply
from .windows import conv as conv
from .windows import windows as windows

__dir__ = _directory(__name__)
__getattr__ = _missing_names(__name__)
