"""Write a past run as a test for pytest."""
