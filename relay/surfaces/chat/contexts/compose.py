"""Renders /compose, whose buttons choose past sessions and put them together."""

from __future__ import annotations

from relay.commands.contexts import draft as commands
from relay.core.errors import OutOfRange
from relay.core.limits import LEAST_BUDGET, MOST_BUDGET
from relay.core.models import Button
from relay.core.text import escape_markdown, escape_sentence, format_tokens, pluralize, shorten
from relay.memory.contexts.pieces import two_digits
from relay.memory.rows.contexts.composition import ComposableSession, ComposedPart, PartAsked, Strategy
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts import composition
from relay.surfaces.chat.contexts.suggestion import present_topic, these_fit
from relay.surfaces.chat.handlers import action, answers, pressed, shows
from relay.surfaces.chat.reply import ButtonReply, CommandReply, arrange, button, question, step_rows

PAGE = 6
AUTO = "auto"
"""Chooses whatever fits best."""
BUDGETS = (4_000, 8_000, 16_000, 32_000)
STRATEGIES: dict[Strategy, tuple[str, str]] = {
    "equal": ("Equal", "shared equally"),
    "recency": ("Favour recent", "more for recent sessions"),
    "proportional": ("By size", "shared by size"),
}
WHY = {"fits": "fits in full", "best": "fits best", "new": "will be compressed first", "asked": "as you chose"}


@shows("compose")
async def compose(call: ChatContext) -> CommandReply:
    """Begins a draft, or lists, shows or drops compositions."""
    word, _, rest = call.text.strip().partition(" ")
    if word == "list" and not rest:
        return await composition.list_page(call)
    if word in ("show", "drop"):
        if not rest.strip():
            raise OutOfRange(f"Which one? For example: /compose {word} context-1")
        return await (composition.show_named if word == "show" else composition.drop_named)(call, rest)
    name = call.text.strip()
    begun = await commands.begin_draft(call, name)
    page = await sessions_page(call, begun, 0)
    about = name or await present_topic(call)
    fitting, rows = await these_fit(call, about, lambda one: press_take(begun.id, one, True, 0), "➕")
    return CommandReply(page.text + fitting, rows=[*rows, *page.rows], result=begun)


@pressed(composition.ChangeComposition)
async def press_change(call: ChatContext, to: composition.ChangeComposition) -> ButtonReply:
    return draft_page(await commands.draft_of(call, to.composition_id)).redraw()


@action("ou")
async def press_use(call: ChatContext, session_id: int) -> ButtonReply:
    """Begins a draft with a session, from the session's page."""
    begun = await commands.begin_draft(call)
    return ButtonReply(says=draft_page(await commands.choose_part(call, begun.id, session_id, PartAsked())))


@action("bs")
async def press_sessions(call: ChatContext, draft_id: int, offset: int, everywhere: bool) -> ButtonReply:
    """Shows the sessions to choose from, starting at an offset; `everywhere`: of all conversations."""
    changed = await commands.change_draft(call, draft_id, {"everywhere": everywhere})
    return (await sessions_page(call, changed, offset)).redraw()


@action("bt")
async def press_take(call: ChatContext, draft_id: int, session_id: int, on: bool, offset: int) -> ButtonReply:
    """Adds or removes a session; `offset` is the page to show."""
    changed = await commands.choose_part(call, draft_id, session_id, PartAsked() if on else None)
    return (await sessions_page(call, changed, offset)).redraw()


@action("bc")
async def press_draft(call: ChatContext, draft_id: int) -> ButtonReply:
    """Shows the draft."""
    return draft_page(await commands.read_draft(call, draft_id)).redraw()


@action("bb")
async def press_budget(call: ChatContext, draft_id: int, budget: int) -> ButtonReply:
    """Sets the budget in tokens; 0 asks for one."""
    if not budget:
        bounds = f"{LEAST_BUDGET:,} to {MOST_BUDGET:,} tokens"
        asked = f"{question('compose', draft_id)} – reply to this message with the budget, {bounds}."
        return ButtonReply(says=CommandReply(asked, asks="8.5k"))
    return draft_page(await commands.change_draft(call, draft_id, {"budget": budget})).redraw()


@answers("compose")
async def hear_budget(call: ChatContext, draft_id: int) -> CommandReply:
    """Sets the budget of a draft."""
    changed = await commands.change_draft(call, draft_id, {"budget": commands.read_budget(call.text) or 0})
    return draft_page(changed).returning(changed)


@action("by")
async def press_strategy(call: ChatContext, draft_id: int, strategy: Strategy) -> ButtonReply:
    """Sets how the budget is shared."""
    return draft_page(await commands.change_draft(call, draft_id, {"strategy": strategy})).redraw()


@action("bp")
async def press_part(call: ChatContext, draft_id: int, session_id: int) -> ButtonReply:
    """Shows what can be included of a session."""
    return part_page(await commands.read_draft(call, draft_id), session_id).redraw()


@action("bv")
async def press_version(call: ChatContext, draft_id: int, session_id: int, version: str) -> ButtonReply:
    """Chooses what to include of a session: auto, original, new or a version such as v002."""
    chosen = None if version == AUTO else version
    return draft_page(await commands.choose_version(call, draft_id, session_id, chosen)).redraw()


@action("ba")
async def press_share(call: ChatContext, draft_id: int, session_id: int, tokens: int) -> ButtonReply:
    """Sets the tokens of a session; 0: its share of the budget."""
    return part_page(await commands.allocate(call, draft_id, session_id, tokens or None), session_id).redraw()


@action("bw")
async def press_move(call: ChatContext, draft_id: int, session_id: int, later: bool) -> ButtonReply:
    """Moves a session by one place."""
    return part_page(await commands.move_part(call, draft_id, session_id, later), session_id).redraw()


@action("bm")
async def press_make(call: ChatContext, draft_id: int) -> ButtonReply:
    """Makes the composition of a draft."""
    return composition.composed_page(await commands.make_draft(call, draft_id)).redraw()


async def sessions_page(call: ChatContext, now: commands.Drafted, offset: int) -> CommandReply:
    """Lists the sessions, each with a button that adds or removes it."""
    draft = now.draft
    found = await commands.sessions_to_choose(call, draft, offset, PAGE)
    others = button(
        "‹ Only this conversation" if draft.everywhere else "All conversations ›",
        press_sessions(now.id, 0, not draft.everywhere),
    )
    if not found.sessions:
        return CommandReply("There are no sessions here to compose.", rows=[[others]])
    rows = [[session_button(call, now, one, offset)] for one in found.sessions]
    rows += step_rows(offset, PAGE, found.total, lambda to: press_sessions(now.id, to, draft.everywhere))
    chosen = f" {pluralize(len(draft.parts), 'session')} chosen." if draft.parts else ""
    rows.append([others, *([button(f"Next ({len(draft.parts)}) ›", press_draft(now.id))] if draft.parts else [])])
    text = f"🧩 **{escape_markdown(draft.name)}**\n\nWhich sessions belong together?{chosen}"
    return CommandReply(text, rows=rows)


def session_button(call: ChatContext, now: commands.Drafted, one: ComposableSession, offset: int) -> Button:
    """Returns the button that adds or removes a session."""
    on = one.id in now.draft.parts
    name = shorten(one.title or one.words or "…", 30)
    label = f"{'☑' if on else '☐'} {name} · {one.first.astimezone(call.zone):%d %b} · {format_tokens(one.tokens)}"
    return button(label, press_take(now.id, one.id, not on, offset))


def draft_page(now: commands.Drafted) -> CommandReply:
    """Renders a draft: budget, shares, and what it includes of each session."""
    draft = now.draft
    lines = [
        f"🧩 **{escape_markdown(draft.name)}**",
        f"{draft.budget:,} tokens ({composition.share_of_window(draft.budget)}), {STRATEGIES[draft.strategy][1]}",
    ]
    if now.plan:
        lines.append("\n".join(f"{place}. {plan_line(part)}" for place, part in enumerate(now.parts, 1)))
        over = f", {now.plan.total - draft.budget:,} over budget" if now.plan.total > draft.budget else ""
        first = f" {pluralize(now.plan.new, 'session')} will be compressed first." if now.plan.new else ""
        lines.append(f"About {now.plan.total:,} of {draft.budget:,} tokens{over}.{first}")
    else:
        names = [
            f"{place}. {composition.session_title(part.title, part.words)}" for place, part in enumerate(now.parts, 1)
        ]
        lines += ["\n".join(names)] if names else []
        lines.append(escape_sentence(now.wrong or "Choose at least one session."))
    return CommandReply("\n\n".join(lines), rows=draft_rows(now))


def plan_line(part: ComposedPart) -> str:
    """Says what the draft includes of a session, and why."""
    version = "new" if part.version == "new" else part.version.split("_")[0]
    about = "about " if part.version == "new" else ""
    why = WHY[part.reason or "asked"] + composition.describe_missing(part)
    return f"{composition.session_title(part.title, part.words)} · {version}, {about}{part.estimate:,} – {why}"


def draft_rows(now: commands.Drafted) -> list[list[Button]]:
    """Returns the buttons of a draft."""
    draft, key = now.draft, now.id
    budgets = [button(f"{one // 1000}k", press_budget(key, one), one == draft.budget) for one in BUDGETS]
    shares = [
        button(label, press_strategy(key, name), name == draft.strategy) for name, (label, _) in STRATEGIES.items()
    ]
    numbers = [button(f"{place} ⚙", press_part(key, part.session_id)) for place, part in enumerate(now.parts, 1)]
    rows = [[*budgets, button("Other", press_budget(key, 0), draft.budget not in BUDGETS)], shares]
    rows += arrange(numbers, 5)
    last = [button("‹ Sessions", press_sessions(key, 0, draft.everywhere))]
    return [*rows, [*last, *([button("✅ Make it", press_make(key))] if now.plan else [])]]


def part_page(now: commands.Drafted, session_id: int) -> CommandReply:
    """Renders a session of a draft: what can be included of it, its share and its place."""
    part = now.part(session_id)
    lines = [f"**{composition.session_title(part.title, part.words)}**"]
    if part.messages:
        lines.append(f"{pluralize(part.messages, 'message')}, {part.tokens or 0:,} tokens. {share_line(part)}".strip())
    lines.append(escape_sentence(now.wrong) if now.wrong else "What should I use for it?")
    chosen = part.asked.version or AUTO
    rows = [
        [button(label, press_version(now.id, session_id, version), version == chosen)]
        for version, label in version_choices(part)
    ]
    acts = [*share_rows(now, part), *place_rows(now, part)]
    out = [button("🗑 Leave it out", press_take(now.id, session_id, False, 0)), button("‹ Back", press_draft(now.id))]
    return CommandReply("\n\n".join(lines), rows=[*rows, *acts, out])


def version_choices(part: ComposedPart) -> list[tuple[str, str]]:
    """Returns what can be included of a session, each with its label."""
    whole = f"All of it, {format_tokens(part.tokens)}" if part.tokens else "All of it"
    versions = []
    for one in part.versions:
        number, _, how = one.name.partition("_")
        label = f"{number}, {format_tokens(one.tokens)}" + (f" · {how.split('_')[0]}" if how else "")
        versions.append((number, label))
    return [(AUTO, "Whatever fits best"), ("original", whole), *versions, ("new", "A new version that fits its share")]


def share_line(part: ComposedPart) -> str:
    """Says how many tokens a session may take."""
    if part.allocation is None:
        return ""
    return f"Its share: {part.allocation:,}{', as you chose' if part.asked.allocation else ''}."


def share_rows(now: commands.Drafted, part: ComposedPart) -> list[list[Button]]:
    """Returns the buttons that change a session's share, if its size depends on that."""
    own = part.asked.allocation
    if part.asked.version not in (None, "new"):
        return []
    share = own or part.allocation or 0
    more, less = two_digits(share * 4 // 3), two_digits(share * 3 // 4)
    row = []
    if 0 < share < (part.tokens or 0):
        row.append(button("Larger share", press_share(now.id, part.session_id, more)))
    row += [button("Smaller share", press_share(now.id, part.session_id, less))] if less else []
    row += [button("↩ Usual share", press_share(now.id, part.session_id, 0))] if own else []
    return [row] if row else []


def place_rows(now: commands.Drafted, part: ComposedPart) -> list[list[Button]]:
    """Returns the buttons that move a session among the others."""
    row = [button("↑ Earlier", press_move(now.id, part.session_id, False))] if part != now.parts[0] else []
    row += [button("↓ Later", press_move(now.id, part.session_id, True))] if part != now.parts[-1] else []
    return [row] if row else []
