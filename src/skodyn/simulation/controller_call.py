"""How the loop calls a controller: a C function f(t, q, v, params, tau, nq, nv, n_params)."""

from __future__ import annotations

from skodyn.jit import ForeignFunction

call_controller = ForeignFunction(
    "nothing", "number", "pointer", "pointer", "pointer", "pointer", "count", "count", "count"
)
