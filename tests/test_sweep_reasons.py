"""Why a run of a sweep failed: the sentence that the same run alone ends with."""

from pathlib import Path

import pytest

import skodyn as sk

MODELS = Path(__file__).parents[1] / "scenarios" / "models"

LOOP = f"""
duration = 0.2
[model]
file = "{MODELS / "four_bar.toml"}"
[initial]
assemble = true
project = true
[initial.q]
crank = 1.0
[initial.v]
crank = SPEED
[integrator]
method = "rk4"
dt = 0.02

"""

SPRING = f"""
duration = 0.2
[model]
file = "{MODELS / "double_pendulum.toml"}"
[initial.q]
elbow = 0.3
[initial.v]
elbow = SPEED
[joints.elbow]
stiffness = 600.0
[integrator]
method = "implicit_midpoint"
dt = 0.02
"""


@pytest.mark.parametrize(
    ("text", "joint", "speeds", "words"),
    [
        (LOOP, "crank", [500.0, 600.0, 700.0, 800.0, 900.0], "loop 'pin' opened at t = "),
        (
            SPRING,
            "elbow",
            [30.0, 35.0, 40.0, 45.0, 50.0],
            "the implicit step did not converge at t = ",
        ),
    ],
    ids=["loop", "implicit"],
)
def test_a_run_of_a_sweep_fails_with_the_words_of_the_run_alone(
    tmp_path, text, joint, speeds, words
):
    scenario = tmp_path / "one.toml"
    scenario.write_text(text.replace("SPEED", str(speeds[3])))
    alone = sk.run(scenario, log=tmp_path / "one.h5")
    assert alone.status == "failed"
    assert words in alone.message
    design = f'\n[sweep.grid]\n"initial.v.{joint}" = {speeds}\n'
    study = tmp_path / "many.toml"
    study.write_text(
        text.replace("SPEED", "0.0") + design + '[sweep.metrics]\nd = { kind = "energy_drift" }\n'
    )
    sweep = sk.sweep(study, out=tmp_path / "many.h5", engine="in-process")
    assert len(sweep.failures()) == len(speeds)
    assert sweep.reason(3) == alone.message
