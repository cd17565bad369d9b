"""Linear equation families, one file each: rows, right side and row noise from samples."""
