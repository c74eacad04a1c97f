"""The assistant's personality: the soul, and its personas in individual chats."""
