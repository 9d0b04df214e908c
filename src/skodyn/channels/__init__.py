"""Channels: what a log holds of a run besides its time, one entry each.

| file | holds |
| --- | --- |
| `entry.py` | `Channel`: names, dimensions, labels, how it is computed and drawn; all of them |
| `rows.py` | what a channel is computed from: finished rows, and what can be found of them |
| `curves.py` | what a channel is drawn from, and families of curves |
| `own.py`, `files.py` | a person's own functions of t, q and v, in Python and in files |
| `entries/` | the channels of skodyn, a file each |
"""
