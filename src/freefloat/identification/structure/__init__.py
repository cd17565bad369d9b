"""Which parts of a model the recordings call for: every hinge, tank and joint by itself."""
