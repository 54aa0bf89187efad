package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	pb "example.com/table/gen/erqiwang/v1"
)

// gateway plays many seats over one stream. The handle of a seat is its place in the list.
type gateway struct {
	gateways pb.GatewayServiceClient
	players  []*player
	taken    []*pb.TakeSeatResponse
}

// play plays every seat to the end of its match. The context carries the gateway's key.
func (g *gateway) play(ctx context.Context) error {
	for !g.over() {
		if err := g.converse(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (g *gateway) over() bool {
	for _, player := range g.players {
		if !player.over() {
			return false
		}
	}
	return true
}

// isToDrop tells whether the first connection is to be dropped: whose turn it is holds back, and all have heard everything.
func (g *gateway) isToDrop() bool {
	for _, player := range g.players {
		if player.streams != 1 || !player.inTheMiddle() || player.awaiting != nil || player.version != g.players[0].version {
			return false
		}
	}
	return true
}

// converse holds one stream, until every match is over or, in the middle of one, the first connection is dropped.
func (g *gateway) converse(ctx context.Context) error {
	ctx, drop := context.WithCancel(ctx)
	defer drop()
	stream, err := g.gateways.Connect(ctx)
	if err != nil {
		return err
	}
	// A send that fails says nothing: where the stream has ended, Recv gives what was still said, and then why.
	_ = stream.Send(&pb.ConnectRequest{Requests: g.opening()})
	for {
		response, err := stream.Recv()
		if err != nil {
			return fmt.Errorf("the stream has ended: %w", err)
		}
		if goodbye := response.GetGoodbye(); goodbye != nil {
			return fmt.Errorf("goodbye: %v", goodbye.GetReason())
		}
		var asked []*pb.SeatRequest
		for _, told := range response.GetSeats() {
			command, err := g.hear(told)
			if err != nil {
				return err
			}
			player := g.players[told.GetHandle()]
			if command == nil || player.streams == 1 && player.inTheMiddle() {
				continue
			}
			player.awaiting = &pb.PlayRequest{CommandId: uuid.NewString()}
			request := &pb.SeatRequest_Command{Command: command}
			asked = append(asked, &pb.SeatRequest{Handle: told.GetHandle(), CommandId: player.awaiting.GetCommandId(), Request: request})
		}
		if g.over() || g.isToDrop() {
			return nil
		}
		// What many seats say together is one message.
		if len(asked) > 0 {
			_ = stream.Send(&pb.ConnectRequest{Requests: asked})
		}
	}
}

// opening asks for every seat, from the last version that it has seen.
func (g *gateway) opening() []*pb.SeatRequest {
	var asked []*pb.SeatRequest
	for handle, player := range g.players {
		player.streams++
		player.awaiting = nil
		open := &pb.OpenSeat{SeatToken: g.taken[handle].GetSeatToken(), LastVersion: proto.Uint64(player.version)}
		asked = append(asked, &pb.SeatRequest{Handle: uint32(handle), Request: &pb.SeatRequest_Open{Open: open}})
	}
	return asked
}

// hear takes in what a seat is told, and returns what it has to say; nil if it has to wait.
func (g *gateway) hear(told *pb.SeatMessages) (*pb.Command, error) {
	player := g.players[told.GetHandle()]
	for _, message := range told.GetMessages() {
		if err := player.hear(message); err != nil {
			return nil, err
		}
	}
	if ended := told.GetEnded(); ended != nil {
		return nil, fmt.Errorf("seat %d has ended: %s %s", told.GetHandle(), ended.GetReason(), ended.GetMessage())
	}
	if player.awaiting != nil || player.over() {
		return nil, nil
	}
	return player.command(), nil
}
