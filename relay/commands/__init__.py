"""What people and operators can do. Each command is a typed async function: it knows nothing of Telegram or Markdown.

To move a command here from its chat handler:
1. Write the function in `commands/<subject>/<noun>.py` with `@command`: it takes a `CommandContext` and typed input,
   returns a frozen dataclass (or a row of the store) and raises `CommandRefused` where it does not do what was asked.
2. In `surfaces/chat/<subject>/<noun>.py`, replace `@verb` by `@shows(name)`. The handler reads `call.text`, awaits the
   command, and renders its result: `CommandReply(markdown, rows=…, result=result)`.
3. Declare a `@callback` class for each button and use `@pressed(Class)` and `button(label, Class(…))` in place of
   written data; the letters stay, so that buttons in existing chats keep working.
"""
