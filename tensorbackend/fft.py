"""Discrete Fourier transforms: the `fft` extension of the Array API standard.

>>> import tensorbackend as tb
>>> tb.fft.rfft(tb.asarray([1.0, 2.0])).tolist()
[(3+0j), (-1+0j)]
"""

from .ops.fourier import fft as fft
from .ops.fourier import fftfreq as fftfreq
from .ops.fourier import fftn as fftn
from .ops.fourier import hfft as hfft
from .ops.fourier import ifft as ifft
from .ops.fourier import ifftn as ifftn
from .ops.fourier import ihfft as ihfft
from .ops.fourier import irfft as irfft
from .ops.fourier import irfftn as irfftn
from .ops.fourier import rfft as rfft
from .ops.fourier import rfftfreq as rfftfreq
from .ops.fourier import rfftn as rfftn
