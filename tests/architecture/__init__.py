"""Budgets and directions that the code keeps, counted so that nobody argues."""
