"""What a store keeps of the lines that attempts log, beside the journal: nothing is decided by it."""
