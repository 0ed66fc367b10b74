"""Sparse matrices on any backend: COO, CSR, CSC and batches of them, as trees of ordinary tensors."""

from ..display import directory as _directory
from ..tensor.missing_names import missing_names as _missing_names
from .algebra import add as add
from .algebra import divide as divide
from .algebra import multiply as multiply
from .algebra import subtract as subtract
from .construction import coo as coo
from .construction import csc as csc
from .construction import csr as csr
from .construction import diagonals as diagonals
from .construction import eye as eye
from .construction import identity as identity
from .conversion import astype as astype
from .conversion import sum_duplicates as sum_duplicates
from .conversion import to_coo as to_coo
from .conversion import to_csc as to_csc
from .conversion import to_csr as to_csr
from .conversion import to_dense as to_dense
from .interchange import from_dense as from_dense
from .interchange import from_function as from_function
from .interchange import from_scipy as from_scipy
from .interchange import to_scipy as to_scipy
from .matrix import COO as COO
from .matrix import CSC as CSC
from .matrix import CSR as CSR
from .matrix import SparseMatrix as SparseMatrix
from .products import matmul as matmul
from .products import matvec as matvec
from .reductions import diagonal as diagonal
from .reductions import max as max
from .reductions import min as min
from .reductions import sum as sum
from .selection import block_diagonal as block_diagonal
from .selection import concatenate as concatenate
from .selection import select as select
from .triangular import ILU as ILU
from .triangular import ilu0 as ilu0
from .triangular import triangular_solve as triangular_solve

__dir__ = _directory(__name__)
__getattr__ = _missing_names(__name__)
