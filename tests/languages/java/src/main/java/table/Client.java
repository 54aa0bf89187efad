package table;

import erqiwang.v1.Account;
import erqiwang.v1.CreateRoomRequest;
import erqiwang.v1.FourPlayerGame;
import erqiwang.v1.Room;
import erqiwang.v1.RoomChoice;
import erqiwang.v1.RoomOptions;
import erqiwang.v1.RoomServiceGrpc;
import erqiwang.v1.SeatStatus;
import erqiwang.v1.TakeSeatRequest;
import erqiwang.v1.TakeSeatResponse;
import erqiwang.v1.ThreePlayerGame;
import io.grpc.Channel;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.StatusException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Plays a match over generated code alone: every seat of a new room, or one seat by its token. */
public final class Client {
  /** How long a call may take; a stream has no limit. */
  static final long DEADLINE_SECONDS = 10;

  /**
   * Plays, and prints one line. Flags: --address (one server, or several of one store, with commas), --key (platform key: every seat), --token (one seat), --last-version (the
   * version that came with the token), --game.
   */
  public static void main(String[] arguments) throws Exception {
    Map<String, String> flags = new HashMap<>();
    for (int i = 0; i + 1 < arguments.length; i += 2) {
      flags.put(arguments[i], arguments[i + 1]);
    }
    Map<String, String> environment = System.getenv();
    String address = flags.getOrDefault("--address", environment.getOrDefault("ERQIWANG_ADDRESS", "127.0.0.1:50051"));
    String key = flags.getOrDefault("--key", environment.getOrDefault("ERQIWANG_KEY", ""));
    List<ManagedChannel> channels = new ArrayList<>();
    for (String each : address.split(",")) {
      channels.add(Grpc.newChannelBuilder(each, InsecureChannelCredentials.create()).build());
    }
    try {
      List<TakeSeatResponse> seats =
          flags.containsKey("--token")
              ? List.of(
                  TakeSeatResponse.newBuilder()
                      .setSeatToken(flags.get("--token"))
                      .setLastVersion(Long.parseLong(flags.getOrDefault("--last-version", "0")))
                      .build())
              : openTable(channels.get(0), key, flags.getOrDefault("--game", "three"));
      Account account = playAll(channels, seats);
      System.out.printf(
          "java: seats played %d, deals %d, totals %s, all checks hold%n",
          seats.size(), account.getDealsCount(), account.getTotalsList().toString().replace(",", ""));
    } finally {
      channels.forEach(ManagedChannel::shutdownNow);
    }
  }

  /** Creates a room and takes its seats: of each its token, and the version to attach with. */
  private static List<TakeSeatResponse> openTable(Channel channel, String key, String game) throws StatusException {
    var rooms =
        RoomServiceGrpc.newBlockingV2Stub(channel)
            .withCallCredentials(new Bearer(key))
            .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
    RoomOptions.Builder options = RoomOptions.newBuilder();
    if (game.equals("four")) {
      options.setFourPlayer(FourPlayerGame.getDefaultInstance());
    } else {
      options.setThreePlayer(ThreePlayerGame.getDefaultInstance());
    }
    var create =
        CreateRoomRequest.newBuilder()
            .setCommandId(UUID.randomUUID().toString())
            .setOwner("player 0")
            .setChoice(RoomChoice.newBuilder().setOptions(options))
            .build();
    Room room = rooms.createRoom(create).getRoom();
    List<TakeSeatResponse> seats = new ArrayList<>();
    for (SeatStatus seat : room.getSeatsList()) {
      var take =
          TakeSeatRequest.newBuilder()
              .setRoomId(room.getRoomId())
              .setPlayer("player " + seat.getSeat())
              .setSeat(seat.getSeat())
              .setCommandId(UUID.randomUUID().toString())
              .build();
      seats.add(rooms.takeSeat(take));
    }
    return seats;
  }

  /** Plays these seats at the same time; the account that they all agree on. */
  private static Account playAll(List<? extends Channel> channels, List<TakeSeatResponse> seats) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(seats.size());
    try {
      List<Callable<Account>> players = new ArrayList<>();
      for (TakeSeatResponse seat : seats) {
        players.add(new Player(channels, new Bearer(seat.getSeatToken()), seat.getLastVersion())::play);
      }
      var accounts = new HashSet<Account>();
      for (Future<Account> played : threads.invokeAll(players)) {
        accounts.add(played.get());
      }
      if (accounts.size() != 1) {
        throw new IllegalStateException("seats disagree on the account: " + accounts);
      }
      return accounts.iterator().next();
    } finally {
      threads.shutdownNow();
    }
  }
}
