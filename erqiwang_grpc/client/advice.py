"""The command that a view's advice suggests."""

from erqiwang_grpc.v1 import seat_service_pb2 as pb, view_pb2


def suggested(view: view_pb2.View) -> pb.Command | None:
    """The legal command that the view's advice suggests; None while the seat has to wait.

    A client that always sends this, and nothing else, plays a match to its end.
    """
    return suggestion(view.parts.advice)


def suggestion(advice: view_pb2.AdvicePart) -> pb.Command | None:
    """The legal command that an advice suggests; None while the seat has to wait."""
    match advice.WhichOneof("choice"):
        case "call":
            if advice.call.WhichOneof("suggestion") == "bid":
                return pb.Command(bid=advice.call.bid)
            return pb.Command(pass_bid=advice.call.pass_bid)
        case "name":
            return pb.Command(name_trump=advice.name.suggestion)
        case "bury":
            return pb.Command(bury=advice.bury.suggestion)
        case "lead":
            return pb.Command(play_cards=advice.lead.suggestion)
        case "follow":
            return pb.Command(play_cards=advice.follow.suggestion)
        case "ready":
            return pb.Command(ready=advice.ready.suggestion)
        case None:
            return None
