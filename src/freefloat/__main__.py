"""`python -m freefloat` is the command `freefloat`."""

from freefloat.cli import main

if __name__ == "__main__":
    main()
