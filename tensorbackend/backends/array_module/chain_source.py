"""The source of a chain of elementwise ops: a line for each op, in which values lend their memory to later ones.

def chain(x0, x1, shape, out, scratch):
    s0, = scratch
    out = f0(x0, x1, out=out)
    s0 = f1(x1, out=s0)
    out = f2(out, s0, out=out)
    return out
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from ...dispatch import implementation
from ...dtypes import DType
from ...expr.evaluate import compute_node
from ...expr.node import Node, Value
from ...protocol.planned import is_planned, kernel_of
from ...template import Shape, intern_template
from ...tensor import Tensor
from .base import Array, ArrayBase


class ChainSource:
    """Lines that compute a chain from its inputs.

    The memory of the inputs in `lent` may be written to after their last use. With `in_blocks`, the memory of the
    result is an argument, that of one of these inputs if one has its dtype; so is the memory of all values that need
    more, as far as the module's functions write there.
    """

    def __init__(
        self, nodes: Sequence[Node], inputs: Sequence[Value], numbers: Sequence[Value], backend: ArrayBase,
        lent: Sequence[Value] = (), *, in_blocks: bool = False,
    ) -> None:  # fmt: skip
        (result,) = nodes[-1].outs
        self.target: Final = next((value for value in lent if value.template.dtype is result.dtype), None)
        """The input whose memory the result takes, where the chain runs in blocks."""
        self.scratch: Final[list[DType]] = []
        """The dtypes of the blocks that the function takes, for values of the chain."""
        self._backend, self._in_blocks, self._lends = backend, in_blocks, backend.fuse is None
        self._functions: dict[str, Any] = {}
        self._names = {value: f"x{number}" for number, value in enumerate(inputs)}
        for number, value in enumerate(numbers):
            self._names[value] = f"c{number}"
            constant = cast(Tensor, compute_node(value.node, backend, ()))
            whole = self._lends
            self._functions[f"c{number}"] = constant.data if whole else backend.to_numpy(constant, None, None)[()]
        self._memory = {self._names[value]: value.template.dtype for value in lent}
        """The dtype of each variable to whose memory the chain may write."""
        self._spare: dict[DType, list[str]] = {}
        """By dtype, those variables that no later line needs."""
        if in_blocks and self.target is None:
            self._memory["out"] = result.dtype
            self._spare[result.dtype] = ["out"]
        calls = [function_of_node(node, backend) for node in nodes]
        # A function that is not plain may return its operand's memory, which must then not be written to.
        self._shared = {
            value for node, (_, plain) in zip(nodes, calls, strict=True) if not plain for value in node.operands
        }
        self._last = {value: node for node in nodes for value in node.operands}
        self._plain = {node for node, (_, plain) in zip(nodes, calls, strict=True) if plain}
        self._arguments = [self._names[value] for value in inputs]
        self._lines: list[str] = []
        for number, (node, (function, _)) in enumerate(zip(nodes, calls, strict=True)):
            self._functions[f"f{number}"] = function
            self._write(node, number, nodes)

    def function(self, shape: Shape) -> Callable[..., Array]:
        """The function of arrays; where the chain runs in blocks, also of a block's shape and of memory."""
        head = f"def chain({', '.join([*self._arguments, 'shape=None', 'out=None', 'scratch=()'])}):"
        given = (
            [f"    {', '.join(f's{number}' for number in range(len(self.scratch)))}, = scratch"] if self.scratch else []
        )
        exec("\n".join([head, *given, *self._lines, "    return out"]), self._functions)  # made of numbered names alone
        chain: Any = self._functions["chain"]
        chain.__defaults__ = shape, None, ()
        if self._backend.fuse is None:
            return cast("Callable[..., Array]", chain)

        def fused_chain(*arrays: Array) -> Array:  # CuPy names the kernel after it
            return chain(*arrays, None)

        return self._backend.fuse(fused_chain)

    def _write(self, node: Node, number: int, nodes: Sequence[Node]) -> None:
        operands = [self._names[value] for value in node.operands]
        dead = []
        for value in dict.fromkeys(node.operands):
            name = self._names[value]
            if self._last[value] is not node:
                continue
            if name in self._memory and value not in self._shared:
                self._spare.setdefault(self._memory[name], []).append(name)
            elif name[0] == "t":
                dead.append(name)
        plain, dtype = node in self._plain, node.outs[0].dtype
        memory = self._memory_for(node, dtype, last=node is nodes[-1]) if plain else ""
        target = "out" if node is nodes[-1] else memory or f"t{number}"
        self._names[Value(node)] = target
        if plain:
            self._memory[target] = dtype
            self._lines.append(
                f"    {target} = f{number}({', '.join([*operands, *([f'out={memory}'] if memory else [])])})"
            )
        else:
            self._lines.append(f"    {target} = f{number}(shape, {', '.join(operands)})")
        wanted = {later.outs[0].dtype for later in nodes[number + 1 :] if later in self._plain}
        for kind in self._spare.keys() - wanted:
            dead += [name for name in self._spare.pop(kind) if name[0] == "t" and name != target]
        if dead and node is not nodes[-1]:
            self._lines.append(f"    del {', '.join(dead)}")

    def _memory_for(self, node: Node, dtype: DType, *, last: bool) -> str:
        """The variable to whose memory a plain function writes; empty if it allocates some."""
        # For a single element NumPy takes twice as long to write the result to an operand.
        if not self._lends or (node.outs[0].size == 1 and not self._in_blocks):
            return ""
        if last and self._in_blocks:
            return "out"
        if self._spare.get(dtype):
            return self._spare[dtype].pop()
        if not self._in_blocks:
            return ""
        self.scratch.append(dtype)
        return f"s{len(self.scratch) - 1}"


def function_of_node(node: Node, backend: ArrayBase) -> tuple[Callable[..., Array], bool]:
    """The function that computes a node from arrays, and whether it is a plain function of the module, which takes
    `out`."""
    (template,) = node.outs
    callback = implementation(backend, node.op, template, [value.template for value in node.operands])
    if is_planned(callback):
        templates = [value.template for value in node.operands]
        kernel = kernel_of(callback, template, *templates, **node.options)
        if isinstance(kernel, backend.xp.ufunc):
            return kernel, True
        if backend.fuse is None:  # a fused function must be made of elementwise functions alone
            return lambda shape, *arrays: kernel(*arrays), False
    dtypes = [value.template.dtype for value in node.operands]

    def call(shape: tuple[int, ...], *arrays: Array) -> Array:
        tensors = (
            Tensor(intern_template(array.shape, dtype, (None,) * array.ndim), backend, array)
            for array, dtype in zip(arrays, dtypes, strict=True)
        )
        return callback(intern_template(shape, template.dtype, (None,) * len(shape)), *tensors, **node.options)

    return call, False
