"""Natural frequencies and damping from recordings, and their match with the model."""
