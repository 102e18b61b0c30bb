"""System One: questions and answers on the wire, the dialects, and the one bounded call."""
