"""Alerts to admins, and the conditions behind them."""
