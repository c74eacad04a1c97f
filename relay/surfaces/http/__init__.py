"""HTTP: the API, the web app, health and metrics, and Telegram's webhook."""
