"""Pages of lists: an opaque cursor, and the most rows of a page."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import create_model

from relay.core.frozen import frozen
from relay.core.limits import MAX_OFFSET
from relay.surfaces.http.wire import ID, WireModel, wire


@frozen
class Paging:
    """The requested rows of a list."""

    offset: int
    limit: int

    def next_of(self, total: int) -> str | None:
        """Returns the cursor of the next page of a list with `total` rows; None after the last page."""
        end = self.offset + self.limit
        return str(end) if end < min(total, MAX_OFFSET) else None

    def page_of(self, plural: str, rows: Sequence[object], total: int) -> dict[str, Any]:
        """Returns a page in the shape of `paged`."""
        return {plural: rows, "total": total, "next": self.next_of(total)}

    def extend(self, plural: str, page: Any, total: int) -> dict[str, Any]:
        """Returns a command's own page with the number of all rows of the list, and the cursor of the next page. Behind
        the last row there are none; a command shows its last page again, as the chat does."""
        fields = {field.name: getattr(page, field.name) for field in dataclasses.fields(page)}
        rows = fields[plural] if self.offset < max(total, 1) else ()
        return fields | self.page_of(plural, rows, total)


def paging(
    cursor: Annotated[str, Query(pattern=r"^[0-9]{0,7}$", description="`next` of the previous page.")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Paging:
    """Reads the paging parameters."""
    return Paging(min(int(cursor or 0), MAX_OFFSET), limit)


Page = Annotated[Paging, Depends(paging)]


def _space(
    space: Annotated[str, Query(pattern=f"^(|{ID})$", description="A group's space; empty: the person's own.")] = "",
) -> int:
    return int(space or 0)


Space = Annotated[int, Depends(_space)]
"""The id of a space; 0: the person's own."""


@functools.cache
def paged(plural: str, row: type) -> type[WireModel]:
    """Makes the model of a page: the rows under their plural, the number of all rows, the cursor of the next page."""
    fields: dict[str, Any] = {plural: (types.GenericAlias(list, (wire(row),)), ...)}
    name = plural[:1].upper() + plural[1:]
    return create_model(name, __base__=WireModel, total=(int, ...), next=(str | None, ...), **fields)


def extended(name: str, about: str, page: type) -> type[WireModel]:
    """Makes the model of a command's own page with the cursor of the next one; see `Paging.extend`."""
    return create_model(name, __base__=wire(page), __doc__=about, next=(str | None, ...))
