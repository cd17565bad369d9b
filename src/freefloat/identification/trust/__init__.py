"""From a Fit and its recordings to a grade: evidence, total deviations, causes."""
