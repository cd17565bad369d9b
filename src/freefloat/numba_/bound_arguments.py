"""Arrays that a kernel gets once: later calls cost the same however many there are.

At every call Numba looks at the type of each array and takes it apart, which is a tenth of a
microsecond an array. A kernel that is called for every sample gets a `Bound` instead, which is an
address: its arguments, taken apart once.

    bound = bind(problem, memory)       # in Python, once
    problem, memory = unpack(bound)     # first line of the kernel
    step = compile_call(kernel, bound, 0.0) # later, step(t) is kernel(bound, t)
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core.datamodel import models
from numba.extending import NativeValue, intrinsic, register_model, unbox

from freefloat.numba_.compilation import kernel


class BoundType(types.Type):
    """The Numba type of a Bound: knows the types of what it holds."""

    def __init__(self, content: Any) -> None:
        self.content = content
        # a digest: the names of a hundred array types would be part of every symbol
        digest = hashlib.sha256(str(content).encode()).hexdigest()[:16]
        super().__init__(name=f"Bound({digest})")


class Bound:
    """Arguments of a kernel, taken apart; it keeps them alive."""

    __slots__ = ("_held", "_numba_type_", "address")

    def __init__(self, held: tuple[Any, ...], kind: BoundType, table: np.ndarray) -> None:
        self._held = (held, table)
        self._numba_type_ = kind  # where Numba's quick dispatch looks for a type
        self.address = table.ctypes.data

    def __index__(self) -> int:
        """The address, for kernels."""
        return self.address


def bind(*arguments: Any) -> Bound:
    """Take arguments apart; scalars are those of now, arrays are shared with the kernel."""
    table = np.zeros(_size_of(arguments), dtype=np.uint8)
    _put(table.ctypes.data, arguments)
    return Bound(arguments, _type_of(arguments), table)


def _type_of(arguments: tuple[Any, ...]) -> BoundType:
    """The type of bound arguments; Numba takes milliseconds over a hundred arrays in tuples."""
    like = _layout(arguments)
    if like not in _TYPES:
        _TYPES[like] = BoundType(typeof(arguments))
    return _TYPES[like]


_TYPES: dict[Any, BoundType] = {}
# format: NumPy's bits of what makes types of arrays: contiguous (C, Fortran), aligned, writeable
_LAYOUT_BITS = 0x001 | 0x002 | 0x100 | 0x400


def _layout(value: Any) -> Any:
    """What Numba tells types apart by."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num & _LAYOUT_BITS
    kind = type(value)
    return (kind, *map(_layout, value)) if isinstance(value, tuple) else kind


def compile_call(kernel: Any, bound: Bound, *like: Any) -> Callable[..., Any]:
    """The kernel with its bound arguments, for others of these types; nobody looks at types again.

    Numba's own call takes half a microsecond more, most of it to find the type of a Bound.
    """
    entry = kernel.compile(tuple(typeof(a) for a in (bound, *like)))
    return partial(entry, bound)


@register_model(BoundType)
class _BoundModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: BoundType) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@unbox(BoundType)
def _unbox(_kind: BoundType, value: Any, c: Any) -> NativeValue:
    return NativeValue(c.pyapi.long_as_longlong(value))  # by __index__


def _abi_size_code(_context: Any, content: Any) -> Any:
    def code(context: Any, _builder: Any, _signature: Any, args: Any) -> Any:
        return ir.Constant(ir.IntType(64), context.get_abi_sizeof(args[0].type))

    return types.int64(content), code


_abi_size: Any = intrinsic(_abi_size_code)


def _store_code(_context: Any, address: Any, content: Any) -> Any:
    def code(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], args[1].type.as_pointer()))
        return context.get_dummy_value()

    return types.void(address, content), code


_store: Any = intrinsic(_store_code)


def _unpack_code(_context: Any, bound: Any) -> Any:
    """The tuple of arguments that a Bound holds; only inside kernels."""

    def code(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        kind = context.get_value_type(bound.content)
        return _load_parts(builder, kind, builder.inttoptr(args[0], kind.as_pointer()))

    return bound.content(bound), code


unpack: Any = intrinsic(_unpack_code)


def _load_parts(builder: Any, kind: Any, place: Any) -> Any:
    """The value at `place`, part by part: LLVM drops parts that nobody uses, not whole structs."""
    if not isinstance(kind, ir.LiteralStructType | ir.ArrayType):
        return builder.load(place)
    value = ir.Constant(kind, ir.Undefined)
    parts = kind.elements if isinstance(kind, ir.LiteralStructType) else [kind.element] * kind.count
    zero = ir.Constant(ir.IntType(32), 0)
    for k, part in enumerate(parts):
        inside = builder.gep(place, [zero, ir.Constant(ir.IntType(32), k)], inbounds=True)
        value = builder.insert_value(value, _load_parts(builder, part, inside), k)
    return value


@kernel
def _size_of(content):
    return _abi_size(content)


@kernel
def _put(address, content):
    _store(address, content)
