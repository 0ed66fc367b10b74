"""Linear algebra: the Array API's extension `linalg`, and more. The last two axes are the matrix."""

from .ops.composite.contraction import matmul as matmul
from .ops.composite.contraction import outer as outer
from .ops.composite.contraction import tensordot as tensordot
from .ops.composite.contraction import vecdot as vecdot
from .ops.composite.linalg.matrices import adjoint as adjoint
from .ops.composite.linalg.matrices import apply_matrix as apply_matrix
from .ops.composite.linalg.matrices import cross as cross
from .ops.composite.linalg.matrices import diagonal as diagonal
from .ops.composite.linalg.matrices import trace as trace
from .ops.composite.linalg.matrix_functions import expm as expm
from .ops.composite.linalg.matrix_functions import sqrtm as sqrtm
from .ops.composite.linalg.norms import matrix_norm as matrix_norm
from .ops.composite.linalg.norms import norm as norm
from .ops.composite.linalg.norms import vector_norm as vector_norm
from .ops.composite.linalg.sparse import sparse_matmul as sparse_matmul
from .ops.composite.linalg.sparse import sparse_matvec as sparse_matvec
from .ops.composite.linalg.systems import LstsqResult as LstsqResult
from .ops.composite.linalg.systems import SlogdetResult as SlogdetResult
from .ops.composite.linalg.systems import det as det
from .ops.composite.linalg.systems import eigvals as eigvals
from .ops.composite.linalg.systems import eigvalsh as eigvalsh
from .ops.composite.linalg.systems import inv as inv
from .ops.composite.linalg.systems import lstsq as lstsq
from .ops.composite.linalg.systems import matrix_power as matrix_power
from .ops.composite.linalg.systems import matrix_rank as matrix_rank
from .ops.composite.linalg.systems import pinv as pinv
from .ops.composite.linalg.systems import slogdet as slogdet
from .ops.composite.linalg.systems import solve as solve
from .ops.composite.linalg.systems import svdvals as svdvals
from .ops.linalg import EighResult as EighResult
from .ops.linalg import EigResult as EigResult
from .ops.linalg import LUResult as LUResult
from .ops.linalg import QRResult as QRResult
from .ops.linalg import SVDResult as SVDResult
from .ops.linalg import cholesky as cholesky
from .ops.linalg import cholesky_solve as cholesky_solve
from .ops.linalg import eig as eig
from .ops.linalg import eigh as eigh
from .ops.linalg import lu as lu
from .ops.linalg import qr as qr
from .ops.linalg import svd as svd
from .ops.linalg import triangular_solve as triangular_solve
from .ops.shape import matrix_transpose as matrix_transpose
from .tensor.missing_names import missing_names as _missing_names

__getattr__ = _missing_names(__name__)
