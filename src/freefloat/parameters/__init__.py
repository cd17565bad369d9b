"""Parameters by name: their values in a model, and how estimates are written back."""
