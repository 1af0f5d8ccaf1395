"""What people see of waits at their addresses: plain HTML, without a script."""
