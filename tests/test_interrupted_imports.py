"""Ctrl-C while skodyn imports what it needs: the next call finds everything."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MODEL = Path(__file__).parents[1] / "scenarios" / "models" / "desk_arm.urdf"

PROGRAM = """
import importlib.machinery, json, sys

moment, model = sys.argv[1:]
interrupted = set()

class Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module):
        first = module.__name__ not in interrupted
        interrupted.add(module.__name__)
        if not (first and moment == "before"):
            super().exec_module(module)
        if first and moment != "never":
            raise KeyboardInterrupt(module.__name__)

class Finder(importlib.machinery.PathFinder):
    folders = ("model.joint_kinds", "simulation.steppers", "simulation.element_kinds",
               "channels.entries", "io.importers")

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if not any(name.startswith(f"skodyn.{folder}.") for folder in cls.folders):
            return None
        spec = super().find_spec(name, path, target)
        spec.loader = Loader(name, spec.origin)
        return spec

sys.meta_path.insert(0, Finder)

def work():
    import skodyn as sk, skodyn.simulation
    from skodyn.channels.entry import CHANNELS
    from skodyn.io.importer import IMPORTERS
    from skodyn.model.joint_entry import CATALOGUE
    from skodyn.simulation.element import ELEMENTS
    from skodyn.simulation.steppers.method import METHODS
    names = [list(one) for one in (IMPORTERS, CATALOGUE, ELEMENTS, METHODS, CHANNELS)]
    loaded = sk.load(model)
    same = all(CATALOGUE[joint.type_name] is type(joint) for joint in loaded.joints)
    return names, loaded.content_hash, same

attempts = 0
while True:
    attempts += 1
    try:
        result = work()
        break
    except KeyboardInterrupt:
        pass
print(json.dumps([attempts, len(interrupted), *result]))
"""


def after_interruptions(moment):
    """Attempts until nothing more was interrupted, files, names of all registries, a model."""
    command = [sys.executable, "-c", PROGRAM, moment, str(MODEL)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_every_file_of_a_registry_may_be_interrupted_once(moment):
    _, files, *expected = after_interruptions("never")
    attempts, interrupted, *found = after_interruptions(moment)
    assert interrupted == files > 40
    assert attempts > 0.9 * files  # nested ones may share one interruption
    assert found == expected
    assert found[-1] is True  # files and registry have the same classes
