"""Parameter sweeps: one scenario, many runs, from SIMD lanes on one core to a cluster.

    result = sk.sweep("study.toml", out="study.h5", engine="processes")
    result.to_xarray()

| file | holds |
| --- | --- |
| `designs.py`, `design_table.py` | which points are run, and how a file says so |
| `paths.py`, `scenario_data.py` | parameters by name: where their values stand in a scenario |
| `plan.py`, `point_checks.py`, `study.py` | a sweep ready to run, every fault found before |
| `packing.py` | rows of values to packed runs |
| `lane_loop.py`, `lane_batch.py` | runs side by side in registers, to their end |
| `metrics.py`, `sampling.py`, `row_metrics.py`, `functions.py` | what is kept of a run |
| `batch.py` | what a worker does |
| `engines.py`, `driver.py`, `running.py` | where batches run, and who hands them out |
| `index.py`, `stored_study.py`, `results.py` | the HDF5 index, written and read |
"""

from skodyn.sweeps.results import open_sweep
from skodyn.sweeps.running import sweep

__all__ = ["open_sweep", "sweep"]
