"""Controllers: how laws are written, checked, packed, sampled and called."""
