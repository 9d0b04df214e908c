"""What `dynamics` means to numba: a type of its own, with the methods of control_methods.py.

Imported when a controller is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import (
    intrinsic,
    make_attribute_wrapper,
    models,
    overload_attribute,
    overload_method,
    register_model,
)

from skodyn.jit.compiling import learn_meanings, numba_type
from skodyn.jit.entry import SlotReader
from skodyn.model.layout import NQ, NV
from skodyn.simulation.control.control_methods import METHODS
from skodyn.simulation.control.control_records import DYNAMICS, LAW, Dynamics

__all__ = ["DYNAMICS_TYPE", "as_dynamics", "read_law", "read_only"]

learn_meanings()


class DynamicsType(types.Type):
    """The type of `dynamics` in a compiled controller."""

    def __init__(self) -> None:
        super().__init__(name="dynamics")


DYNAMICS_TYPE = DynamicsType()
_MEMBERS = list(zip(Dynamics._fields, (numba_type(kind) for kind in DYNAMICS.members), strict=True))


@register_model(DynamicsType)
class _Model(models.StructModel):
    def __init__(self, manager: Any, typ: Any) -> None:
        super().__init__(manager, typ, _MEMBERS)


for _name in Dynamics._fields:
    make_attribute_wrapper(DynamicsType, _name, _name)


# numba wants both signatures alike, annotations included
overload_attribute(DynamicsType, "nq")(lambda self: lambda self: self.tree[NQ])
overload_attribute(DynamicsType, "nv")(lambda self: lambda self: self.tree[NV])


def _learn(name: str, method: Callable[..., Any]) -> None:
    """Let numba see a method; arrays that are not contiguous are told by its name."""

    def checked(*given: Any) -> Callable[..., Any]:
        for one in given:
            if isinstance(one, types.Array) and (one.layout != "C" or one.dtype != types.float64):
                raise TypingError(
                    f"dynamics.{name} takes contiguous arrays of float64, not {one}; copy what it "
                    "is given into scratch"
                )
        return method

    by_count: dict[int, Any] = {
        3: lambda self, a, b: checked(a, b),
        4: lambda self, a, b, c: checked(a, b, c),
        5: lambda self, a, b, c, d: checked(a, b, c, d),
    }
    overload_method(DynamicsType, name, strict=False)(by_count[method.__code__.co_argcount])


for _name, _method in METHODS.items():
    _learn(_name, _method)


@intrinsic
def as_dynamics(typingctx: Any, given: Any) -> Any:
    """A Dynamics with the methods of its type."""

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        made = cgutils.create_struct_proxy(DYNAMICS_TYPE)(context, builder)
        for i, name in enumerate(Dynamics._fields):
            setattr(made, name, builder.extract_value(args[0], i))
        return made._getvalue()

    return DYNAMICS_TYPE(given), write


@intrinsic
def read_law(typingctx: Any, slots: Any) -> Any:
    """The Law that a kernel has called with."""
    law = numba_type(LAW)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return SlotReader(context, builder, args[0]).argument(law)

    return law(slots), write


@intrinsic
def read_only(typingctx: Any, array: Any) -> Any:
    """The same array, which cannot be written to."""

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return args[0]

    return array.copy(readonly=True)(array), write
