package grpcapi

import (
	"errors"
	"io"

	"google.golang.org/grpc/status"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/serve"
)

// ahead is how many requests of a stream may be on their way: the next one is read when the first of them is answered.
const ahead = 64

// ModelStreamInfer answers inferences one after the other. They run at one time, and their responses come in the order of
// the requests. An error of a request is in its response, and the stream goes on.
func (a *API) ModelStreamInfer(s kserve.GRPCInferenceService_ModelStreamInferServer) error {
	// The channel holds the order; each answer has a channel of its own, so that a slow one does not hold up those behind it
	// any longer than its turn.
	answers := make(chan chan *kserve.ModelStreamInferResponse, ahead)
	sent := make(chan error, 1)
	go func() {
		var failed error
		for answer := range answers {
			// After an error nothing is sent, but answers are taken, so that nobody waits.
			if m := <-answer; failed == nil {
				failed = s.Send(m)
			}
		}
		sent <- failed
	}()
	var end error
	for {
		// The end of the client's side ends the stream once everything is answered.
		m, err := s.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				end = err
			}
			break
		}
		answer := make(chan *kserve.ModelStreamInferResponse, 1)
		answers <- answer
		go func() { answer <- a.answer(s, m) }()
	}
	close(answers)
	if err := <-sent; end == nil {
		end = err
	}
	return end
}

// answer is the response to one request of a stream.
func (a *API) answer(s kserve.GRPCInferenceService_ModelStreamInferServer, m *kserve.ModelInferRequest) (answer *kserve.ModelStreamInferResponse) {
	defer func() {
		if fault := recover(); fault != nil {
			answer = &kserve.ModelStreamInferResponse{ErrorMessage: "the call has failed", InferResponse: &kserve.ModelInferResponse{Id: m.Id}}
		}
	}()
	// A stream has one response for each request: models with many are not supported.
	response, err := a.ModelInfer(s.Context(), m)
	if err != nil {
		text := serve.From(err).Text
		if coded, is := status.FromError(err); is {
			text = coded.Message()
		}
		return &kserve.ModelStreamInferResponse{ErrorMessage: text, InferResponse: &kserve.ModelInferResponse{Id: m.Id}}
	}
	response.Parameters = map[string]*kserve.InferParameter{
		"triton_final_response": {ParameterChoice: &kserve.InferParameter_BoolParam{BoolParam: true}},
	}
	return &kserve.ModelStreamInferResponse{InferResponse: response}
}
