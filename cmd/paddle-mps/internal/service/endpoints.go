package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/grpcapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/metrics"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/origins"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/sharedmemory"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/traces"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/serve"
)

// Limits of connections of HTTP. A request has its header within headerTime and its body at the pace of httpapi; a
// connection without a request is closed after idleTime. Metrics are read within metricsTime.
const (
	headerTime  = 15 * time.Second
	bodyTime    = 30 * time.Second
	idleTime    = 5 * time.Minute
	metricsTime = 30 * time.Second
	headerBytes = 64 << 10
)

// endpoint is a port that is served.
// HTTP, gRPC and metrics are started and ended in the same way.
type endpoint struct {
	name, address string
	serve         func() error
	shutdown      func(context.Context) error
	close         func()
}

// endpoints are all of them.
type endpoints struct {
	all    []*endpoint
	room   *httpapi.Room // of all requests together
	failed chan error
}

// listen opens the ports and serves them.
func (o *options) listen(server *serve.Server, rt *runtime.Runtime, log *logger, summaries *metrics.Summaries, traced *traces.Tracer) (*endpoints, error) {
	// Each endpoint can fail once.
	room := httpapi.NewRoom(o.allMaxInput)
	e := &endpoints{failed: make(chan error, 4), room: room}
	settings := httpapi.NewSettings(o.log, log.apply)
	regions := sharedmemory.New(o.clientMemory)
	if o.http {
		api := httpapi.New(httpapi.Config{
			Server: server, Name: o.id, Version: version, Extensions: extensions, MaxInput: o.httpMaxInput,
			Restricted: o.httpRestricted, Log: log.Logger, Settings: settings, Regions: regions, Runtime: rt, Traces: traced, Room: room,
		})
		if err := e.http("http", o.httpAddress, o.httpPort, o.httpTLS, api, log, 0, o.allowedHosts); err != nil {
			return e, err
		}
	}
	if o.grpc {
		if err := e.grpc(o, server, settings, regions, traced, room); err != nil {
			return e, err
		}
	}
	// Metrics are served where HTTP is, unless they have an address of their own.
	if o.metrics {
		address := o.metricsAddress
		if address == "" {
			address = o.httpAddress
		}
		handler := metrics.Handler(metrics.Config{Server: server, Runtime: rt, GPU: o.gpuMetrics, CPU: o.cpuMetrics, NoLatencies: o.noLatencies, Summaries: summaries})
		if err := e.http("metrics", address, o.metricsPort, certificates{}, handler, log, metricsTime, o.allowedHosts); err != nil {
			return e, err
		}
	}
	for _, one := range e.all {
		go func() {
			if err := one.serve(); err != nil {
				e.failed <- fmt.Errorf("%s: %w", one.name, err)
			}
		}()
	}
	return e, nil
}

// listenOn listens on a port; see listener.
func (e *endpoints) listenOn(name, address string, port int, headers bool) (net.Listener, error) {
	// The listener is opened before anything is served: a port that is taken ends the start.
	l, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return listener{l, newConnections(name, e.room), headers}, nil
}

// http adds an endpoint of HTTP. write is how long a response may take; 0: any time. allowed are hosts of web pages;
// see package origins.
func (e *endpoints) http(name, address string, port int, c certificates, handler http.Handler, log *logger, write time.Duration, allowed []origins.Host) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	l, err := e.listenOn(name, address, port, true)
	if err != nil {
		return err
	}
	// A request has a limit on each of its parts. The API has none on writing here: it sets it for each response, because an
	// inference may take long before the first byte of its response.
	guard := origins.New(address, l.Addr(), allowed...)
	s := &http.Server{
		Handler: inUse(guard.Handler(handler)), TLSConfig: config, ErrorLog: log.plain(), Protocols: &http.Protocols{}, ConnContext: withConnection,
		ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, WriteTimeout: write, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
	}
	// Not HTTP/2, also over TLS, as tritonserver: the limits of a connection are those of one request at a time.
	s.Protocols.SetHTTP1(true)
	e.all = append(e.all, &endpoint{
		name: name, address: l.Addr().String(),
		serve: func() error {
			serve := func() error { return s.Serve(l) }
			if config != nil {
				serve = func() error { return s.ServeTLS(l, "", "") }
			}
			if err := serve(); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		},
		shutdown: s.Shutdown,
		close:    func() { _ = s.Close(); _ = l.Close() },
	})
	return nil
}

// grpc adds the endpoint of gRPC.
func (e *endpoints) grpc(o *options, server *serve.Server, settings *httpapi.Settings, regions *sharedmemory.Regions, traced *traces.Tracer, room *httpapi.Room) error {
	config, err := o.tls.config()
	if err != nil {
		return err
	}
	l, err := e.listenOn("grpc", o.grpcAddress, o.grpcPort, false)
	if err != nil {
		return err
	}
	s := grpcapi.New(grpcapi.Config{
		Server: server, Name: o.id, Version: version, Extensions: extensions, MaxInput: o.grpcMaxInput,
		Restricted: o.grpcRestricted, Settings: settings, TLS: config, Regions: regions, Traces: traced, Room: room,
	})
	e.all = append(e.all, &endpoint{
		name: "grpc", address: l.Addr().String(), close: s.Stop,
		serve: func() error { return s.Serve(l) },
		shutdown: func(ctx context.Context) error {
			// GracefulStop has no limit of its own.
			stopped := make(chan struct{})
			go func() { s.GracefulStop(); close(stopped) }()
			select {
			case <-stopped:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	})
	return nil
}

// String lists the addresses: "http=127.0.0.1:8000 grpc=127.0.0.1:8001".
func (e *endpoints) String() string {
	var words []string
	for _, one := range e.all {
		words = append(words, one.name+"="+one.address)
	}
	return strings.Join(words, " ")
}

// shutdown waits for the requests in flight, and ends the endpoints; after the time of ctx at once.
// What does not end in time is closed, and its clients see their connections end.
func (e *endpoints) shutdown(ctx context.Context) (err error) {
	// All endpoints end at one time, so that they share the time that there is.
	results := make(chan error, len(e.all))
	for _, one := range e.all {
		go func() { results <- one.shutdown(ctx) }()
	}
	for range e.all {
		if one := <-results; one != nil {
			err = one
		}
	}
	e.close()
	return err
}

// close ends the endpoints at once.
func (e *endpoints) close() {
	for _, one := range e.all {
		one.close()
	}
}
