"""What the code of steps logs and reports while it runs."""
