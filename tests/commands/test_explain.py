"""`erqiwang explain`: what it says of a hand, a trump and a lead."""

import pytest

from erqiwang_grpc.__main__ import main


def rows(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict[str, str]:
    """What the command prints, by the word each row starts with."""
    assert main(["explain", *arguments]) == status
    lines = capsys.readouterr().out.splitlines()
    return {line[:10].strip(): line[11:] for line in lines}


@pytest.mark.parametrize(
    ("hand", "lead", "answer", "must", "may", "legal"),
    [
        pytest.param(
            "hA h10 s7 d5",
            "hK",
            "1 of the 2 hearts, whichever",
            "no card in particular",
            "♥A ♥10",
            "♥A | ♥10",
            id="a single: any heart",
        ),
        pytest.param(
            "hA hA hK d5",
            "h9 h9",
            "2 of the 3 hearts, 1 pair among them",
            "♥A ♥A",
            "♥A ♥A",
            "♥A ♥A",
            id="a pair: the pair",
        ),
        pytest.param(
            "hA hA hK hK",
            "h9 h9",
            "2 of the 4 hearts, 1 pair among them",
            "no card in particular",
            "♥A ♥A ♥K ♥K",
            "♥A ♥A | ♥K ♥K",
            id="a pair: either, and no card is compulsory",
        ),
        pytest.param(
            "hA hK h5 d5",
            "h9 h9",
            "2 of the 3 hearts, whichever, as there is no pair among the hearts",
            "no card in particular",
            "♥A ♥K ♥5",
            "♥A ♥K | ♥A ♥5 | ♥K ♥5",
            id="a pair: none held",
        ),
        pytest.param(
            "hA hA hK hK h9 h9 h5 h6",
            "hQ hQ hJ hJ h10 h10",
            "6 of the 8 hearts, a tractor of 2 pairs and 1 more pair among them",
            "♥A ♥A ♥K ♥K ♥9 ♥9",
            "♥A ♥A ♥K ♥K ♥9 ♥9",
            "♥A ♥A ♥K ♥K ♥9 ♥9",
            id="three pairs in a row against two and a loose one",
        ),
        pytest.param(
            "hA d5 d6",
            "h9 h9",
            "all hearts of the hand (1) and any 1 other card",
            "♥A",
            "♥A ♦6 ♦5",
            "♥A ♦6 | ♥A ♦5",
            id="too few",
        ),
        pytest.param(
            "hA hK d6",
            "h9 h9",
            "all hearts of the hand (2)",
            "♥A ♥K",
            "♥A ♥K",
            "♥A ♥K",
            id="just enough",
        ),
        pytest.param(
            "s5 d6",
            "h9",
            "any 1 card, as the hand holds no hearts; trumps that make a single ruff",
            "no card in particular",
            "♠5 ♦6",
            "♠5 | ♦6",
            id="void",
        ),
        pytest.param(
            "sA sA sK sK s9 s6 d6",
            "BJ BJ SJ SJ s10",
            "5 of the 6 trumps, a tractor of 2 pairs among them",
            "♠A ♠A ♠K ♠K",
            "♠A ♠A ♠K ♠K ♠9 ♠6",
            "♠A ♠A ♠K ♠K ♠9 | ♠A ♠A ♠K ♠K ♠6",
            id="a throw",
        ),
    ],
)
def test_what_follows(
    capsys: pytest.CaptureFixture[str], hand: str, lead: str, answer: str, must: str, may: str, legal: str
) -> None:
    said = rows(capsys, "--hand", hand, "--trump", "s", "--lead", lead)
    assert (said["answer"], said["must"], said["may"], said["legal"]) == (answer, must, may, legal)
    assert said["suggested"].split(" (")[0] in legal.split(" | ")


@pytest.mark.parametrize(
    ("play", "verdict"),
    [
        pytest.param("hA hA hK hK", "legal", id="legal"),
        pytest.param("hA hA", "illegal: 4 cards led, 2 played", id="too few"),
        pytest.param("hA hA hK hQ", "illegal: the hand does not hold ♥Q", id="not held"),
        pytest.param("hA hA h5 h5", "illegal: the hand does not hold ♥5 twice", id="held once"),
        pytest.param("hA hA hK d5", "illegal: there are enough hearts, so every card has to be one", id="another suit"),
        pytest.param("hA hA h6 h6", "illegal: a tractor of 2 pairs is held and has to be played", id="no tractor"),
    ],
)
def test_a_play_is_judged(capsys: pytest.CaptureFixture[str], play: str, verdict: str) -> None:
    question = ("--hand", "hA hA hK hK h6 h6 h5 d5", "--trump", "♠", "--lead", "h10 h10 h9 h9")
    said = rows(capsys, *question, "--play", play, status=0 if verdict == "legal" else 1)
    assert said["play"].split(": ", 1)[1] == verdict


def test_what_may_be_led(capsys: pytest.CaptureFixture[str]) -> None:
    said = rows(capsys, "--hand", "s7 s7 h7 dK", "--trump", "no trump", "--play", "s7 dK", status=1)
    assert said["may lead"] == "♦K | ♥7 | ♠7 | ♠7 ♠7"
    assert said["play"] == "♠7 ♦K: illegal: they are trumps and diamonds, and a lead is of one group"


def test_a_lead_is_judged(capsys: pytest.CaptureFixture[str]) -> None:
    said = rows(capsys, "--hand", "s7 s7 h7 dK", "--trump", "s", "--play", "s7 s7 h7")
    assert said["play"] == "♠7 ♠7 ♥7: legal, a throw of a pair and a single of trumps"


def test_too_many_plays_are_not_written_down(capsys: pytest.CaptureFixture[str]) -> None:
    hand = "sA sK sQ sJ s10 s9 s8 s6 s5 s2 h2 c2 d2 s7 h7 c7 d7 SJ"
    lead = "BJ BJ h7 h2 s7 s2 c7 c2"
    assert rows(capsys, "--hand", hand, "--trump", "s", "--lead", lead)["legal"] == "too many plays to write down"


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        pytest.param(["--hand", "hA x9", "--trump", "s"], "--hand: 'x9' is no card", id="no card"),
        pytest.param(["--hand", "hA hA hA", "--trump", "s"], "--hand: ♥A is there three times", id="three copies"),
        pytest.param(["--hand", "", "--trump", "s"], "--hand: name at least one card", id="no hand"),
        pytest.param(["--hand", "hA", "--trump", "x"], "--trump: 'x' is no trump", id="no trump"),
        pytest.param(
            ["--hand", "hA hA", "--trump", "s", "--lead", "hA"], "--lead: with the hand, ♥A is there", id="third copy"
        ),
        pytest.param(
            ["--hand", "hA hK", "--trump", "s", "--lead", "h9 d9"],
            "--lead: ♥9 ♦9 may not be led: they are diamonds and hearts",
            id="two suits led",
        ),
        pytest.param(
            ["--hand", "hA hK", "--trump", "s", "--lead", "h9 h10"],
            "--lead: ♥10 ♥9 may not be led: they are no single, pair or tractor",
            id="a side suit thrown",
        ),
        pytest.param(
            ["--hand", "hA", "--trump", "s", "--lead", "h9 h9"], "--lead: 2 cards led, and the hand holds 1", id="short"
        ),
    ],
)
def test_bad_text_is_answered_in_words(capsys: pytest.CaptureFixture[str], arguments: list[str], fault: str) -> None:
    assert main(["explain", *arguments]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"erqiwang explain: {fault}")
    assert not said.out
