"""Tests that frozen classes compare, hash, print and copy as dataclasses do."""

from __future__ import annotations

from dataclasses import asdict, field, fields, replace

import pytest

from relay.core.frozen import frozen


@frozen
class Point:
    """A point with a note that does not count."""

    x: int
    y: int = 0
    note: str = field(default="", compare=False, repr=False)


@frozen(kw_only=True)
class Named(Point):
    """A point with a name."""

    name: str


@frozen
class Counted(Point):
    """A point that counts what it was made from."""

    parts: list[int] = field(default_factory=list)
    count: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", len(self.parts))


class Plain(Counted):
    """A subclass that is no dataclass of its own."""


@frozen
class Empty:
    """Nothing."""


@frozen
class Secret:
    """Prints itself."""

    word: str

    def __repr__(self) -> str:
        return "Secret(…)"


def test_equal_fields_make_equal_objects_of_one_class() -> None:
    assert Point(1, 2, "a") == Point(1, 2, "b")
    assert len({Point(1, 2, "a"), Point(1, 2, "b"), Point(2, 1)}) == 2
    assert Point(1) != Named(x=1, name="home")
    assert Point(1) != (1, 0)
    assert (Empty(), hash(Empty())) == (Empty(), hash(Empty()))


def test_objects_print_and_copy_their_fields() -> None:
    assert repr(Named(x=1, name="home")) == "Named(x=1, y=0, name='home')"
    assert repr(Secret("word")) == "Secret(…)"
    assert replace(Named(x=1, name="home"), y=3) == Named(x=1, y=3, name="home")
    assert asdict(Point(1)) == {"x": 1, "y": 0, "note": ""}
    assert [one.name for one in fields(Named)] == ["x", "y", "note", "name"]


def test_a_subclass_made_first_leaves_its_base_alone() -> None:
    made = Plain(1, parts=[7, 8])
    assert (made.count, made.y, type(made)) == (2, 0, Plain)
    assert Counted(1) == Counted(1)
    assert Counted(1).parts is not Counted(1).parts
    assert Point(1) == Point(1, 0, "other note")


def test_wrong_arguments_are_refused_as_by_a_dataclass() -> None:
    with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="positional"):
        Named(1, 0, "", "here")  # type: ignore[misc]
