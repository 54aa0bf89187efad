// Command table plays a match over generated code alone: every seat of a new room, or one seat by its token.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	pb "example.com/table/gen/erqiwang/v1"
)

// deadline is how long a call may take; a stream has none.
const deadline = 10 * time.Second

// mostMoves is how often a lost server is put up with.
const mostMoves = 20

func main() {
	address := flag.String("address", cmp.Or(os.Getenv("ERQIWANG_ADDRESS"), "127.0.0.1:50051"), "the server's, or several of one store, with commas")
	key := flag.String("key", os.Getenv("ERQIWANG_KEY"), "platform key: play every seat")
	gatewayKey := flag.String("gateway-key", os.Getenv("ERQIWANG_GATEWAY_KEY"), "gateway key: play every seat over one stream")
	token := flag.String("token", "", "seat token: play this seat alone")
	lastVersion := flag.Uint64("last-version", 0, "the version that came with the token")
	oneWay := flag.Bool("one-way", false, "play over Watch and Act instead of Play")
	game := flag.String("game", "three", "three or four players")
	flag.Parse()
	log.SetFlags(0)
	var connections []*grpc.ClientConn
	for each := range strings.SplitSeq(*address, ",") {
		connection, err := grpc.NewClient(each, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			log.Fatal(err)
		}
		defer connection.Close()
		connections = append(connections, connection)
	}
	var err error
	seats := []*pb.TakeSeatResponse{{SeatToken: *token, LastVersion: *lastVersion}}
	if *token == "" {
		if seats, err = openTable(bearing(context.Background(), *key), connections[0], *game); err != nil {
			log.Fatal(err)
		}
	}
	watching := ""
	if *token == "" {
		if watching, err = watchToken(bearing(context.Background(), *key), connections[0], seats[0].GetRoom().GetRoomId()); err != nil {
			log.Fatal(err)
		}
	}
	account, err := playAll(context.Background(), connections, *gatewayKey, *oneWay, seats, watching)
	if err != nil {
		log.Fatal(err)
	}
	deals, totals := len(account.GetDeals()), account.GetTotals()
	fmt.Printf("go: seats played %d, deals %d, totals %v, all checks hold\n", len(seats), deals, totals)
}

// bearing adds the credential of a call: the platform's key or a seat's token.
func bearing(ctx context.Context, credential string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+credential)
}

// openTable creates a room and takes its seats: each has a token, and the version to attach with.
func openTable(ctx context.Context, connection *grpc.ClientConn, game string) ([]*pb.TakeSeatResponse, error) {
	ctx, done := context.WithTimeout(ctx, deadline)
	defer done()
	rooms := pb.NewRoomServiceClient(connection)
	options := &pb.RoomOptions{Game: &pb.RoomOptions_ThreePlayer{ThreePlayer: &pb.ThreePlayerGame{}}}
	if game == "four" {
		options.Game = &pb.RoomOptions_FourPlayer{FourPlayer: &pb.FourPlayerGame{}}
	}
	created, err := rooms.CreateRoom(ctx, &pb.CreateRoomRequest{
		CommandId: uuid.NewString(),
		Owner:     "player 0",
		Choice:    &pb.RoomChoice{Choice: &pb.RoomChoice_Options{Options: options}},
	})
	if err != nil {
		return nil, err
	}
	var seats []*pb.TakeSeatResponse
	for _, seat := range created.GetRoom().GetSeats() {
		taken, err := rooms.TakeSeat(ctx, &pb.TakeSeatRequest{
			RoomId:    created.GetRoom().GetRoomId(),
			Player:    fmt.Sprintf("player %d", seat.GetSeat()),
			Seat:      proto.Uint32(seat.GetSeat()),
			CommandId: uuid.NewString(),
		})
		if err != nil {
			return nil, err
		}
		seats = append(seats, taken)
	}
	return seats, nil
}

// playAll plays these seats at the same time and returns the account that they all agree on. With a gateway key they share
// one stream; without one each has its own. With a watch token a spectator sees the match too.
func playAll(ctx context.Context, connections []*grpc.ClientConn, gatewayKey string, oneWay bool, seats []*pb.TakeSeatResponse, watching string) (*pb.Account, error) {
	var servers []pb.SeatServiceClient
	for _, connection := range connections {
		servers = append(servers, pb.NewSeatServiceClient(connection))
	}
	players := make([]*player, len(seats))
	for number, taken := range seats {
		players[number] = &player{servers: servers, version: taken.GetLastVersion(), oneWay: oneWay}
	}
	spectator := &player{servers: servers}
	seen := make(chan error, 1)
	if watching != "" {
		go func() { seen <- spectator.spectate(bearing(ctx, watching)) }()
	}
	if gatewayKey != "" {
		gateway := &gateway{gateways: pb.NewGatewayServiceClient(connections[0]), players: players, taken: seats}
		if err := gateway.play(bearing(ctx, gatewayKey)); err != nil {
			return nil, err
		}
	}
	accounts := make([]*pb.Account, len(seats))
	group, ctx := errgroup.WithContext(ctx)
	for number, taken := range seats {
		group.Go(func() (err error) {
			// A seat whose match is over already opens no stream.
			accounts[number], err = players[number].play(bearing(ctx, taken.GetSeatToken()))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, account := range accounts {
		if !proto.Equal(account, accounts[0]) {
			return nil, fmt.Errorf("seats disagree: %v and %v", account, accounts[0])
		}
	}
	if watching != "" {
		if err := <-seen; err != nil {
			return nil, err
		}
		if err := spectator.sawAll(players[0]); err != nil {
			return nil, err
		}
	}
	return accounts[0], nil
}
