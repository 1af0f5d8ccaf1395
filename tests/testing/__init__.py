"""Tests of what users test their workflows with."""
