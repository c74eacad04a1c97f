"""How people like answers, as chats show it."""
