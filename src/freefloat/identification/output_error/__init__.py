"""Output error: the model flies the recording, and what its sensors would read is compared."""
