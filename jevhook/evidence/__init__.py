"""What the gate's own records show: read them (``read``), and what a person said about them (``labels``).

Nothing here is on the hook's way and nothing here changes a line that was written.
"""
