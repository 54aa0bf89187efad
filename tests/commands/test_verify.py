"""`erqiwang verify`: what it computes, from arguments, files and standard input, and what it makes of it."""

import io
import json
from base64 import b64encode
from pathlib import Path
from random import Random

import pytest
from erqiwang_core.kernel.cards import SHORT_DECK
from erqiwang_core.options import Deck, FourPlayer, ThreePlayer
from erqiwang_core.rules import game_rules

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.shuffling import commitment, seeded
from erqiwang_grpc.tools.verify import DOES_NOT_OPEN, NOT_UNDERSTOOD, OPENS

SHUFFLED = seeded(1)(game_rules(ThreePlayer(), review=True))
FULL = seeded(2)(game_rules(FourPlayer(Deck.FULL), review=True))


def hexadecimal() -> dict[str, object]:
    return {"commitment": SHUFFLED.commitment.hex(), "salt": SHUFFLED.salt.hex(), "order": list(SHUFFLED.order)}


def arguments(committed: bytes, salt: bytes, order: tuple[int, ...]) -> list[str]:
    ids = ",".join(str(card) for card in order)
    return ["verify", "--commitment", committed.hex(), "--salt", salt.hex(), "--order", ids]


def test_says_what_it_computed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(SHUFFLED.commitment, SHUFFLED.salt, SHUFFLED.order)) == OPENS
    said = capsys.readouterr().out
    assert SHUFFLED.salt.hex() in said
    assert " ".join(str(card) for card in SHUFFLED.order) in said
    assert said.count(commitment(SHUFFLED.salt, SHUFFLED.order).hex()) == 2
    assert "short deck" in said


def test_any_two_cards_exchanged_are_found() -> None:
    random = Random(1)
    for _ in range(20):
        one, other = random.sample(range(len(SHUFFLED.order)), 2)
        order = list(SHUFFLED.order)
        order[one], order[other] = order[other], order[one]
        assert main(arguments(SHUFFLED.commitment, SHUFFLED.salt, tuple(order))) == DOES_NOT_OPEN


def test_another_salt_is_found() -> None:
    assert main(arguments(SHUFFLED.commitment, FULL.salt, SHUFFLED.order)) == DOES_NOT_OPEN


def test_a_deck_with_a_card_twice_is_found_though_it_was_committed_to(capsys: pytest.CaptureFixture[str]) -> None:
    order = (*SHORT_DECK[:-1], SHORT_DECK[0])
    assert main(arguments(commitment(SHUFFLED.salt, order), SHUFFLED.salt, order)) == DOES_NOT_OPEN
    assert "no whole deck" in capsys.readouterr().out


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(hexadecimal(), id="hexadecimal"),
        pytest.param({"deals": [{"number": 1, **hexadecimal()}, {"number": 2, **hexadecimal()}]}, id="several deals"),
        pytest.param(
            {
                "commitment": b64encode(FULL.commitment).decode(),
                "salt": b64encode(FULL.salt).decode(),
                "order": b64encode(bytes(FULL.order)).decode(),
            },
            id="base64, as protobuf writes bytes",
        ),
        pytest.param(
            {
                "roomId": "r",
                "parts": {
                    "progress": {"commitment": b64encode(FULL.commitment).decode()},
                    "settlement": {"salt": b64encode(FULL.salt).decode(), "deck": list(FULL.order)},
                },
            },
            id="a view of a settled deal",
        ),
    ],
)
def test_reads_json(written: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "record.json"
    file.write_text(json.dumps(written))
    assert main(["verify", str(file)]) == OPENS
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(written)))
    assert main(["verify", "-"]) == OPENS


def test_one_wrong_deal_among_several_is_the_verdict(tmp_path: Path) -> None:
    wrong = hexadecimal() | {"salt": FULL.salt.hex()}
    file = tmp_path / "record.json"
    file.write_text(json.dumps([hexadecimal(), wrong, hexadecimal()]))
    assert main(["verify", str(file)]) == DOES_NOT_OPEN


@pytest.mark.parametrize(
    ("written", "why"),
    [
        pytest.param("{", "no JSON", id="no JSON"),
        pytest.param("[" * 100_000, "no JSON", id="nested without end"),
        pytest.param('{"salt": "00"}', "no object", id="nothing in it"),
        pytest.param(json.dumps(hexadecimal() | {"salt": "00"}), "salt", id="short salt"),
        pytest.param(json.dumps(hexadecimal() | {"commitment": "zz"}), "commitment", id="no digest"),
        pytest.param(json.dumps(hexadecimal() | {"order": [1, 256]}), "order", id="card out of range"),
        pytest.param(json.dumps(hexadecimal() | {"order": [1, True]}), "order", id="card that is no number"),
        pytest.param(json.dumps(hexadecimal() | {"order": "…"}), "order", id="order that is no bytes"),
    ],
)
def test_says_what_it_does_not_understand(
    written: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "record.json"
    file.write_text(written)
    assert main(["verify", str(file)]) == NOT_UNDERSTOOD
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    "given",
    [
        pytest.param([], id="nothing"),
        pytest.param(["--salt", "00"], id="a part"),
        pytest.param(["no-such-file.json"], id="no such file"),
        pytest.param(["-", "--salt", "00"], id="both"),
    ],
)
def test_says_what_to_give(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", *given]) == NOT_UNDERSTOOD
    assert capsys.readouterr().err.startswith("erqiwang verify: ")
