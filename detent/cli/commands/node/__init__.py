"""Commands that run Detent or look after it: development, serving, workers, tables, settings."""
