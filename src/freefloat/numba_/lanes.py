"""Four simulations in one register: a Numba number type that is a vector of doubles.

Kernels are written for one number at a time. Called with tables of `Lanes` in place of tables of
floats, the same source is compiled to vector instructions and runs LANES simulations side by side;
the shape of the mechanism, and so every branch, is common to all of them. `as_lanes` looks at a
float table whose last axis has LANES entries in this way, without copying.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, imputils, types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model
from numba.np import arrayobj

LANES = 4  # theory: doubles in a 256-bit register
VECTOR = ir.VectorType(ir.DoubleType(), LANES)


class LanesType(types.Type):
    """The Numba type of a number that has one value per simulation."""

    def __init__(self) -> None:
        super().__init__(name=f"Lanes({LANES})")


lanes_type = LanesType()


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """Held in a vector register."""

    def __init__(self, manager, numba_type) -> None:
        super().__init__(manager, numba_type, VECTOR)


def _splat(builder, value, kind):
    """A float or integer as a vector with the same entry in every lane."""
    if kind is lanes_type:
        return value
    if isinstance(kind, types.Integer):
        value = builder.sitofp(value, ir.DoubleType())
    whole = ir.Constant(VECTOR, ir.Undefined)
    for lane in range(LANES):
        whole = builder.insert_element(whole, value, ir.Constant(ir.IntType(32), lane))
    return whole


def _binary(operation, inplace, emit) -> None:
    """Teach Numba one operator between lanes, floats and integers."""
    others = (lanes_type, types.float64, types.int64)
    pairs = [(lanes_type, other) for other in others]
    pairs += [(other, lanes_type) for other in others[1:]]

    for function in (operation, inplace) if inplace else (operation,):

        @infer_global(function)  # type: ignore[misc]
        class _Typed(ConcreteTemplate):
            cases = [signature(lanes_type, a, b) for a, b in pairs]  # noqa: RUF012

        for a, b in pairs:

            def lower(context, builder, sig, args, emit=emit):
                x, y = (_splat(builder, v, k) for v, k in zip(args, sig.args, strict=True))
                return emit(builder, x, y)

            lower_builtin(function, a, b)(lower)


def _fast(method):
    # Fused multiply-add, as in the scalar kernels.
    return lambda builder, x, y: getattr(builder, method)(x, y, flags=("contract",))


_binary(operator.add, operator.iadd, _fast("fadd"))
_binary(operator.sub, operator.isub, _fast("fsub"))
_binary(operator.mul, operator.imul, _fast("fmul"))
_binary(operator.truediv, operator.itruediv, _fast("fdiv"))


def _choose(comparison):
    def emit(builder, x, y):
        return builder.select(builder.fcmp_ordered(comparison, x, y), x, y)

    return emit


_binary(min, None, _choose("<"))
_binary(max, None, _choose(">"))


@infer_global(operator.eq)  # type: ignore[misc]
class _Equal(ConcreteTemplate):
    """Equal in every lane."""

    cases = [signature(types.boolean, lanes_type, a) for a in (lanes_type, types.float64)]  # noqa: RUF012


@lower_builtin(operator.eq, lanes_type, lanes_type)
@lower_builtin(operator.eq, lanes_type, types.float64)
def _equal(context, builder, sig, args):
    x, y = (_splat(builder, v, k) for v, k in zip(args, sig.args, strict=True))
    bits = ir.IntType(LANES)
    same = builder.bitcast(builder.fcmp_ordered("==", x, y), bits)
    return builder.icmp_unsigned("==", same, bits(2**LANES - 1))


@infer_global(operator.neg)  # type: ignore[misc]
class _Negated(ConcreteTemplate):
    cases = [signature(lanes_type, lanes_type)]  # noqa: RUF012


@lower_builtin(operator.neg, lanes_type)
def _negate(context, builder, sig, args):
    return builder.fneg(args[0])


def _unary(function, name) -> None:
    """Teach Numba a function of lanes that LLVM knows by name."""

    @infer_global(function)  # type: ignore[misc]
    class _Typed(ConcreteTemplate):
        cases = [signature(lanes_type, lanes_type)]  # noqa: RUF012

    @lower_builtin(function, lanes_type)
    def lower(context, builder, sig, args):
        kind = ir.FunctionType(VECTOR, [VECTOR])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f64")
        return builder.call(function, args)


_unary(math.sqrt, "sqrt")
_unary(math.sin, "sin")
_unary(math.cos, "cos")


@infer_global(math.tanh)  # type: ignore[misc]
class _Tanh(ConcreteTemplate):
    cases = [signature(lanes_type, lanes_type)]  # noqa: RUF012


@lower_builtin(math.tanh, lanes_type)
def _tanh(context, builder, sig, args):
    one = signature(types.float64, types.float64)
    function = context.get_function(math.tanh, one)
    whole = args[0]
    for lane in range(LANES):
        place = ir.Constant(ir.IntType(32), lane)
        value = function(builder, [builder.extract_element(args[0], place)])
        whole = builder.insert_element(whole, value, place)
    return whole


@intrinsic
def as_lanes(typing_context, table):
    """A float table (..., LANES) seen as a table of lanes (...), sharing its memory."""
    is_floats = isinstance(table, types.Array) and table.dtype == types.float64
    if not (is_floats and table.layout == "C"):
        return None
    # Unaligned: NumPy promises 16 bytes, a register wants 32.
    result = types.Array(lanes_type, table.ndim - 1, "C", aligned=False)

    def code(context, builder, sig, args):
        source = arrayobj.make_array(table)(context, builder, args[0])
        target = arrayobj.make_array(result)(context, builder)
        arrayobj.populate_array(
            target,
            data=builder.bitcast(source.data, target.data.type),
            shape=cgutils.unpack_tuple(builder, source.shape)[: result.ndim],
            strides=cgutils.unpack_tuple(builder, source.strides)[: result.ndim],
            itemsize=context.get_constant(types.intp, 8 * LANES),
            meminfo=source.meminfo,
            parent=source.parent,
        )
        return imputils.impl_ret_borrowed(context, builder, result, target._getvalue())

    return signature(result, table), code


def _is_row(table) -> bool:
    is_floats = isinstance(table, types.Array) and table.dtype == types.float64
    return is_floats and table.ndim == 1 and table.layout == "C"


def _place(context, builder, kind, table, k):
    data = arrayobj.make_array(kind)(context, builder, table).data
    return builder.bitcast(builder.gep(data, [k]), VECTOR.as_pointer())


def _lanes_at(typing_context, row, k):
    """The LANES numbers of a float row from place k on; nobody checks that there are so many.

    Numba cannot know that two rows do not overlap, and so works on one number at a time where they
    are written in turn. This says which numbers go together.
    """
    if not _is_row(row):
        return None

    def code(context, builder, sig, args):
        return builder.load(_place(context, builder, row, *args), align=8)

    return signature(lanes_type, row, types.int64), code


lanes_at: Any = intrinsic(_lanes_at)


def _put_lanes_at(typing_context, row, k, value):
    """Write LANES numbers of a float row from place k on."""
    if not (_is_row(row) and value is lanes_type):
        return None

    def code(context, builder, sig, args):
        builder.store(args[2], _place(context, builder, row, *args[:2]), align=8)
        return context.get_dummy_value()

    return signature(types.void, row, types.int64, lanes_type), code


put_lanes_at: Any = intrinsic(_put_lanes_at)
