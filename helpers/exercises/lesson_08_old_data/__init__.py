"""Exercises of lesson 08."""
