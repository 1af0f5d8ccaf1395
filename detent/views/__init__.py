"""What users see of runs: documents, feeds of events, and waiting for an end."""
