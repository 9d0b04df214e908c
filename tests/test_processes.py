"""A child process works, however it was started and whatever its parent was doing just then.

This file runs itself as a program, one for each way: a fork copies the state of a whole process,
and pytest's own is no part of the question.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.jit import BEFORE_COMPILING, JIT_DISABLED, KERNELS
from skodyn.kernels.energy import energy
from skodyn.kernels.inverse_dynamics import gravity_force
from skodyn.scenario import parse_scenario
from skodyn.scenario.description import OutputSettings

SCENARIOS = Path(__file__).parent.parent / "scenarios"
PENDULUM = (SCENARIOS / "double_pendulum.toml").read_text()
SHORT = PENDULUM.replace("duration = 10.0", "duration = 0.05")

PATIENCE = 120.0
"""Seconds after which a child that should take one is taken to hang."""

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="plain Python has no threads at work")


def chain(bodies=6):
    made = sk.ModelBuilder()
    for k in range(bodies):
        parent = f"b{k - 1}" if k else "world"
        made.add_body(
            f"b{k}", parent, sk.Revolute((0, 1, 0)), mass=1.0, com=(0.1, 0, -0.5),
            inertia=(0.1, 0.1, 0.01), translation=(0, 0, -1 if k else 0),
        )  # fmt: skip
    return made.build()


def batch_of(model, rows=4096):
    q = np.linspace(-1.0, 1.0, rows * model.nv).reshape(rows, model.nv)
    return sk.forward_dynamics(model, q, 0.5 * q, 0.1 * q, threads=4)


def everything(model):
    """A hash of what a batch, single calls, a run with a log and a sweep give."""
    digest = hashlib.sha256(batch_of(model).tobytes())
    q = np.linspace(0.1, 0.6, model.nv)
    digest.update(sk.forward_dynamics(model, q, q, q).tobytes())
    digest.update(sk.mass_matrix_inverse(model, q).tobytes())
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.h5"
        sk.simulate(model, q0=q, v0=q, duration=0.05, dt=1e-3, integrator="rk4", log=str(log))
        digest.update(sk.open(log).q.tobytes())
        masses = {"bodies.upper.mass": [0.5, 1.0, 2.0, 3.0, 4.0]}
        swept = sk.sweep(parse_scenario(SHORT, SCENARIOS), masses, out=Path(folder) / "sweep.h5")
        digest.update(swept.q.tobytes())
    return digest.hexdigest()


def answer(queue, model):
    queue.put(everything(model))


KINDS = (
    "four_bar", "bouncing_balls", "flexible_pendulum", "driven_four_bar", "parallel_gripper",
    "energy_drive", "arm_tracking",
)  # fmt: skip
"""Loops, contacts, modes, motions, implicit steps, laws of files and servos."""


def of_every_kind():
    """The same for scenarios with what trees of rigid bodies do not have."""
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory() as folder:
        for name in KINDS:
            given = sk.read_scenario(SCENARIOS / f"{name}.toml")
            given = replace(given, duration=40 * given.integrator.dt, output=OutputSettings())
            log = Path(folder) / f"{name}.h5"
            digest.update(sk.run(given, log, progress=False).q.tobytes())
            rows = np.repeat(sk.open(log).q[-1:], 9, axis=0)
            none = np.zeros((9, given.model.nv))
            digest.update(sk.forward_dynamics(given.model, rows, none, none, threads=4).tobytes())
            swept = sk.sweep(given, {"seed": list(range(9))}, out=log.with_suffix(".sweep.h5"))
            assert swept.finished.all()
            digest.update(swept.q.tobytes())
    return digest.hexdigest()


def answer_of_every_kind(queue, _):
    queue.put(of_every_kind())


def asked(context, model, target=answer):
    """What a child says; raises if it does not answer in time."""
    queue = context.Queue()
    child = context.Process(target=target, args=(queue, model))
    child.start()
    try:
        return queue.get(timeout=PATIENCE)
    finally:
        child.join(10)
        if child.is_alive():
            child.kill()


# ---- what the programs do -----------------------------------------------------------------------


def after(way):
    """The parent has done it all before; its threads wait for more."""
    model = chain()
    expected = everything(model)
    assert asked(multiprocessing.get_context(way), model) == expected


def every_kind_after(way):
    """Loops, contacts, flexible bodies and laws, which have kernels and tables of their own."""
    expected = of_every_kind()
    assert asked(multiprocessing.get_context(way), None, answer_of_every_kind) == expected


def a_second_generation(queue, model):
    everything(model)
    queue.put(asked(multiprocessing.get_context("fork"), model))


def twice():
    """A child that has used its own threads forks again."""
    model = chain()
    expected = everything(model)
    assert asked(multiprocessing.get_context("fork"), model, a_second_generation) == expected


def while_others(busy):
    """Another thread repeats something while this one forks, again and again."""
    model, stop = chain(), threading.Event()
    expected = everything(model)

    failed = []

    def work():
        while not stop.is_set() and not failed:
            try:
                busy()
            except Exception as error:
                failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(0.05)
        for _ in range(5):
            assert asked(multiprocessing.get_context("fork"), model) == expected
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failed, failed


def while_the_pool_works():
    model = chain(20)
    while_others(lambda: batch_of(model))


def while_a_log_is_written():
    model = chain(2)
    with tempfile.TemporaryDirectory() as folder:

        def log():
            """The same name again: no child keeps the lock of a file open at its fork."""
            return str(Path(folder) / f"{threading.get_ident()}.h5")

        while_others(
            lambda: sk.simulate(
                model, q0=[0.1, 0.2], v0=[0.0, 0.0], duration=0.5, dt=1e-3, every=1, log=log(),
                overwrite=True,
            )
        )  # fmt: skip


def while_kernels_compile():
    """The other thread is in the compiler, which has locks of its own."""
    began = threading.Event()
    BEFORE_COMPILING.append(lambda name: began.set())
    thread = threading.Thread(target=lambda: energy.ready)
    thread.start()
    assert began.wait(PATIENCE)
    time.sleep(0.3)
    assert thread.is_alive(), "the compiler was done too soon"
    assert (
        asked(multiprocessing.get_context("fork"), gravity_force.name, compile_another) == "ready"
    )
    thread.join()
    assert energy.ready is not None


def compile_another(queue, name):
    assert KERNELS[name].ready is not None
    queue.put("ready")


def while_a_property_is_made():
    """Python 3.11 holds a lock of the property for all objects meanwhile."""
    from skodyn.forks import cached_property

    began, stop = threading.Event(), threading.Event()

    class Slow:
        @cached_property
        def value(self):
            if threading.current_thread() is not threading.main_thread():
                began.set()
                stop.wait()
            return "made"

    slow = Slow()
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert began.wait(PATIENCE)
    said = asked(multiprocessing.get_context("fork"), slow, tell_value)
    stop.set()
    thread.join()
    assert said == "made"


def tell_value(queue, slow):
    queue.put(slow.value)


def while_a_sweep_has_the_lock_on_the_cache():
    """A child that was forked meanwhile lives on; nobody waits for it."""
    from skodyn.sweeps.engines import _locked

    stop = multiprocessing.get_context("fork").Event()
    with _locked():
        child = multiprocessing.get_context("fork").Process(target=stop.wait)
        child.start()
    answered = multiprocessing.get_context("spawn").Event()
    other = multiprocessing.get_context("spawn").Process(target=take_lock, args=(answered,))
    other.start()
    try:
        assert answered.wait(PATIENCE)
    finally:
        stop.set()
        child.join()
        other.kill()


def take_lock(answered):
    from skodyn.sweeps.engines import _locked

    with _locked():
        answered.set()


def with_a_folder_of_its_own():
    """Where the user's cache is read-only; the child ends as programs do."""
    from skodyn.jit.folders import _private_temporary_folder

    folder = _private_temporary_folder()
    child = os.fork()
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)
    assert folder.is_dir()


PROGRAMS = {
    "property": while_a_property_is_made,
    "lock on the cache": while_a_sweep_has_the_lock_on_the_cache,
    "temporary folder": with_a_folder_of_its_own,
    "fork": lambda: after("fork"),
    "spawn": lambda: after("spawn"),
    "forkserver": lambda: after("forkserver"),
    "every kind, fork": lambda: every_kind_after("fork"),
    "every kind, spawn": lambda: every_kind_after("spawn"),
    "twice": twice,
    "pool": while_the_pool_works,
    "log": while_a_log_is_written,
    "compiler": while_kernels_compile,
}


def run_program(name, **environment):
    """Run this file; a program that hangs is killed with all its children."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", __file__, name]
    child = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        said, _ = child.communicate(timeout=3 * PATIENCE)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, 9)
    assert child.returncode == 0, said
    assert said.endswith("fine\n"), said


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "compiler"])
def test_a_child_process_works(name):
    run_program(name)


def test_a_child_that_was_forked_while_kernels_compile_can_compile(tmp_path):
    run_program("compiler", NUMBA_CACHE_DIR=str(tmp_path), SKODYN_SHIPPED="0")


if __name__ == "__main__":
    PROGRAMS[sys.argv[1]]()
    print("fine")
