"""Who the assistant is: the soul, and its roles in single chats."""
