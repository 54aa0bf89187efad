"""`roomtype`: the options of a room as a string of five digits, each 0 or 1 (rules §14)."""

from erqiwang_core.options import FourPlayer, Game, Length, Payer, RoomOptions, ThreePlayer


def parse_roomtype(text: object, game: Game | None = None) -> RoomOptions:
    """The options that a `roomtype` string stands for (rules §14).

    A missing digit counts as 0, and so do all digits of a `text` that is no string. Without `game` the options are for
    the three-player game. If `game` is a four-player game it is taken as given: the text has no digits for its options.
    """
    digits = (text if isinstance(text, str) else "").ljust(5, "0")
    twelve, each, joker_bonus, climb, no_review = (digit == "1" for digit in digits[:5])
    return RoomOptions(
        game=_game(game, joker_bonus=joker_bonus, climb=climb),
        length=Length.TWELVE if twelve else Length.SIX,
        payer=Payer.EACH if each else Payer.OWNER,
        review=not no_review,
    )


def roomtype(options: RoomOptions) -> str:
    """The `roomtype` string of these options. The digits of joker bonus and climb are 0 in a four-player room."""
    joker_bonus, climb = _bits(options.game)
    bits = (
        options.length is Length.TWELVE,
        options.payer is Payer.EACH,
        joker_bonus,
        climb,
        not options.review,
    )
    return "".join("1" if bit else "0" for bit in bits)


def _game(game: Game | None, *, joker_bonus: bool, climb: bool) -> Game:
    match game:
        case None | ThreePlayer():
            return ThreePlayer(joker_bonus, climb)
        case FourPlayer():
            return game


def _bits(game: Game) -> tuple[bool, bool]:
    """Whether the game has the joker bonus, and whether it has climb."""
    match game:
        case ThreePlayer(joker_bonus, climb):
            return joker_bonus, climb
        case FourPlayer():
            return False, False
