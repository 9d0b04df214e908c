"""The mechanisms that are measured, and the same mechanisms for Pinocchio, MuJoCo and Drake.

Every mechanism is made as a skodyn Model; `pinocchio_model`, `mujoco_model` and `drake_model` copy
any Model whose joints the other library has. Joints are added in the Model's packed order, which is
depth first: Pinocchio's crba and computeMinverse rely on that order.
"""

import numpy as np

import skodyn as sk

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


# ---- mechanisms -------------------------------------------------------------------------------


def chain(n):
    """n equal links in a row, 0.2 m long, hinged about y, x, y, x, …"""
    builder = sk.ModelBuilder(name=f"chain {n}")
    parent = "world"
    for k in range(n):
        builder.add_body(
            f"link{k}",
            parent,
            sk.Revolute(axis=(Y, X)[k % 2]),
            translation=(0.0, 0.0, -0.2 if k else 0.0),
            mass=0.5,
            com=(0.01, -0.02, -0.1),
            inertia=(0.0018, 0.0019, 0.0003),
        )
        parent = f"link{k}"
    return builder.build()


def arm():
    """Seven hinges on a pedestal, about as large as a man's reach."""
    #         axis, translation in the parent, mass, centre of mass, principal moments
    links = [
        (Z, (0.0, 0.0, 0.34), 4.1, (0.0, -0.03, 0.12), (0.052, 0.046, 0.013)),
        (Y, (0.0, 0.0, 0.0), 3.9, (0.0, 0.06, 0.04), (0.049, 0.018, 0.044)),
        (Z, (0.0, 0.0, 0.21), 3.0, (0.0, 0.03, 0.13), (0.033, 0.029, 0.011)),
        ((0.0, -1.0, 0.0), (0.0, 0.0, 0.19), 2.7, (0.0, 0.07, 0.03), (0.024, 0.009, 0.022)),
        (Z, (0.0, 0.0, 0.21), 1.7, (0.0, 0.02, 0.08), (0.012, 0.01, 0.005)),
        (Y, (0.0, 0.0, 0.19), 1.8, (0.0, 0.0, 0.02), (0.006, 0.0055, 0.0045)),
        (Z, (0.0, 0.0, 0.08), 0.4, (0.0, 0.0, 0.02), (0.0009, 0.0009, 0.0006)),
    ]
    builder = sk.ModelBuilder(name="arm 7")
    parent = "world"
    for k, (axis, translation, mass, com, inertia) in enumerate(links):
        builder.add_body(
            f"link{k}",
            parent,
            sk.Revolute(axis=axis),
            translation=translation,
            mass=mass,
            com=com,
            inertia=inertia,
        )
        parent = f"link{k}"
    return builder.build()


def humanoid():
    """A floating pelvis and 32 hinges: waist 3, neck 3, arms 2 × 7, legs 2 × 6; 38 dof, 64 kg."""
    builder = sk.ModelBuilder(name="humanoid")
    builder.add_body(
        "pelvis", "world", sk.Free(), mass=8.5, com=(0.0, 0.0, 0.03), inertia=(0.06, 0.05, 0.07)
    )
    _limb(builder, "waist", "pelvis", (0.0, 0.0, 0.11), [Z, Y, X], [
        (1.2, (0.0, 0.0, 0.02), (0.0, 0.0, 0.04)),
        (1.2, (0.0, 0.0, 0.02), (0.0, 0.0, 0.04)),
        (16.0, (0.01, 0.0, 0.19), (0.0, 0.0, 0.0)),
    ])  # fmt: skip
    _limb(builder, "neck", "waist2", (0.0, 0.0, 0.42), [Z, Y, X], [
        (0.3, (0.0, 0.0, 0.02), (0.0, 0.0, 0.04)),
        (0.3, (0.0, 0.0, 0.02), (0.0, 0.0, 0.04)),
        (3.6, (0.02, 0.0, 0.09), (0.0, 0.0, 0.0)),
    ])  # fmt: skip
    for side, sign in (("left", 1.0), ("right", -1.0)):
        _limb(builder, f"{side}_arm", "waist2", (0.0, 0.2 * sign, 0.35), [Y, X, Z, Y, Z, Y, X], [
            (0.6, (0.0, 0.02 * sign, 0.0), (0.0, 0.03 * sign, 0.0)),
            (0.6, (0.0, 0.01 * sign, -0.03), (0.0, 0.0, -0.06)),
            (1.3, (0.0, 0.0, -0.1), (0.0, 0.0, -0.22)),
            (0.5, (0.0, 0.0, -0.03), (0.0, 0.0, -0.06)),
            (0.8, (0.0, 0.0, -0.09), (0.0, 0.0, -0.2)),
            (0.2, (0.0, 0.0, -0.01), (0.0, 0.0, -0.02)),
            (0.4, (0.01, 0.0, -0.07), (0.0, 0.0, 0.0)),
        ])  # fmt: skip
        _limb(builder, f"{side}_leg", "pelvis", (0.0, 0.09 * sign, -0.05), [Z, X, Y, Y, Y, X], [
            (0.9, (0.0, 0.0, -0.02), (0.0, 0.0, -0.04)),
            (0.9, (0.0, 0.0, -0.02), (0.0, 0.0, -0.03)),
            (6.0, (0.0, 0.01 * sign, -0.17), (0.0, 0.0, -0.39)),
            (3.0, (0.0, 0.0, -0.17), (0.0, 0.0, -0.39)),
            (0.3, (0.0, 0.0, -0.01), (0.0, 0.0, -0.03)),
            (1.0, (0.04, 0.0, -0.04), (0.0, 0.0, 0.0)),
        ])  # fmt: skip
    return builder.build()


def _limb(builder, name, parent, translation, axes, links):
    """Hinged links one after the other: mass, centre of mass, where the next hinge is."""
    for k, (axis, (mass, com, following)) in enumerate(zip(axes, links, strict=True)):
        size = 0.04 + 0.6 * float(np.linalg.norm(com))  # radius of gyration across the link
        builder.add_body(
            f"{name}{k}",
            parent,
            sk.Revolute(axis=axis),
            translation=translation,
            mass=mass,
            com=com,
            inertia=(mass * size**2, mass * size**2, 0.6 * mass * size**2),
        )
        parent, translation = f"{name}{k}", following


MIXED = ("revolute", "prismatic", "helical", "cylindrical", "universal", "planar", "spherical")
SHARED = ("revolute", "prismatic", "spherical")
"""Joint types that skodyn, Pinocchio and MuJoCo all have below a base."""


def random_tree(n=200, kinds=MIXED, seed=7):
    """n bodies, each hanging from one of the ten before it, by joints of the given types."""
    rng = np.random.default_rng(seed)
    builder = sk.ModelBuilder(name=f"tree {n}, {'mixed' if kinds == MIXED else 'shared'} joints")
    for k in range(n):
        place = rng.normal(size=4)
        moments = rng.uniform(0.6, 1.0, size=3)  # any two exceed the third
        builder.add_body(
            f"b{k}",
            f"b{rng.integers(max(0, k - 10), k)}" if k else "world",
            _random_joint(kinds[k % len(kinds)], rng),
            translation=rng.uniform(-0.3, 0.3, size=3),
            rotation=place / np.linalg.norm(place),
            mass=rng.uniform(0.5, 2.0),
            com=rng.uniform(-0.1, 0.1, size=3),
            inertia=0.05 * moments,
        )
    return builder.build()


def _random_joint(kind, rng):
    first, second = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
    if kind == "helical":
        return sk.Helical(axis=first, pitch=0.1)
    if kind == "universal":
        return sk.Universal(axis1=first, axis2=second)
    if kind == "planar":
        return sk.Planar(x_axis=first, y_axis=second)
    if kind == "spherical":
        return sk.Spherical()
    types = {"revolute": sk.Revolute, "prismatic": sk.Prismatic, "cylindrical": sk.Cylindrical}
    return types[kind](axis=first)


MODELS = {
    "arm 7": arm,
    "chain 10": lambda: chain(10),
    "chain 100": lambda: chain(100),
    "chain 1000": lambda: chain(1000),
    "humanoid": humanoid,
    "tree 200": random_tree,
    "tree 200 shared": lambda: random_tree(kinds=SHARED),
}


# ---- Pinocchio --------------------------------------------------------------------------------


def pinocchio_model(model):
    """The same mechanism; every body is also a frame of Pinocchio's with the body's name."""
    import pinocchio as pin

    made = pin.Model()
    made.name = model.name
    made.gravity.linear = np.array(model.gravity)
    carriers = {-1: (0, pin.SE3.Identity())}  # body: the joint that carries it, and where
    for k, joint in enumerate(model.joints):
        place = pin.SE3(np.array(model.rotation[k]), np.array(model.translation[k]))
        carrier, inward = carriers[int(model.parent[k])]
        if joint.nv == 0:
            carriers[k] = (carrier, inward * place)
        else:
            moving = _pinocchio_joint(pin, joint)
            number = made.addJoint(carrier, moving, inward * place, model.joint_names[k])
            carriers[k] = (number, pin.SE3.Identity())
        number, where = carriers[k]
        inertia = pin.Inertia(
            float(model.mass[k]), np.array(model.com[k]), np.array(model.inertia[k])
        )
        made.appendBodyToJoint(number, inertia, where)
        made.addFrame(pin.Frame(model.body_names[k], number, where, pin.FrameType.BODY))
    return made


def _pinocchio_joint(pin, joint):
    """The most specialised joint model that fits, as Pinocchio's own URDF reader would choose."""
    kind = joint.type_name
    if kind in ("revolute", "prismatic", "helical"):
        extra = [float(joint.pitch)] if kind == "helical" else []
        return _pinocchio_axis(pin, kind, joint.axis, extra)
    if kind == "spherical":
        return pin.JointModelSpherical()
    if kind == "free":
        return pin.JointModelFreeFlyer()
    if kind == "translation":
        return pin.JointModelTranslation()
    if kind == "planar" and tuple(joint.x_axis) == X and tuple(joint.y_axis) == Y:
        return pin.JointModelPlanar()
    if kind == "universal" and abs(np.dot(joint.axis1, joint.axis2)) < 1e-12:
        return pin.JointModelUniversal(_unit(joint.axis1), _unit(joint.axis2))
    made = pin.JointModelComposite()
    for turning, sliding in joint.twists():
        if any(turning):
            made.addJoint(_pinocchio_axis(pin, "revolute", turning))
        else:
            made.addJoint(_pinocchio_axis(pin, "prismatic", sliding))
    return made


def _pinocchio_axis(pin, kind, axis, extra=()):
    letter = {"revolute": "R", "prismatic": "P", "helical": "H"}[kind]
    for name, direction in zip("XYZ", (X, Y, Z), strict=True):
        if tuple(axis) == direction:
            return getattr(pin, f"JointModel{letter}{name}")(*extra)
    return getattr(pin, f"JointModel{kind.capitalize()}Unaligned")(_unit(axis), *extra)


def _unit(axis):
    axis = np.array(axis, dtype=float)
    return axis / np.linalg.norm(axis)


# ---- MuJoCo -----------------------------------------------------------------------------------


def mujoco_model(model):
    """The same mechanism, without contacts and constraints; its body 0 is the world."""
    return mujoco_spec(model).compile()


def mujoco_spec(model):
    """The same as a description that can still be changed."""
    import mujoco

    kinds = {"revolute": "HINGE", "prismatic": "SLIDE", "spherical": "BALL", "free": "FREE"}
    spec = mujoco.MjSpec()
    spec.modelname = model.name
    spec.option.gravity = model.gravity
    spec.option.disableflags = (
        mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    )
    bodies = {-1: spec.worldbody}
    for k, joint in enumerate(model.joints):
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, model.rotation[k].reshape(-1))
        i = model.inertia[k]
        bodies[k] = bodies[int(model.parent[k])].add_body(
            name=model.body_names[k],
            pos=model.translation[k],
            quat=quaternion,
            mass=model.mass[k],
            ipos=model.com[k],
            fullinertia=[i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]],
            explicitinertial=True,
        )
        if joint.type_name == "universal":
            for i, axis in enumerate((joint.axis1, joint.axis2)):
                hinge = mujoco.mjtJoint.mjJNT_HINGE
                bodies[k].add_joint(name=f"{model.joint_names[k]}.{i}", type=hinge, axis=axis)
        elif joint.nv:
            bodies[k].add_joint(
                name=model.joint_names[k],
                type=getattr(mujoco.mjtJoint, f"mjJNT_{kinds[joint.type_name]}"),
                axis=getattr(joint, "axis", Z),
            )
    return spec


# ---- Drake ------------------------------------------------------------------------------------


def drake_model(model):
    """(plant, places): the same mechanism of hinges and slides, and where each joint's v lies."""
    from pydrake.math import RigidTransform, RotationMatrix
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import (
        PrismaticJoint,
        RevoluteJoint,
        RotationalInertia,
        SpatialInertia,
        UnitInertia,
    )

    plant = MultibodyPlant(time_step=0.0)
    plant.mutable_gravity_field().set_gravity_vector(model.gravity)
    bodies, joints = {-1: plant.world_body()}, []
    for k, joint in enumerate(model.joints):
        i, mass = model.inertia[k], float(model.mass[k])
        at_com = RotationalInertia(i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
        unit = UnitInertia()
        unit.SetFromRotationalInertia(at_com, mass)
        shifted = unit.ShiftFromCenterOfMass(model.com[k])
        inertia = SpatialInertia(mass, model.com[k], shifted)
        bodies[k] = plant.AddRigidBody(model.body_names[k], inertia)
        kinds = {"revolute": RevoluteJoint, "prismatic": PrismaticJoint}
        place = RigidTransform(RotationMatrix(model.rotation[k]), model.translation[k])
        parent = plant.AddFrame(_drake_frame(model.joint_names[k], bodies, model, k, place))
        child = bodies[k].body_frame()
        made = kinds[joint.type_name](model.joint_names[k], parent, child, joint.axis)
        joints.append(plant.AddJoint(made))
    plant.Finalize()
    return plant, [joint.velocity_start() for joint in joints]


def _drake_frame(name, bodies, model, k, place):
    from pydrake.multibody.tree import FixedOffsetFrame

    parent = bodies[int(model.parent[k])]
    return FixedOffsetFrame(f"{name} in its parent", parent.body_frame(), place)
