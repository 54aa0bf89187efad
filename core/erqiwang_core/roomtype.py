"""`roomtype`: the options of a room as a string of bits (rules §14)."""

from erqiwang_core.options import FourPlayer, Game, Length, Payer, RoomOptions, ThreePlayer


def parse_roomtype(text: object, game: Game | None = None) -> RoomOptions:
    """The options that a `roomtype` string stands for; whatever is missing or no string counts as '0' (rules §14).

    Its bits for joker bonus and climb speak of the three-player game and are passed over when another `game` is given.
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
    """The `roomtype` string of those options; the two bits a four-player room lacks are '0'."""
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
    """Joker bonus and climb."""
    match game:
        case ThreePlayer(joker_bonus, climb):
            return joker_bonus, climb
        case FourPlayer():
            return False, False
