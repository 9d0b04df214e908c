"""<equality> of MJCF made by chance, and MuJoCo's word on how far such constraints are open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np
import robot_files as files

import skodyn as sk
from skodyn.model.loops.closing import DOT
from skodyn.model.loops.loop_description import Loop, closing_rows
from skodyn.model.loops.loop_geometry import constraint_rows

if TYPE_CHECKING:
    from mjcf_files import Maker

REFUSED = [
    '<tendon tendon1="t" polycoef="0 1"/>', '<flex flex="f"/>',
    '<distance geom1="a" geom2="b" distance="1"/>',
]  # fmt: skip


# ---- made ---------------------------------------------------------------------------------------


def equalities(maker: Maker) -> str:
    """Up to three of the kinds that skodyn reads, and now and then one that it refuses."""
    rng = maker.rng
    kinds = [_connect, _weld, _weld, _joint, _joint]
    lines = [rng.choice(kinds)(maker) for _ in range(rng.choice((1, 1, 2, 3)))]
    lines += [rng.choice(REFUSED)] if rng.random() < 0.03 else []
    return "\n".join(["<equality>", *filter(None, lines), "</equality>"])


def _common(maker: Maker) -> str:
    rng = maker.rng
    text = maker.given(0.5, "name", maker.called("e"))
    text += maker.given(0.1, "active", rng.choice(("true", "false")))
    text += maker.given(0.1, "solref", "0.02 1") + maker.given(0.1, "solimp", "0.9 0.95 0.001")
    return text + maker.of_class(0.05)


def _ends(maker: Maker, chance_of_sites: float) -> tuple[str, bool]:
    """(Two bodies, or one and the ground, or two sites; are they sites?)"""
    rng = maker.rng
    if len(maker.sites) > 1 and rng.random() < chance_of_sites:
        one, two = rng.sample(maker.sites, 2)
        return f' site1="{one}" site2="{two}"', True
    one, two = rng.sample([*maker.bodies, "world"], 2)
    second = "" if two == "world" and rng.random() < 0.5 else f' body2="{two}"'
    return f' body1="{one}"{second}', False


def _connect(maker: Maker) -> str:
    ends, of_sites = _ends(maker, 0.4)
    anchor = "" if of_sites else f' anchor="{maker.numbers(3)}"'
    return f"<connect{ends}{anchor}{_common(maker)}/>"


def _weld(maker: Maker) -> str:
    ends, of_sites = _ends(maker, 0.3)
    place = "" if of_sites else maker.given(0.5, "relpose", maker.numbers(7))
    place += "" if of_sites else maker.given(0.5, "anchor", maker.numbers(3))
    scale = maker.given(0.3, "torquescale", maker.rng.choice(("0", "1", "0.5", "3")))
    return f"<weld{ends}{place}{scale}{_common(maker)}/>"


def _joint(maker: Maker) -> str:
    rng = maker.rng
    if not maker.scalars:
        return ""
    one, two = rng.choice(maker.scalars), rng.choice(maker.scalars)
    if rng.random() < 0.05:
        one = rng.choice(maker.joints)
    source = "" if one == two and rng.random() < 0.9 else maker.given(0.8, "joint2", two)
    numbers = [maker.number() if rng.random() < 0.7 else "0" for _ in range(rng.randrange(1, 6))]
    return f'<joint joint1="{one}"{source} polycoef="{" ".join(numbers)}"{_common(maker)}/>'


# ---- judged -------------------------------------------------------------------------------------


def compare_loops(model: sk.Model, peer: mujoco.MjModel, chance: np.random.Generator) -> None:
    """Points, axes of welds and couplings are as far apart as MuJoCo finds them, and part alike."""
    data = mujoco.MjData(peer)
    q, v = model.random_state(chance)
    data.qpos[:], _ = sk.interop.to_mujoco_state(model, peer, q, v)
    mujoco.mj_forward(peer, data)
    numbers = {peer.equality(e).name or f"equality_{e}": e for e in range(peer.neq)}
    lengths = peer.eq_data, peer.body_pos, peer.site_pos, data.xpos
    size = 1.0 + sum(float(np.abs(x).max(initial=0)) for x in lengths)
    slopes = _jacobian(peer, data)
    for name, rows in zip(model.loop_names, constraint_rows(model, q), strict=True):
        mine = (data.efc_type[: data.nefc] == 0) & (data.efc_id[: data.nefc] == numbers[name])
        loop = model.loops.get(name)
        sign, count = (-1.0, 3) if loop else (1.0, 1)
        if not mine.any():  # MuJoCo leaves out what no joint can move
            assert np.abs(rows.G[:count]).max() < 1e-12 * size
            continue
        theirs = sign * data.efc_pos[mine]
        reach = size + np.abs(theirs).max(initial=0.0)
        files.close(rows.g[:count], theirs[:count], 1e-12 * reach, f"error of {name}")
        ours = np.zeros((count, model.nv))
        ours[:, rows.dofs] = rows.G[:count]
        turned = sk.interop.to_mujoco_force(model, peer, np.tile(q, (count, 1)), ours)
        cycle = np.zeros(model.nv)
        cycle[rows.dofs] = 1.0  # MuJoCo also turns what is open with whatever carries the cycle
        carried = sk.interop.to_mujoco_force(model, peer, q, cycle) != 0.0
        apart = np.where(carried, sign * slopes[mine][:count], 0.0)
        reach = reach + np.abs(apart).max(initial=0.0)
        files.close(turned, apart, 1e-11 * reach, f"slopes of {name}")
        if loop is not None and len(rows.g) > count:
            e = data.efc_pos[mine][3:6] / peer.eq_data[numbers[name], 10]
            _compare_turn(loop, rows.g[count:], e)


def _jacobian(peer: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    dense = np.zeros((data.nefc, peer.nv))
    if not mujoco.mj_isSparse(peer):
        return data.efc_J.reshape(-1)[: dense.size].reshape(dense.shape).copy()
    for row, (start, count) in enumerate(zip(data.efc_J_rowadr, data.efc_J_rownnz, strict=True)):
        here = slice(int(start), int(start + count))
        dense[row, data.efc_J_colind[here]] = data.efc_J.reshape(-1)[here]
    return dense


def _compare_turn(loop: Loop, g: np.ndarray, e: np.ndarray) -> None:
    """Products of axes, from the quaternion (±w, e) that turns axes of B into those of A."""
    rows = [r for r in closing_rows(loop.joint, np.eye(3), np.eye(3)) if r.kind == DOT]
    w = np.sqrt(max(0.0, 1.0 - float(e @ e)))
    turns = [np.zeros(9), np.zeros(9)]
    for turn, first in zip(turns, (w, -w), strict=True):
        mujoco.mju_quat2Mat(turn, np.array([first, *e]))
    found = [np.array([r.w @ t.reshape(3, 3) @ r.u - r.c for r in rows]) for t in turns]
    off = min(float(np.abs(g - one).max()) for one in found)
    assert off <= 1e-7, f"axes of {loop.name} differ by {off:g}"  # √ of rounding where w is near 0
