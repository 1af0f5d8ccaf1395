"""What commands print: tables, progress, journal lines."""
