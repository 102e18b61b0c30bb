"""The optional warm process: one for each user and install, never needed, never in the way."""
