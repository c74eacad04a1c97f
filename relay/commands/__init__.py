"""What people can do: typed async functions that know nothing of Telegram or Markdown."""
