"""What sensors and motion can show, before data are taken: ranks, combinations, bounds."""
