"""Live identification: one sample in, one estimate out."""
