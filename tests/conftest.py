"""What holds for all tests. With SKODYN_LIGHT=1 nothing of PEERS can be imported."""

import os
import sys

PEERS = {
    "dm_control",
    "example_robot_data",
    "gymnasium",
    "mujoco",
    "pinocchio",
    "playwright",
    "sphinx",
}


class NoPeers:
    """A finder of modules that refuses the other libraries, as if they were not installed."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in PEERS:
            raise ModuleNotFoundError(f"{name} is a peer, which light tests do not need", name=name)


if os.environ.get("SKODYN_LIGHT") == "1":
    sys.meta_path.insert(0, NoPeers())
