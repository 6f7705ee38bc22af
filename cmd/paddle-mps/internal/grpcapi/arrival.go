package grpcapi

// HTTP/2 has no limit on how long a request may take to arrive, and keepalive only asks whether the client is there.

import (
	"context"
	"time"

	"google.golang.org/grpc/tap"
)

// arrival is the time that the message of a call has to arrive in: gRPC itself would hold what a client has sent of it for
// as long as the connection lives.
const arrival = time.Minute

// limit is a time that runs.
type limit interface{ Stop() bool }

// startLimit calls late after a time, unless the limit is stopped. Tests have a clock of their own.
var startLimit = func(after time.Duration, late func()) limit { return time.AfterFunc(after, late) }

// arriving is the context of a call whose message is on its way.
type arriving struct {
	context.Context
	limit  limit
	began  time.Time   // when its headers were there, if calls are traced
	forget func() bool // that the end of the call ends the limit
}

// arrivingKey is the key under which a context has its arriving.
type arrivingKey struct{}

// Value is that of a context.
func (a *arriving) Value(key any) any {
	if key == (arrivingKey{}) {
		return a
	}
	return a.Context.Value(key)
}

// limited gives the message of a call its time. It is called when the headers of a call have arrived. Streams wait for
// messages, and have none.
func (a *API) limited(ctx context.Context, info *tap.Info) (context.Context, error) {
	if info.FullMethodName == "/inference.GRPCInferenceService/ModelStreamInfer" {
		return ctx, nil
	}
	// The end of the context ends the read of the message, and with it the call.
	within, cancel := context.WithCancel(ctx)
	call := &arriving{Context: within, limit: startLimit(arrival, cancel)}
	if a.Traces.On() {
		call.began = time.Now()
	}
	// A call that its client gives up leaves nothing behind.
	call.forget = context.AfterFunc(ctx, func() { call.limit.Stop() })
	return call, nil
}

// arrived ends the limit: the message is there, and the call may take as long as it needs.
func arrived(ctx context.Context) {
	// The context of a method is made of that of the call.
	if a, ok := ctx.Value(arrivingKey{}).(*arriving); ok {
		a.limit.Stop()
		a.forget()
	}
}
