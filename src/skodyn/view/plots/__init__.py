"""Plots as files (matplotlib, extra `plot`).

| file | holds |
| --- | --- |
| `style.py` | figures, colours, line styles, legends, saving: for every kind of plot |
| `sheet.py` | the sheet of one or several runs, `skodyn plot out.h5` |
| `study.py` | the metrics of a sweep over its parameters, `skodyn plot sweep.h5` |
| `sparsity.py` | zeros of a model's operators, `skodyn plot sparsity MODEL` |
| `operators.py` | an operator at a state, `operator.plot()` |
| `force_models.py` | what explains the forces in the joints, `skodyn plot forces out.h5` |

A new kind of plot is a function that takes data and returns a figure from `style.new_figure`; give
it a word in `PLOTS` of cli/views.py.
"""

from skodyn.view.plots.force_models import force_picture
from skodyn.view.plots.operators import operator_picture
from skodyn.view.plots.run_sheet import sheet
from skodyn.view.plots.sparsity import sparsity_picture
from skodyn.view.plots.study import study_picture
from skodyn.view.plots.style import save

__all__ = [
    "force_picture",
    "operator_picture",
    "save",
    "sheet",
    "sparsity_picture",
    "study_picture",
]
