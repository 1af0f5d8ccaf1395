"""Child runs: `family` starts and cancels them and carries their ends, `maps` starts the pages of maps."""
