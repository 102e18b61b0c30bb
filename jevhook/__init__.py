"""jevhook: the judgment gate for coding agents."""

__version__ = "0.1.0"
