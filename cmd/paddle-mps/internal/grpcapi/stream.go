package grpcapi

import (
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/traces"
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// ahead is how many requests of a stream may be on their way: the next one is read when the first of them is answered.
const ahead = 64

// ModelStreamInfer answers inferences one after the other. They run at one time, and their responses come in the order of
// the requests. An error of a request is in its response, and the stream goes on.
func (a *API) ModelStreamInfer(s kserve.GRPCInferenceService_ModelStreamInferServer) error {
	// The channel holds the order; each answer has a channel of its own, so that a slow one does not hold up those behind it
	// any longer than its turn.
	answers := make(chan pending, ahead)
	sent := make(chan error, 1)
	held, client := newRoom(a.MaxInput), connectionOf(s.Context())
	go func() {
		var lost error
		for p := range answers {
			// After an error nothing is sent, but answers are still received, so that no sender blocks.
			m := <-p.answer
			a.Room.Give(p.taken)
			m.trace.Now("GRPC_SEND_START")
			if lost == nil {
				lost = send(s, client, m)
			}
			a.Room.Give(m.held)
			wasSent(m.trace)
			held.leave(p.size)
		}
		sent <- lost
	}()
	requests, ended := receive(s)
	var end error
	for requests != nil {
		select {
		case m, more := <-requests:
			if !more {
				requests, end = nil, <-ended
				continue
			}
			p := pending{answer: make(chan streamed, 1), size: int64(proto.Size(m)) + typedOf(m)}
			held.enter(p.size)
			// A stream goes on after a request that finds no room, as after any other error: its client may send it again,
			// and those behind it may be smaller.
			if err := a.Room.Take(p.size); err != nil {
				p.answer <- failed(m, inference.From(err).Text)
				answers <- p
				continue
			}
			p.taken = p.size
			answers <- p
			go func() { p.answer <- a.answer(s, m) }()
		case <-a.Server.Ending():
			requests, end = nil, status.Error(codes.Unavailable, "Server is stopping")
		}
	}
	close(answers)
	if err := <-sent; end == nil {
		end = err
	}
	return end
}

// send hands a response to the transport. It waits while the client does not read those before it: the requests behind it wait in
// memory, so that the client has no more time than for the response.
func send(s kserve.GRPCInferenceService_ModelStreamInferServer, client *counted, m streamed) error {
	if client != nil {
		defer client.allow(m.held, client.end).Stop()
	}
	return s.SendMsg(outgoing{message: m.ModelStreamInferResponse, to: client})
}

// pending is a request of a stream that is not answered.
type pending struct {
	answer chan streamed
	size   int64 // of the request in bytes
	taken  int64 // of the room of all requests
}

// streamed is the answer to a request of a stream, with its trace, which may be nil.
type streamed struct {
	*kserve.ModelStreamInferResponse
	trace *traces.Request
	held  int64 // bytes of its outputs, of the room of all requests
}

// failed is the answer to a request that has failed. It has the id of the request, so that a client knows which one it was, and
// no outputs.
func failed(m *kserve.ModelInferRequest, text string) streamed {
	return streamed{ModelStreamInferResponse: &kserve.ModelStreamInferResponse{ErrorMessage: text, InferResponse: &kserve.ModelInferResponse{Id: m.Id}}}
}

// receive reads the requests of a stream until its end, the reason of which, nil for that of the client's side, is ended.
func receive(s kserve.GRPCInferenceService_ModelStreamInferServer) (requests chan *kserve.ModelInferRequest, ended chan error) {
	// A read cannot be given up, so that it has a goroutine: it ends with the stream.
	requests, ended = make(chan *kserve.ModelInferRequest), make(chan error, 1)
	go func() {
		defer close(requests)
		for {
			m, err := s.Recv()
			if err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
				}
				ended <- err
				return
			}
			select {
			case requests <- m:
			case <-s.Context().Done(): // no requests are taken any more
				ended <- s.Context().Err()
				return
			}
		}
	}()
	return requests, ended
}

// room bounds the bytes of requests that are on their way.
type room struct {
	mu          sync.Mutex
	left        *sync.Cond
	held, bound int64
}

// newRoom is room for so many bytes.
func newRoom(bound int64) *room {
	// The lock is that of the condition.
	r := &room{bound: bound}
	r.left = sync.NewCond(&r.mu)
	return r
}

// enter waits for room. One request has room whatever its size is.
func (r *room) enter(size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.held > 0 && r.held+size > r.bound {
		r.left.Wait()
	}
	r.held += size
}

// leave makes room.
func (r *room) leave(size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held -= size
	r.left.Signal()
}

// answer is the response to one request of a stream.
func (a *API) answer(s kserve.GRPCInferenceService_ModelStreamInferServer, m *kserve.ModelInferRequest) (answer streamed) {
	defer func() {
		if fault := recover(); fault != nil {
			answer.ModelStreamInferResponse = failed(m, "the call has failed").ModelStreamInferResponse
		}
	}()
	// A stream has one response for each request: models with many are not supported.
	response, err := a.infer(s.Context(), m, &answer.trace)
	if err != nil {
		text := inference.From(err).Text
		if coded, is := status.FromError(err); is {
			text = coded.Message()
		}
		answer.ModelStreamInferResponse = failed(m, text).ModelStreamInferResponse
		return answer
	}
	response.Parameters = map[string]*kserve.InferParameter{
		"triton_final_response": {ParameterChoice: &kserve.InferParameter_BoolParam{BoolParam: true}},
	}
	answer.ModelStreamInferResponse = &kserve.ModelStreamInferResponse{InferResponse: response}
	// It waits for those before it, which the client may not read.
	for _, output := range response.RawOutputContents {
		answer.held += int64(len(output))
	}
	a.Room.Hold(answer.held)
	return answer
}
