"""Integrators, one method per file, each with its citation. All of them move on the manifold."""
