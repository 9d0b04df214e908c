"""Looking at runs: plots, a replay in the browser, GIFs. Reads trajectories, computes no motion.

| file | holds |
| --- | --- |
| `signals.py` | every column of a log with its name and unit |
| `plots/` | sheets of curves (matplotlib, extra `plot`) |
| `shapes.py`, `mesh_files.py` | triangles of spheres, cylinders, boxes; of mesh files |
| `scene.py` | what is drawn of a model: shapes placed in bodies |
| `recording.py` | the poses and signals of a run, thinned to what a replay needs |
| `document.py`, `page/` | one HTML file with scene, recording and the player |
| `server.py` | the same page on a loopback address |
| `raster.py`, `camera.py`, `gif.py` | the same scene without a browser, as a GIF (extra `view`) |
"""
