"""Tests of steps: against real servers on loopback."""
