"""What the bodies and joints of a MuJoCo model are called, those without a name included.

A joint without a name goes by the name of its body, or by that and its number if the body has
several. Neither function needs the mujoco package: the model object says all.
"""

from __future__ import annotations

from typing import Any

from skodyn.io.robots.names import unique

__all__ = ["body_names", "joint_names"]


def body_names(mj_model: Any) -> list[str]:
    """The name of every body, the world first."""
    given = [mj_model.body(k).name for k in range(mj_model.nbody)]
    taken = set(given)
    return [name or unique(f"body_{k}", taken) for k, name in enumerate(given)]


def joint_names(mj_model: Any) -> list[str]:
    """The name of every joint."""
    bodies = body_names(mj_model)
    given = [mj_model.joint(j).name for j in range(mj_model.njnt)]
    taken = set(given)
    names = []
    for j, name in enumerate(given):
        body = int(mj_model.jnt_bodyid[j])
        number = j - int(mj_model.body_jntadr[body])
        alone = int(mj_model.body_jntnum[body]) == 1
        names.append(name or unique(bodies[body] if alone else f"{bodies[body]}/{number}", taken))
    return names
