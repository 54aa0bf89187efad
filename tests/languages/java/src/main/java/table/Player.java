package table;

import erqiwang.v1.Account;
import erqiwang.v1.AdvicePart;
import erqiwang.v1.Attach;
import erqiwang.v1.Command;
import erqiwang.v1.GetViewRequest;
import erqiwang.v1.Goodbye;
import erqiwang.v1.HistoryPart;
import erqiwang.v1.Notice;
import erqiwang.v1.Parts;
import erqiwang.v1.Phase;
import erqiwang.v1.PlayRequest;
import erqiwang.v1.PlayResponse;
import erqiwang.v1.SeatMessage;
import erqiwang.v1.SeatServiceGrpc;
import erqiwang.v1.SeatServiceGrpc.SeatServiceBlockingV2Stub;
import erqiwang.v1.SettlementPart;
import erqiwang.v1.Snapshot;
import erqiwang.v1.Trick;
import erqiwang.v1.View;
import io.grpc.CallCredentials;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.BlockingClientCall;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * One seat, from its first snapshot to the end of the match. It knows no rule: it acts on the suggestion in its view, and
 * checks what it is told.
 */
final class Player {
  /** How often a lost server is put up with. */
  private static final int MOST_MOVES = 20;

  private final List<SeatServiceBlockingV2Stub> servers;
  private View view = View.getDefaultInstance();
  private long version; // the last one seen: at first the one before the seat was taken
  private Optional<PlayRequest> awaiting = Optional.empty(); // the command that is not answered yet
  private int streams = 0;
  private int moves = 0; // how often the server was lost
  private int started = 0; // deals whose beginning was told
  private int opened = 0; // decks that were what their commitments said

  Player(List<? extends Channel> channels, CallCredentials token, long lastVersion) {
    version = lastVersion;
    servers =
        channels.stream()
            .map(channel -> SeatServiceGrpc.newBlockingV2Stub(channel).withCallCredentials(token))
            .toList();
  }

  /** Plays to the end; what the match came to. */
  Account play() throws Exception {
    while (!isOver()) {
      try {
        converse();
      } catch (StatusException ended) {
        lose(ended);
      }
    }
    var asking = server().withDeadlineAfter(Client.DEADLINE_SECONDS, TimeUnit.SECONDS);
    check(asking.getView(GetViewRequest.getDefaultInstance()).getSnapshot());
    Account account = view.getParts().getAccount().getAccount();
    for (var deal : account.getDealsList()) {
      require(deal.getScoresList().stream().mapToInt(Integer::intValue).sum() == 0, "scores sum to 0: " + deal);
    }
    require(started == account.getDealsCount(), started + " of " + account.getDealsCount() + " beginnings told");
    require(opened == account.getDealsCount(), opened + " of " + account.getDealsCount() + " decks opened");
    require(streams == 2 + moves, "two streams and one a move, not " + streams);
    return account;
  }

  /** The server in use: after each loss the next one. */
  private SeatServiceBlockingV2Stub server() {
    return servers.get(moves % servers.size());
  }

  /** Goes on to the next server if this one is gone or leaving; fails if there is no other or it is something else. */
  private void lose(StatusException ended) throws StatusException, InterruptedException {
    boolean gone = ended.getStatus().getCode() == Status.Code.UNAVAILABLE;
    if (!gone || moves >= MOST_MOVES * (servers.size() - 1)) {
      throw ended;
    }
    moves++;
    Thread.sleep(200);
  }

  private boolean isOver() {
    return view.getParts().getProgress().getPhase() == Phase.PHASE_OVER;
  }

  /** Whether cards are played in the second half of the match. */
  private boolean isInTheMiddle() {
    var progress = view.getParts().getProgress();
    return progress.getPhase() == Phase.PHASE_PLAYING && progress.getDeal() > progress.getDeals() / 2;
  }

  /** One stream, until the match is over or, in its middle and on our turn, the first connection is dropped. */
  private void converse() throws Exception {
    streams++;
    BlockingClientCall<PlayRequest, PlayResponse> stream = server().play();
    try {
      var attach = Attach.newBuilder().setLastVersion(version);
      say(stream, PlayRequest.newBuilder().setAttach(attach).build());
      if (awaiting.isPresent()) { // its answer may be lost; under the same id it stands once
        say(stream, awaiting.get());
      }
      while (true) {
        PlayResponse response = stream.read();
        require(response != null, "the server holds the stream open");
        for (SeatMessage message : response.getMessagesList()) {
          hear(message);
        }
        if (isOver()) {
          return;
        }
        Optional<Command> command = awaiting.isEmpty() ? command() : Optional.empty();
        if (command.isEmpty()) {
          continue;
        }
        if (streams == 1 + moves && isInTheMiddle()) {
          return;
        }
        String id = UUID.randomUUID().toString();
        awaiting = Optional.of(PlayRequest.newBuilder().setCommandId(id).setCommand(command.get()).build());
        say(stream, awaiting.get());
      }
    } finally {
      stream.cancel("dropped", null);
    }
  }

  /** Sends. Where the stream has ended meanwhile, what there is to read says why, and not the write that failed. */
  private static void say(BlockingClientCall<PlayRequest, PlayResponse> stream, PlayRequest request)
      throws InterruptedException {
    try {
      stream.write(request);
    } catch (StatusException | IllegalStateException ended) {
      // Read on.
    }
  }

  /** Keeps the view up to date. */
  private void hear(SeatMessage message) throws NoSuchAlgorithmException {
    switch (message.getMessageCase()) {
      case SNAPSHOT -> check(message.getSnapshot());
      case NOTICE -> fold(message.getNotice());
      case ACCEPTED -> {
        String answered = message.getAccepted().getCommandId();
        awaiting = awaiting.filter(request -> !request.getCommandId().equals(answered));
      }
      case REFUSED -> throw new IllegalStateException("refused: " + message.getRefused());
      // It decides, whatever status follows. After DISPLACED or UNSEATED a client does not come back by itself. A server
      // that is leaving says DRAINING, and ends the stream with UNAVAILABLE.
      case GOODBYE -> {
        if (message.getGoodbye().getReason() != Goodbye.Reason.REASON_DRAINING) {
          throw new IllegalStateException("goodbye: " + message.getGoodbye().getReason());
        }
      }
      default -> {}
    }
  }

  /** Takes a snapshot. One of the version that we are at must be what the notices have made of the first. */
  private void check(Snapshot snapshot) {
    boolean same = version == snapshot.getVersion() && view.equals(snapshot.getView());
    boolean later = snapshot.getVersion() > version;
    require(!view.hasParts() || same || later, "fold at " + version + " equals snapshot at " + snapshot.getVersion());
    // What happened while we were away: the first deal may have begun before we came.
    started += (int) snapshot.getMissedList().stream().filter(Notice::hasDealStarted).count();
    opened += (int) snapshot.getMissedList().stream().filter(Notice::hasDealEnded).count();
    view = snapshot.getView();
    version = snapshot.getVersion();
  }

  /** Puts the parts that changed in the place of the old ones; finished tricks are added to those that are kept. */
  private void fold(Notice notice) throws NoSuchAlgorithmException {
    require(notice.getVersion() == version + 1, "version " + notice.getVersion() + " after " + version);
    version = notice.getVersion();
    Parts.Builder parts = view.getParts().toBuilder();
    notice.getChanged().getAllFields().forEach(parts::setField);
    if (notice.getChanged().hasHistory()) {
      HistoryPart added = notice.getChanged().getHistory();
      List<Trick> kept = view.getParts().getHistory().getTricksList().subList(0, added.getKept());
      parts.setHistory(HistoryPart.newBuilder().addAllTricks(kept).addAllTricks(added.getTricksList()));
    }
    view = view.toBuilder().setParts(parts).build();
    if (notice.hasDealStarted()) {
      started++;
    }
    if (notice.hasDealEnded()) {
      require(opens(view.getParts()), "the deck is what was committed to");
      opened++;
    }
  }

  /** Whether the deck of a settled deal is the one that was committed to before its first bid. */
  private static boolean opens(Parts parts) throws NoSuchAlgorithmException {
    SettlementPart settled = parts.getSettlement();
    MessageDigest hash = MessageDigest.getInstance("SHA-256");
    hash.update(settled.getSalt().asReadOnlyByteBuffer());
    settled.getDeckList().forEach(card -> hash.update(card.byteValue()));
    return MessageDigest.isEqual(hash.digest(), parts.getProgress().getCommitment().toByteArray());
  }

  /** What the view suggests; nothing where we are to wait. */
  private Optional<Command> command() {
    AdvicePart advice = view.getParts().getAdvice();
    Command.Builder command = Command.newBuilder();
    switch (advice.getChoiceCase()) {
      case CALL -> {
        if (advice.getCall().hasBid()) {
          command.setBid(advice.getCall().getBid());
        } else {
          command.setPassBid(advice.getCall().getPassBid());
        }
      }
      case NAME -> command.setNameTrump(advice.getName().getSuggestion());
      case BURY -> command.setBury(advice.getBury().getSuggestion());
      case LEAD -> command.setPlayCards(advice.getLead().getSuggestion());
      case FOLLOW -> command.setPlayCards(advice.getFollow().getSuggestion());
      case READY -> command.setReady(advice.getReady().getSuggestion());
      case CHOICE_NOT_SET -> {
        return Optional.empty();
      }
    }
    return Optional.of(command.build());
  }

  private static void require(boolean condition, String what) {
    if (!condition) {
      throw new IllegalStateException("does not hold: " + what);
    }
  }
}
