"""Whether to believe a model: its predictions of a flight, set beside what was recorded."""
