"""Estimates that bodies can really have: the nearest physically consistent ones."""
