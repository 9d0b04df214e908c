"""What a person describes, its checks, and the frozen packed arrays."""
