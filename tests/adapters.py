"""From the naive twin's bodies (tests/naive.py) to a skodyn Model, and between their numberings.

The twin numbers bodies, q and v in list order; a Model numbers them in packed order, base first.
Body k of the list becomes the body, and its joint, named `b{k}`.

And from a lane source, a function that takes a width tag first, to an entry point at one width.
"""

import numba
import numpy as np

import naive
import skodyn as sk
from skodyn.jit.compiling import learn_meanings
from skodyn.model.joints import CATALOGUE

GRAVITY = (0.3, -0.4, -9.81)  # no coordinate axis: a lost component shows


def joint_from(described):
    """The skodyn joint of a naive joint; both name the kind and its arguments alike."""
    arguments = {key: value for key, value in described.items() if key != "kind"}
    return CATALOGUE[described["kind"]](**arguments)


def builder(bodies, gravity=GRAVITY):
    """A ModelBuilder with all bodies added, in list order."""
    made = sk.ModelBuilder(gravity=gravity)
    for k, body in enumerate(bodies):
        made.add_body(
            f"b{k}",
            "world" if body["parent"] == -1 else f"b{body['parent']}",
            joint_from(body["joint"]),
            translation=body["translation"],
            rotation=body["rotation"],
            mass=body["mass"],
            com=body["com"],
            inertia=body["inertia"],
        )
    return made


def build(bodies, gravity=GRAVITY):
    """The Model of a naive system."""
    return builder(bodies, gravity).build()


def packed_order(model):
    """List index of each packed body: `list_rows[packed_order(model)]` are packed rows."""
    return np.array([int(name[1:]) for name in model.body_names])


def _from_list(slices, place, values):
    values = np.asarray(values)
    packed = np.empty_like(values)
    for k, s in enumerate(slices):
        packed[..., place(f"b{k}")] = values[..., s]
    return packed


def _to_list(slices, place, values):
    values = np.asarray(values)
    listed = np.empty_like(values)
    for k, s in enumerate(slices):
        listed[..., s] = values[..., place(f"b{k}")]
    return listed


def to_packed_q(model, bodies, q):
    """q in packed order, from list order; leading batch axes are kept."""
    return _from_list(naive.offsets(bodies)[0], model.q_slice, q)


def from_packed_q(model, bodies, q):
    """q in list order, from packed order; leading batch axes are kept."""
    return _to_list(naive.offsets(bodies)[0], model.q_slice, q)


def to_packed_v(model, bodies, v):
    """v, vdot or tau in packed order, from list order; leading batch axes are kept."""
    return _from_list(naive.offsets(bodies)[1], model.v_slice, v)


def from_packed_v(model, bodies, v):
    """v, vdot or tau in list order, from packed order; leading batch axes are kept."""
    return _to_list(naive.offsets(bodies)[1], model.v_slice, v)


def to_packed_matrix(model, bodies, matrix):
    """An nv×nv matrix in packed order, from list order."""
    rows = to_packed_v(model, bodies, matrix)
    return to_packed_v(model, bodies, rows.T).T


def from_packed_matrix(model, bodies, matrix):
    """An nv×nv matrix in list order, from packed order."""
    rows = from_packed_v(model, bodies, matrix)
    return from_packed_v(model, bodies, rows.T).T


def to_packed_bodies(model, rows):
    """Per-body rows, (n, ...), in packed order, from list order."""
    return np.asarray(rows)[packed_order(model)]


def from_packed_bodies(model, rows):
    """Per-body rows, (n, ...), in list order, from packed order."""
    rows = np.asarray(rows)
    listed = np.empty_like(rows)
    listed[packed_order(model)] = rows
    return listed


def at_width(source, w):
    """A compiled entry point that calls source(w, ...); tags cannot be passed in from Python."""

    learn_meanings()

    @numba.njit(error_model="numpy")  # a kernel, but not cached: it closes over `source`
    def entry(*arguments):
        return source(w, *arguments)

    return entry
