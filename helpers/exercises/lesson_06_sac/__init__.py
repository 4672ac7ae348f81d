"""Exercises of lesson 06."""
