package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "example.com/table/gen/erqiwang/v1"
)

// converseOneWay is converse for a client that cannot stream both ways: it is told by Watch, and acts by Act.
func (p *player) converseOneWay(ctx context.Context) error {
	ctx, drop := context.WithCancel(ctx)
	defer drop()
	p.streams++
	stream, err := p.server().Watch(ctx, &pb.WatchRequest{LastVersion: proto.Uint64(p.version)})
	if err != nil {
		return p.lost(err)
	}
	for {
		response, err := stream.Recv()
		if err != nil {
			return p.lost(err)
		}
		for _, message := range response.GetMessages() {
			if err := p.hear(message); err != nil {
				return err
			}
		}
		if p.over() {
			return nil
		}
		if command := p.command(); p.awaiting == nil && command != nil && p.version != p.acted {
			if p.streams == 1+p.moves && p.inTheMiddle() {
				return nil
			}
			p.awaiting = &pb.PlayRequest{CommandId: uuid.NewString(), Request: &pb.PlayRequest_Command{Command: command}}
		}
		if p.awaiting == nil {
			continue
		}
		p.acted = p.version
		if err := p.act(ctx); err != nil {
			return p.lost(err)
		}
	}
}

// act sends the command that is not answered yet. Where no answer comes it is sent again under the same id.
func (p *player) act(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, deadline)
	defer done()
	request := &pb.ActRequest{CommandId: p.awaiting.GetCommandId(), Command: p.awaiting.GetCommand()}
	if _, err := p.server().Act(ctx, request); err != nil {
		return err
	}
	p.awaiting = nil
	return nil
}

// watchToken is a token for spectators who are told everything public at once.
func watchToken(ctx context.Context, connection *grpc.ClientConn, room string) (string, error) {
	ctx, done := context.WithTimeout(ctx, deadline)
	defer done()
	request := &pb.CreateWatchTokenRequest{RoomId: room, Told: &pb.CreateWatchTokenRequest_Delay{}}
	given, err := pb.NewRoomServiceClient(connection).CreateWatchToken(ctx, request)
	return given.GetWatchToken(), err
}

// spectate watches to the end of the match, without a seat. The context carries a watch token.
func (p *player) spectate(ctx context.Context) error {
	for !p.over() {
		stream, err := p.server().Watch(ctx, &pb.WatchRequest{LastVersion: proto.Uint64(p.version)})
		for err == nil {
			var response *pb.PlayResponse
			response, err = stream.Recv()
			for _, message := range response.GetMessages() {
				if err := p.hear(message); err != nil {
					return err
				}
			}
		}
		// The stream of a spectator ends with OK once the end of the match was told.
		if errors.Is(err, io.EOF) {
			break
		}
		if err := p.lost(err); err != nil {
			return err
		}
	}
	if !p.over() || p.view.Seat != nil {
		return fmt.Errorf("the spectator's stream ended in %v", p.view.GetParts().GetProgress().GetPhase())
	}
	return nil
}

// ownParts is the number of the first part that is a seat's own.
const ownParts = 16

// sawAll checks that a spectator holds what every seat was told, and nothing else.
func (p *player) sawAll(seat *player) error {
	public := proto.CloneOf(seat.view.GetParts())
	public.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if field.Number() >= ownParts {
			public.ProtoReflect().Clear(field)
		}
		return true
	})
	if !proto.Equal(public, p.view.GetParts()) {
		return fmt.Errorf("a spectator saw %v, and a seat %v", p.view.GetParts(), public)
	}
	return nil
}
