"""One way to fly a model and to read its sensors: for plans and recordings, with derivatives."""
