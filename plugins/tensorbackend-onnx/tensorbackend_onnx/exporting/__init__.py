"""Functions of tensors as ONNX models: a graph is traced, and each of its ops is written as operators."""

from .exporter import export as export
from .exporter import export_graph as export_graph
