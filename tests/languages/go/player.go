package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "example.com/table/gen/erqiwang/v1"
)

// player is one seat, from its first snapshot to the end of the match. It knows no rule: it acts on the suggestion in its
// view, and checks what it is told.
type player struct {
	servers  []pb.SeatServiceClient
	view     *pb.View
	version  uint64          // the last one seen: at first the one before the seat was taken
	awaiting *pb.PlayRequest // the command that is not answered yet
	oneWay   bool            // told by Watch, and acting by Act
	acted    uint64          // the version at which it acted last, where it is told one way
	streams  int
	moves    int  // how often the server was lost
	started  int  // deals whose beginning was told
	opened   int  // decks that were what their commitments said
	hinted   bool // whether a hint was given for the view that we had
}

// play plays to the end and returns what the match came to. The context carries the seat's token.
func (p *player) play(ctx context.Context) (*pb.Account, error) {
	for !p.over() {
		converse := p.converse
		if p.oneWay {
			converse = p.converseOneWay
		}
		if err := converse(ctx); err != nil {
			return nil, err
		}
	}
	asking, done := context.WithTimeout(ctx, deadline)
	defer done()
	answer, err := p.server().GetView(asking, &pb.GetViewRequest{})
	if err != nil {
		return nil, err
	}
	if err := p.check(answer.GetSnapshot()); err != nil {
		return nil, err
	}
	account := p.view.GetParts().GetAccount().GetAccount()
	for _, deal := range account.GetDeals() {
		var sum int32
		for _, score := range deal.GetScores() {
			sum += score
		}
		if sum != 0 {
			return nil, fmt.Errorf("scores %v do not sum to 0", deal.GetScores())
		}
	}
	if deals := len(account.GetDeals()); p.started != deals || p.opened != deals || p.streams != 2+p.moves {
		return nil, fmt.Errorf("%d beginnings told and %d decks opened of %d over %d streams", p.started, p.opened, deals, p.streams)
	}
	return account, nil
}

// converse holds one stream, until the match is over or, in its middle and on our turn, the first connection is dropped.
func (p *player) converse(ctx context.Context) error {
	ctx, drop := context.WithCancel(ctx)
	defer drop()
	p.streams++
	stream, err := p.server().Play(ctx)
	if err != nil {
		return p.lost(err)
	}
	attach := &pb.Attach{LastVersion: proto.Uint64(p.version)}
	// A send that fails says nothing: where the stream has ended, Recv gives what was still said, and then why.
	_ = stream.Send(&pb.PlayRequest{Request: &pb.PlayRequest_Attach{Attach: attach}})
	if p.awaiting != nil { // its answer may be lost; under the same id it stands once
		_ = stream.Send(p.awaiting)
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
			if !p.hinted {
				return errors.New("no hint came")
			}
			return nil
		}
		command := p.command()
		if command == nil || p.awaiting != nil {
			continue
		}
		if p.streams == 1+p.moves && p.inTheMiddle() {
			return nil
		}
		if !p.hinted { // answered before the command
			_ = stream.Send(&pb.PlayRequest{CommandId: "hint", Request: &pb.PlayRequest_Hint{Hint: &pb.GetHintRequest{}}})
		}
		p.awaiting = &pb.PlayRequest{CommandId: uuid.NewString(), Request: &pb.PlayRequest_Command{Command: command}}
		_ = stream.Send(p.awaiting)
	}
}

// server is the one in use: after each loss the next one.
func (p *player) server() pb.SeatServiceClient {
	return p.servers[p.moves%len(p.servers)]
}

// lost goes on to the next server if this one is gone or leaving, and says why if there is no other or it is something else.
func (p *player) lost(err error) error {
	if status.Code(err) != codes.Unavailable || p.moves >= mostMoves*(len(p.servers)-1) {
		return fmt.Errorf("the stream has ended: %w", err)
	}
	p.moves++
	time.Sleep(200 * time.Millisecond)
	return nil
}

func (p *player) over() bool {
	return p.view.GetParts().GetProgress().GetPhase() == pb.Phase_PHASE_OVER
}

// inTheMiddle tells whether cards are played in the second half of the match.
func (p *player) inTheMiddle() bool {
	progress := p.view.GetParts().GetProgress()
	return progress.GetPhase() == pb.Phase_PHASE_PLAYING && progress.GetDeal() > progress.GetDeals()/2
}

// hear keeps the view up to date.
func (p *player) hear(message *pb.SeatMessage) error {
	switch told := message.GetMessage().(type) {
	case *pb.SeatMessage_Snapshot:
		return p.check(told.Snapshot)
	case *pb.SeatMessage_Notice:
		return p.fold(told.Notice)
	case *pb.SeatMessage_Accepted:
		if told.Accepted.GetCommandId() == p.awaiting.GetCommandId() {
			p.awaiting = nil
		}
	case *pb.SeatMessage_Hint:
		if told.Hint.GetCommandId() != "hint" || told.Hint.GetVersion() != p.version {
			return fmt.Errorf("another hint: %v", told.Hint)
		}
		p.hinted = told.Hint.GetCommand().GetCommand() != nil
	case *pb.SeatMessage_Refused:
		return fmt.Errorf("refused: %v", told.Refused)
	case *pb.SeatMessage_Goodbye:
		// It decides, whatever status follows. After DISPLACED or UNSEATED a client does not come back by itself. A server that
		// is leaving says DRAINING, and ends the stream with UNAVAILABLE.
		if told.Goodbye.GetReason() == pb.Goodbye_REASON_DRAINING {
			return nil
		}
		return fmt.Errorf("goodbye: %v", told.Goodbye.GetReason())
	}
	return nil
}

// check takes a snapshot. One of the version that we are at must be what the notices have made of the first.
func (p *player) check(snapshot *pb.Snapshot) error {
	later := snapshot.GetVersion() > p.version
	same := p.version == snapshot.GetVersion() && proto.Equal(p.view, snapshot.GetView())
	if p.view != nil && !same && !later {
		return fmt.Errorf("fold at %d and snapshot at %d differ", p.version, snapshot.GetVersion())
	}
	// What happened while we were away: the first deal may have begun before we came.
	for _, missed := range snapshot.GetMissed() {
		if missed.GetDealStarted() != nil {
			p.started++
		}
		if missed.GetDealEnded() != nil {
			p.opened++
		}
	}
	p.view, p.version = snapshot.GetView(), snapshot.GetVersion()
	return nil
}

// fold puts the parts that changed in the place of the old ones; finished tricks are added to those that are kept.
func (p *player) fold(notice *pb.Notice) error {
	if notice.GetVersion() != p.version+1 {
		return fmt.Errorf("version %d after %d", notice.GetVersion(), p.version)
	}
	p.version = notice.GetVersion()
	if added := notice.GetChanged().GetHistory(); added != nil {
		kept := p.view.GetParts().GetHistory().GetTricks()[:added.GetKept()]
		added.Tricks = append(slices.Clone(kept), added.GetTricks()...)
		added.Kept = 0
	}
	parts := p.view.GetParts().ProtoReflect()
	notice.GetChanged().ProtoReflect().Range(func(field protoreflect.FieldDescriptor, part protoreflect.Value) bool {
		parts.Set(field, part)
		return true
	})
	if notice.GetDealStarted() != nil {
		p.started++
	}
	if notice.GetDealEnded() == nil {
		return nil
	}
	p.opened++
	return opens(p.view.GetParts())
}

// opens checks that the deck of a settled deal is the one that was committed to before its first bid.
func opens(parts *pb.Parts) error {
	hash := sha256.New()
	hash.Write(parts.GetSettlement().GetSalt())
	for _, card := range parts.GetSettlement().GetDeck() {
		hash.Write([]byte{byte(card)})
	}
	if !bytes.Equal(hash.Sum(nil), parts.GetProgress().GetCommitment()) {
		return fmt.Errorf("the deck is not what was committed to")
	}
	return nil
}

// command is what the view suggests, and nil where we are to wait.
func (p *player) command() *pb.Command {
	switch advice := p.view.GetParts().GetAdvice().GetChoice().(type) {
	case *pb.AdvicePart_Call:
		if bid := advice.Call.GetBid(); bid != nil {
			return &pb.Command{Command: &pb.Command_Bid{Bid: bid}}
		}
		return &pb.Command{Command: &pb.Command_PassBid{PassBid: advice.Call.GetPassBid()}}
	case *pb.AdvicePart_Name:
		return &pb.Command{Command: &pb.Command_NameTrump{NameTrump: advice.Name.GetSuggestion()}}
	case *pb.AdvicePart_Bury:
		return &pb.Command{Command: &pb.Command_Bury{Bury: advice.Bury.GetSuggestion()}}
	case *pb.AdvicePart_Lead:
		return &pb.Command{Command: &pb.Command_PlayCards{PlayCards: advice.Lead.GetSuggestion()}}
	case *pb.AdvicePart_Follow:
		return &pb.Command{Command: &pb.Command_PlayCards{PlayCards: advice.Follow.GetSuggestion()}}
	case *pb.AdvicePart_Ready:
		return &pb.Command{Command: &pb.Command_Ready{Ready: advice.Ready.GetSuggestion()}}
	}
	return nil
}
