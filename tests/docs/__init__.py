"""The pages are part of the build: every example runs, every table is compared with the code."""
