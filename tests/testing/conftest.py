"""The fixtures of the plugin, as pytest would find them in an installed Detent."""

from detent.testing.plugin import detent_engine, fake_clock, speedrun

__all__ = ["detent_engine", "fake_clock", "speedrun"]
