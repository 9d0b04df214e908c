"""What robot files of every format have in common: options, notes, mesh paths, assembly."""
