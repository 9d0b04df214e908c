"""What pyproject.toml cannot say: the C extension, and kernels compiled ahead for wheels.

The extension (1 s) is made wherever there is a C compiler; without one skodyn works all the same,
with numba's dispatcher and kernels that are compiled when they are first used.

`SKODYN_KERNELS=3,4 pip wheel .` compiles all kernels into the wheel, for x86-64-v3 and v4;
`SKODYN_KERNELS=native pip install .` for this processor, on all cores, in a minute or two.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

LEVELS = [level for level in os.environ.get("SKODYN_KERNELS", "").split(",") if level]
PROJECT = tomllib.loads((Path(__file__).parent / "pyproject.toml").read_text())["project"]


class Build(build_ext):
    """The extension, then the kernels that it calls."""

    def run(self):
        super().run()
        if LEVELS and not self.inplace:
            self.compile_kernels(Path(self.build_lib) / "skodyn" / "objects")

    def compile_kernels(self, folder):
        """With the sources of this tree and the numba of the build environment."""
        version = self.distribution.get_version()
        module = ["-m", "skodyn.jit.make_objects"]
        command = [sys.executable, *module, str(folder.absolute()), version, *LEVELS]
        built = str(Path(self.build_lib).absolute())  # sources, with the extension beside them
        theirs = os.environ.get("PYTHONPATH")  # by which pip hands on the build environment
        path = os.pathsep.join(filter(None, (built, theirs)))
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": path})


setup(
    setup_requires=PROJECT["dependencies"] if LEVELS else [],  # compiling imports the package
    ext_modules=[
        Extension(
            "skodyn.jit.launch",
            ["src/skodyn/jit/launch.c"],
            include_dirs=[numpy.get_include()],
            optional=True,
        )
    ],
    cmdclass={"build_ext": Build},
)
