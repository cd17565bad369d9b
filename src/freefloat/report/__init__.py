"""Reports: what was found, as pictures to look at and files to attach."""
