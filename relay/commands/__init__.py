"""What people can do: typed async functions, independent of Telegram and Markdown."""
