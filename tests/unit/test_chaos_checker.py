"""The checker of a chaos run detects every broken promise."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.chaos.answers import KEPT, WORD, heard, made_up, whole_answer
from tests.chaos.checker import Verdict, verdict
from tests.chaos.reading import surprises
from tests.chaos.record import Count, Kept, Question, Record, Shown

HERE, THERE = (7, 0), (-100, 3)


def record() -> Record:
    """Three questions in one place and one in another, all answered correctly."""
    asked = [Question(1, HERE, 7), Question(2, THERE, 8), Question(4, HERE, 7), Question(5, HERE, 7)]
    shown = [
        Shown(HERE, 10, (1,), (), True),
        Shown(THERE, 11, (2,), (), True),
        Shown(HERE, 12, (4, 5), (4,), True),
    ]
    return Record(asked, shown, kept=[Kept(made_up(4), 7)], counts=[Count("exchanges", 3, 3)])


def broken(record: Record) -> list[str]:
    """The promises that a record breaks."""
    told = judged(record)
    return [promise for promise, trouble in told.broken.items() if trouble]


def judged(record: Record) -> Verdict:
    return verdict(record, made_up)


def test_a_record_without_faults_passes() -> None:
    told = judged(record())
    assert told.whole
    assert (told.asked, told.once, told.windows) == (4, 4, [])


def test_a_lost_message_is_detected() -> None:
    one = record()
    del one.shown[1]
    assert broken(one) == ["nothing is lost"]


def test_a_double_answer_is_detected() -> None:
    one = record()
    one.shown.append(Shown(HERE, 13, (5,), (), True))
    assert broken(one) == ["nothing is answered twice"]
    assert judged(one).once == 3


def test_an_unavoidable_double_answer_is_counted_separately() -> None:
    one = record()
    one.shown[0] = replace(one.shown[0], known=False, unheard="its response was lost")
    one.shown.insert(1, Shown(HERE, 11, (1,), (), True))
    told = judged(one)
    assert told.whole
    assert told.windows == ["q1 in (7, 0): its response was lost"]


@pytest.mark.parametrize(("known", "unheard"), [(True, "its response was lost"), (False, "")])
def test_a_double_answer_needs_both_reasons_to_be_excused(known: bool, unheard: str) -> None:
    one = record()
    one.shown[0] = replace(one.shown[0], known=known, unheard=unheard)
    one.shown.insert(1, Shown(HERE, 11, (1,), (), True))
    assert broken(one) == ["nothing is answered twice"]


def test_a_swapped_order_is_detected() -> None:
    one = record()
    one.shown[2] = replace(one.shown[2], message_id=9)
    assert broken(one) == ["the order of each thread is kept"]


def test_an_order_swapped_within_one_message_is_detected() -> None:
    one = record()
    one.shown[2] = replace(one.shown[2], answers=(5, 4))
    assert broken(one) == ["the order of each thread is kept"]


def test_an_answer_in_another_place_is_detected() -> None:
    one = record()
    one.shown[1] = replace(one.shown[1], place=HERE)
    assert broken(one) == ["nothing is lost", "answers are where the question was"]


def test_lost_doubled_misplaced_and_unasked_memories_are_detected() -> None:
    for kept, promise in (
        ([], "no memory is lost"),
        ([Kept(made_up(4), 7)] * 2, "no memory is doubled"),
        ([Kept(made_up(4), 7), Kept("Something else", 7)], "no memory came unasked"),
    ):
        one = record()
        one.kept = kept
        assert broken(one) == [promise]
    one.kept = [Kept(made_up(4), 8)]
    assert broken(one) == ["no memory is lost", "no memory came unasked"]


def test_a_command_with_no_reply_or_two_replies_is_detected() -> None:
    one = record()
    one.commands = {(HERE, "/status"): 1}
    assert broken(one) == ["nothing is lost"]
    one.shown += [Shown(HERE, 13, (), (), True, command="/status")]
    assert broken(one) == []
    one.shown += [Shown(HERE, 14, (), (), True, command="/status")]
    assert broken(one) == ["nothing is answered twice"]
    one.shown[-1] = replace(one.shown[-1], known=False, unheard="a kill")
    assert judged(one).windows == ["/status in (7, 0): a kill"]


def test_an_edit_without_an_offer_to_answer_again_is_detected() -> None:
    one = record()
    one.unoffered = [5]
    assert broken(one) == ["nothing is lost"]


def test_commands_may_be_answered_out_of_order() -> None:
    one = record()
    one.asked[0] = replace(one.asked[0], ordered=False)
    one.shown[0] = replace(one.shown[0], message_id=13)
    assert broken(one) == []


def test_a_memory_that_was_undone_must_not_be_kept() -> None:
    one = record()
    one.undone = {4}
    assert broken(one) == ["no memory came unasked"]
    one.kept = []
    assert broken(one) == []


def test_a_memory_from_an_edited_question_belongs_to_its_author() -> None:
    one = record()
    one.edited, one.shown[2] = {8: 4}, replace(one.shown[2], kept=(8,))
    assert broken(one) == ["no memory is lost", "no memory came unasked"]
    one.kept = [Kept(made_up(8), 7)]
    assert broken(one) == []


def test_wrong_counts_remaining_processes_and_logged_errors_are_detected() -> None:
    one = record()
    one.counts.append(Count("turns", 4, 3))
    one.left.append("a process: postgres")
    one.logged.append("Traceback")
    assert broken(one) == ["what is counted is right", "nothing is left behind", "no error comes as a surprise"]
    assert "BROKEN  what is counted is right: 1" in judged(one).lines()


def test_the_model_says_each_word_once_and_resumes_where_it_broke_off() -> None:
    whole = whole_answer([3, 4, 5])
    assert WORD.findall(whole) == ["3", "4", "5"]
    assert KEPT.findall(whole) == ["4", "3"]
    asked = [{"role": "user", "content": "q1"}, {"role": "assistant", "content": "Answer: q1."}]
    asked += [{"role": "user", "content": "q2 q3"}]
    assert heard(asked) == ([2, 3], False, "")
    told = [{"role": "assistant", "content": "Answer: q"}, {"role": "user", "content": "(It broke off.)"}]
    assert heard(asked + told) == ([2, 3], False, "Answer: q")
    recalled = "<context>\n<recalled>\nq7, please\n</recalled>\n</context>\nq8, please"
    assert heard([{"role": "user", "content": recalled}]) == ([8], True, "")
    assert KEPT.findall(whole_answer([8], taught=False)) == []


def test_each_question_has_a_memory_of_its_own() -> None:
    made = [made_up(number) for number in range(3000)]
    assert len(set(made)) == len(made)
    assert all(len(one) <= 200 for one in made)


def test_a_logged_error_is_reported_with_its_whole_traceback(tmp_path: Path) -> None:
    trace = "Traceback (most recent call last):\n" + '  File "x.py", line 1, in x\n' * 200 + "KeyError: 'the cause'"
    entry = {"event": "turn failed", "turn": 7, "exception": trace}
    crash = ["Traceback (most recent call last):", '  File "y.py", line 2', "SystemError: no more"]
    lines = [json.dumps({"event": "begun"}), json.dumps(entry), *crash, json.dumps({"event": "ended"})]
    (tmp_path / "relay.log").write_text("\n".join(lines))
    first, second = surprises([tmp_path / "relay.log"])
    assert first == f'{trace}\n{{"event": "turn failed", "turn": 7}}'
    assert second == "\n".join(crash)
