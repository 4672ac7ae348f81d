"""Lesson 07: PPO."""
