"""Small models to try things on, as the examples in docstrings do."""

from __future__ import annotations

from skodyn.model.description import ModelBuilder
from skodyn.model.joints import Free, Revolute
from skodyn.model.model import Model

__all__ = ["four_bar", "pendulum", "satellite"]

_ROD = (1 / 12, 1 / 12, 0.0)  # of one kilogram and one metre along z, about its middle


def pendulum(links: int = 2) -> Model:
    """A chain of rods that hangs from the world and swings in the x-z plane.

    Each rod is 1 m long and has 1 kg; all revolute joints turn about the y axis, and at q = 0 the
    chain hangs straight down.

    Parameters
    ----------
    links : int
        How many rods, and so how many degrees of freedom.

    Returns
    -------
    Model
        With bodies and joints ``link1``, ``link2``, … from the world outward.

    Examples
    --------
    >>> model = sk.examples.pendulum(3)
    >>> model.nv, model.joint_names
    (3, ('link1', 'link2', 'link3'))
    """
    b = ModelBuilder(name=f"pendulum of {links}")
    parent, place = "world", (0.0, 0.0, 0.0)
    for k in range(1, links + 1):
        joint = Revolute(axis=(0, 1, 0))
        b.add_body(
            f"link{k}", parent, joint, translation=place, mass=1.0, com=(0, 0, -0.5), inertia=_ROD
        )
        parent, place = f"link{k}", (0.0, 0.0, -1.0)
    return b.build()


def satellite() -> Model:
    """A body that floats without gravity, and a panel on a revolute joint: 7 degrees of freedom.

    Returns
    -------
    Model
        With bodies ``bus`` on a free joint and ``panel`` on a revolute joint about x.

    Examples
    --------
    >>> model = sk.examples.satellite()
    >>> model.nq, model.nv    # a quaternion has one number more than an angular velocity
    (8, 7)
    """
    b = ModelBuilder(gravity=(0, 0, 0), name="satellite")
    b.add_body("bus", "world", Free(), mass=100.0, com=(0, 0, 0), inertia=(10.0, 12.0, 8.0))
    b.add_body(
        "panel", "bus", Revolute(axis=(1, 0, 0)), translation=(0, 0.5, 0), mass=4.0,
        com=(0, 1.0, 0), inertia=(1.4, 0.1, 1.5),
    )  # fmt: skip
    return b.build()


def four_bar() -> Model:
    """Crank, coupler and rocker between two pivots on the ground: a closed loop, mobility 1.

    Returns
    -------
    Model
        With joints ``crank``, ``coupler``, ``rocker`` about −y and the loop ``pin``.

    Examples
    --------
    >>> model = sk.examples.four_bar()
    >>> q = sk.assemble(model, [1.0, 0.0, 1.5], hold=["crank"]).q
    >>> bool(np.abs(sk.loop_error(model, q)).max() < 1e-14)
    True
    """
    b = ModelBuilder(name="four-bar linkage")
    joint = Revolute(axis=(0, -1, 0))
    bars = (
        ("crank", "world", 0.3, 0.0),
        ("coupler", "crank", 0.9, 0.3),
        ("rocker", "world", 0.7, 1.0),
    )
    for name, parent, length, x in bars:
        com, inertia = (length / 2, 0, 0), (0.02,) * 3
        b.add_body(
            name, parent, joint, translation=(x, 0, 0), mass=length, com=com, inertia=inertia
        )
    b.add_loop(
        "pin", "coupler", "rocker", joint, translation_a=(0.9, 0, 0), translation_b=(0.7, 0, 0)
    )
    return b.build()
