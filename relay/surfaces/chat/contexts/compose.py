"""Renders /compose, whose buttons choose past sessions and put them together."""

from __future__ import annotations

from relay.commands.contexts.draft import (
    Drafted,
    allocate,
    begin_draft,
    change_draft,
    choose_part,
    choose_version,
    draft_of,
    make_draft,
    move_part,
    read_budget,
    read_draft,
    sessions_to_choose,
)
from relay.core.errors import CommandRefused
from relay.core.limits import LEAST_BUDGET, MOST_BUDGET
from relay.core.models import Button
from relay.core.text import escape_markdown, escape_sentence, format_tokens, pluralize, shorten
from relay.memory.contexts.pieces import two_digits
from relay.memory.rows.contexts.composition import ComposableSession, ComposedPart, PartAsked, Strategy
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.compose_buttons import (
    AllocatePart,
    ChooseBudget,
    ChooseSessions,
    ChooseStrategy,
    ChooseVersion,
    MakeDraft,
    MovePart,
    ShowDraft,
    ShowPart,
    TakeSession,
    UseSession,
)
from relay.surfaces.chat.contexts.composition import (
    ChangeComposition,
    composed_page,
    describe_missing,
    drop_named,
    list_page,
    session_title,
    share_of_window,
    show_named,
)
from relay.surfaces.chat.contexts.suggestion import present_topic, these_fit
from relay.surfaces.chat.handlers import answers, pressed, shows
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, question, step_rows
from relay.surfaces.chat.times import local

PAGE = 6
AUTO = "auto"
"""Chooses whatever fits best."""
BUDGETS = (4_000, 8_000, 16_000, 32_000)
STRATEGIES: dict[Strategy, tuple[str, str]] = {
    "equal": ("Equal", "shared equally"),
    "recency": ("Favour recent", "more for recent sessions"),
    "proportional": ("By size", "shared by size"),
}
WHY = {"fits": "fits as it is", "best": "fits best", "new": "will be compressed first", "asked": "as you chose"}


@shows("compose")
async def compose(call: ChatContext) -> CommandReply:
    """Begins a draft, or lists, shows or drops compositions."""
    word, _, rest = call.text.strip().partition(" ")
    if word == "list" and not rest:
        return await list_page(call)
    if word in ("show", "drop"):
        if not rest.strip():
            raise CommandRefused(f"Which one? For example: /compose {word} context-1")
        return await (show_named if word == "show" else drop_named)(call, rest)
    name = call.text.strip()
    begun = await begin_draft(call, name)
    page = await sessions_page(call, begun, 0)
    about = name or await present_topic(call)
    fitting, rows = await these_fit(call, about, lambda one: TakeSession(begun.id, one, True, 0), "➕")
    return CommandReply(page.text + fitting, rows=[*rows, *page.rows], result=begun)


@pressed(ChangeComposition)
async def press_change(call: ChatContext, to: ChangeComposition) -> ButtonReply:
    return draft_page(await draft_of(call, to.composition_id)).redraw()


@pressed(UseSession)
async def press_use(call: ChatContext, to: UseSession) -> ButtonReply:
    begun = await begin_draft(call)
    return ButtonReply(says=draft_page(await choose_part(call, begun.id, to.session_id, PartAsked())))


@pressed(ChooseSessions)
async def press_sessions(call: ChatContext, to: ChooseSessions) -> ButtonReply:
    changed = await change_draft(call, to.draft_id, {"everywhere": to.everywhere})
    return (await sessions_page(call, changed, to.offset)).redraw()


@pressed(TakeSession)
async def press_session(call: ChatContext, to: TakeSession) -> ButtonReply:
    changed = await choose_part(call, to.draft_id, to.session_id, PartAsked() if to.on else None)
    return (await sessions_page(call, changed, to.offset)).redraw()


@pressed(ShowDraft)
async def press_back(call: ChatContext, to: ShowDraft) -> ButtonReply:
    return draft_page(await read_draft(call, to.draft_id)).redraw()


@pressed(ChooseBudget)
async def press_budget(call: ChatContext, to: ChooseBudget) -> ButtonReply:
    if not to.budget:
        bounds = f"{LEAST_BUDGET:,} to {MOST_BUDGET:,} tokens"
        asked = f"{question('compose', to.draft_id)} – reply to this message with the budget, {bounds}."
        return ButtonReply(says=CommandReply(asked, asks="8.5k"))
    return draft_page(await change_draft(call, to.draft_id, {"budget": to.budget})).redraw()


@answers("compose")
async def hear_budget(call: ChatContext, draft_id: int) -> CommandReply:
    """Sets the budget of a draft."""
    changed = await change_draft(call, draft_id, {"budget": read_budget(call.text) or 0})
    return draft_page(changed).returning(changed)


@pressed(ChooseStrategy)
async def press_strategy(call: ChatContext, to: ChooseStrategy) -> ButtonReply:
    return draft_page(await change_draft(call, to.draft_id, {"strategy": to.strategy})).redraw()


@pressed(ShowPart)
async def press_part(call: ChatContext, to: ShowPart) -> ButtonReply:
    return part_page(await read_draft(call, to.draft_id), to.session_id).redraw()


@pressed(ChooseVersion)
async def press_version(call: ChatContext, to: ChooseVersion) -> ButtonReply:
    version = None if to.version == AUTO else to.version
    return draft_page(await choose_version(call, to.draft_id, to.session_id, version)).redraw()


@pressed(AllocatePart)
async def press_share(call: ChatContext, to: AllocatePart) -> ButtonReply:
    return part_page(await allocate(call, to.draft_id, to.session_id, to.tokens or None), to.session_id).redraw()


@pressed(MovePart)
async def press_move(call: ChatContext, to: MovePart) -> ButtonReply:
    return part_page(await move_part(call, to.draft_id, to.session_id, to.later), to.session_id).redraw()


@pressed(MakeDraft)
async def press_make(call: ChatContext, to: MakeDraft) -> ButtonReply:
    return composed_page(await make_draft(call, to.draft_id)).redraw()


async def sessions_page(call: ChatContext, now: Drafted, offset: int) -> CommandReply:
    """Lists the sessions, each with a button that adds or removes it."""
    draft = now.draft
    found = await sessions_to_choose(call, draft, offset, PAGE)
    others = button(
        "‹ Only this conversation" if draft.everywhere else "All conversations ›",
        ChooseSessions(now.id, 0, not draft.everywhere),
    )
    if not found.sessions:
        return CommandReply("There are no sessions here to compose.", rows=[[others]])
    rows = [[session_button(call, now, one, offset)] for one in found.sessions]
    rows += step_rows(offset, PAGE, found.total, lambda to: ChooseSessions(now.id, to, draft.everywhere))
    chosen = f" {pluralize(len(draft.parts), 'session')} chosen." if draft.parts else ""
    rows.append([others, *([button(f"Next ({len(draft.parts)}) ›", ShowDraft(now.id))] if draft.parts else [])])
    text = f"🧩 **{escape_markdown(draft.name)}**\n\nWhich sessions belong together?{chosen}"
    return CommandReply(text, rows=rows)


def session_button(call: ChatContext, now: Drafted, one: ComposableSession, offset: int) -> Button:
    """Returns the button that adds or removes a session."""
    on = one.id in now.draft.parts
    name = shorten(one.title or one.words or "…", 30)
    label = f"{'☑' if on else '☐'} {name} · {local(one.first, call.zone):%d %b} · {format_tokens(one.tokens)}"
    return button(label, TakeSession(now.id, one.id, not on, offset))


def draft_page(now: Drafted) -> CommandReply:
    """Renders a draft: budget, shares, and what it includes of each session."""
    draft = now.draft
    lines = [
        f"🧩 **{escape_markdown(draft.name)}**",
        f"{draft.budget:,} tokens ({share_of_window(draft.budget)}), {STRATEGIES[draft.strategy][1]}",
    ]
    if now.plan:
        lines.append("\n".join(f"{place}. {plan_line(part)}" for place, part in enumerate(now.parts, 1)))
        over = f", {now.plan.total - draft.budget:,} over budget" if now.plan.total > draft.budget else ""
        first = f" {pluralize(now.plan.new, 'session')} will be compressed first." if now.plan.new else ""
        lines.append(f"About {now.plan.total:,} of {draft.budget:,} tokens{over}.{first}")
    else:
        names = [f"{place}. {session_title(part.title, part.words)}" for place, part in enumerate(now.parts, 1)]
        lines += ["\n".join(names)] if names else []
        lines.append(escape_sentence(now.wrong or "Choose at least one session."))
    return CommandReply("\n\n".join(lines), rows=draft_rows(now))


def plan_line(part: ComposedPart) -> str:
    """Says what the draft includes of a session, and why."""
    version = "new" if part.version == "new" else part.version.split("_")[0]
    about = "about " if part.version == "new" else ""
    why = WHY[part.reason or "asked"] + describe_missing(part)
    return f"{session_title(part.title, part.words)} · {version}, {about}{part.estimate:,} – {why}"


def draft_rows(now: Drafted) -> list[list[Button]]:
    """Returns the buttons of a draft."""
    draft, key = now.draft, now.id
    budgets = [button(tick(f"{one // 1000}k", one == draft.budget), ChooseBudget(key, one)) for one in BUDGETS]
    own = tick("Other", draft.budget not in BUDGETS)
    shares = [
        button(tick(label, name == draft.strategy), ChooseStrategy(key, name))
        for name, (label, _) in STRATEGIES.items()
    ]
    numbers = [button(f"{place} ⚙", ShowPart(key, part.session_id)) for place, part in enumerate(now.parts, 1)]
    rows = [[*budgets, button(own, ChooseBudget(key, 0))], shares]
    rows += [numbers[first : first + 5] for first in range(0, len(numbers), 5)]
    last = [button("‹ Sessions", ChooseSessions(key, 0, draft.everywhere))]
    return [*rows, [*last, *([button("✅ Make it", MakeDraft(key))] if now.plan else [])]]


def tick(label: str, chosen: bool) -> str:
    """Puts a tick before the label of a chosen option."""
    return f"✓ {label}" if chosen else label


def part_page(now: Drafted, session_id: int) -> CommandReply:
    """Renders a session of a draft: what can be included of it, its share and its place."""
    part = now.part(session_id)
    lines = [f"**{session_title(part.title, part.words)}**"]
    if part.messages:
        lines.append(f"{pluralize(part.messages, 'message')}, {part.tokens or 0:,} tokens. {share_line(part)}".strip())
    lines.append(escape_sentence(now.wrong) if now.wrong else "What should I use for it?")
    chosen = part.asked.version or AUTO
    rows = [
        [button(tick(label, version == chosen), ChooseVersion(now.id, session_id, version))]
        for version, label in version_choices(part)
    ]
    acts = [*share_rows(now, part), *place_rows(now, part)]
    out = [button("🗑 Leave it out", TakeSession(now.id, session_id, False, 0)), button("‹ Back", ShowDraft(now.id))]
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


def share_rows(now: Drafted, part: ComposedPart) -> list[list[Button]]:
    """Returns the buttons that change a session's share, if its size depends on that."""
    own = part.asked.allocation
    if part.asked.version not in (None, "new"):
        return []
    share = own or part.allocation or 0
    more, less = two_digits(share * 4 // 3), two_digits(share * 3 // 4)
    row = []
    if 0 < share < (part.tokens or 0):
        row.append(button("Larger share", AllocatePart(now.id, part.session_id, more)))
    row += [button("Smaller share", AllocatePart(now.id, part.session_id, less))] if less else []
    row += [button("↩ Usual share", AllocatePart(now.id, part.session_id, 0))] if own else []
    return [row] if row else []


def place_rows(now: Drafted, part: ComposedPart) -> list[list[Button]]:
    """Returns the buttons that move a session among the others."""
    row = [button("↑ Earlier", MovePart(now.id, part.session_id, False))] if part != now.parts[0] else []
    row += [button("↓ Later", MovePart(now.id, part.session_id, True))] if part != now.parts[-1] else []
    return [row] if row else []
