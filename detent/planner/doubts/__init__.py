"""Steps in doubt: their node died during an attempt, so their effect may have happened. A user resolves them, or their
probe is asked."""
