"""Mechanisms given as a graph of links and joints, and the tree chosen for them."""
