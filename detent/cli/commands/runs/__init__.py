"""Commands on runs: start, look, control, move, explain, and what was given up."""
