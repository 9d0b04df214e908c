"""Contacts of a run: forces, what is watched, and the implicit step."""
