// Package service is the command serve: it parses the command line, loads the models, opens the ports, and shuts
// down in order.
//
// Start: models are loaded, ports are opened, and the line "serving: ..." with the addresses is printed to standard
// output. Shutdown (SIGTERM, SIGINT, or the end of the parent if requested): the server stops being ready, answers
// the requests in flight and unloads the models. It exits with status 0, or with 1 if the timeout expires first.
//
// # Options
//
// The names are those of tritonserver (flags.go). An option that is not supported is refused by name, because
// dropping an option that an operator relies on is harmful. Options that only tune what this server does not have,
// such as numbers of threads, are accepted and named in the log (unknown.go).
//
// # Disabled by default
//
// As in tritonserver, four features are off unless the command line enables them: the response cache
// (--cache-config), the rate limiter (--rate-limit), shared memory of clients (--allow-client-shm) and summaries of
// durations (--metrics-config). A model configuration may contain settings of the first two anyway. They then have
// no effect, and the log says so for the cache.
//
// Each feature uses a bounded resource: bytes for responses, descriptors for regions, memory for quantiles. The
// limit of the cache is in its option; the others are constants of their packages.
//
// # Addresses
//
// A server listens on 127.0.0.1 by default, because the protocol has no authentication, and a client that may load a model
// may run it. docs/serving.md says what to put in front of a server that others can reach.
//
// # Connections
//
// Each endpoint has at most 8,192 connections, and all together fewer than the process may have descriptors (connections.go).
// One that waits for a request makes room for a new one, so that clients which send nothing keep no other client out.
// Large headers of HTTP count against --total-max-input-size; calls of gRPC are counted in package grpcapi.
//
// # The end of the parent
//
// With --ends-with-parent the server exits when its standard input is closed. The program that starts it holds the
// other end of a pipe: however that program ends, the system closes the pipe.
package service

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/metrics"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/traces"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/internal/environment"
	"github.com/paddle-mps/paddle-mps/serve"
)

// version is that of the tritonserver whose protocol this is.
const version = "2.73.0"

// extensions are those of the protocol that the server has.
var extensions = []string{
	"classification", "model_repository", "model_repository(unload_dependents)", "schedule_policy",
	"model_configuration", "system_shared_memory", "binary_tensor_data", "parameters", "statistics", "trace", "logging",
}

// Mistake is the error of a wrong command line.
// The caller prints it and returns the status of wrong usage.
type Mistake struct{ error }

// Run is the command. It returns when the server has ended.
func Run(args []string, out, complain io.Writer) error {
	// Help comes before the options are checked, because its users do not know them yet.
	for _, a := range args {
		if a == "-h" || a == "-help" || a == "--help" {
			usage(out)
			return nil
		}
	}
	o, err := parse(args)
	if err != nil {
		return Mistake{err}
	}
	// From here on a signal ends the server in order; a second one is not needed, because every wait has a limit.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if o.parent {
		ctx = withParent(ctx)
	}
	return run(ctx, o, out, complain)
}

// withParent is a context that ends when the standard input does: the process at its other end is gone.
// Nothing is expected from the standard input: what comes is dropped.
func withParent(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // an error is an end too
		cancel()
	}()
	return ctx
}

// run serves until ctx ends.
func run(ctx context.Context, o *options, out, complain io.Writer) error {
	// The log is first: what follows reports to it.
	log, err := newLog(o.log, complain)
	if err != nil {
		return err
	}
	defer log.close()
	for _, name := range o.unused {
		log.Warn("option --" + name + " has no effect on this server")
	}
	defer raiseHeap(os.Getenv)()
	// Devices are opened before models are read, so that a machine without them says so at once.
	rt, err := open(log.Logger)
	if err != nil {
		return err
	}
	// Summaries are made before the server, which calls them with the first request.
	settings := o.server(rt, log.Logger)
	var summaries *metrics.Summaries
	if o.summaries {
		if summaries, err = metrics.NewSummaries(o.quantiles); err != nil {
			return err
		}
		settings.Observe = summaries.Observe
	}
	traced, err := o.tracer(log.Logger)
	if err != nil {
		return err
	}
	server := serve.New(settings)
	// A signal ends loads too, at their next step.
	defer context.AfterFunc(ctx, server.Exit)()
	err = server.Start()
	if ctx.Err() != nil {
		server.Close()
		return rt.Close()
	}
	if err != nil && o.exitOnError {
		server.Close()
		_ = rt.Close() // the first error is the one to report
		return fmt.Errorf("creating server: Internal - %w", err)
	}
	// Ports are opened when the models are loaded: a client that can connect is served. tritonserver does the same.
	ends, err := o.listen(server, rt, log, summaries, traced)
	if err != nil {
		ends.close()
		server.Close()
		_ = rt.Close() // likewise
		return err
	}
	// The line is for programs: with port 0 it is the only place that says which ports were taken.
	fmt.Fprintln(out, "serving: "+ends.String())
	if o.control == "poll" {
		go server.Poll(ctx, o.poll)
	}
	select {
	case <-ctx.Done():
	case err = <-ends.failed:
	}
	err = o.end(server, rt, ends, log.Logger, err)
	// Requests are answered: what is known of them is sent, which a collector that hangs must not delay for long.
	within, cancel := context.WithTimeout(context.Background(), traceTime)
	defer cancel()
	traced.Close(within)
	return err
}

// traceTime is how long the collector of traces may take at the end.
const traceTime = 5 * time.Second

// tracer is what traces requests.
func (o *options) tracer(log *slog.Logger) (*traces.Tracer, error) {
	settings, err := o.traces.Options()
	if err != nil {
		return nil, Mistake{err}
	}
	return traces.New(settings, log)
}

// open opens the devices of the machine as the environment asks for.
func open(log *slog.Logger) (*runtime.Runtime, error) {
	c, err := environment.Read(os.Getenv)
	if err != nil {
		return nil, err
	}
	cfg := c.Devices()
	// What the runtime says about memory is for those who look for it.
	cfg.Log = func(warning bool, text string) {
		if warning {
			log.Warn(text)
			return
		}
		log.Debug(text)
	}
	return runtime.New(cfg)
}

// server are the options of the server without protocols.
func (o *options) server(rt *runtime.Runtime, log *slog.Logger) serve.Options {
	// The largest batch of models without a configuration is 4, as in Triton's ONNX Runtime backend.
	s := serve.Options{
		Runtime: rt, Repositories: o.repositories, Load: o.load, LenientReady: !o.strictReady, Loads: o.loads, DefaultMaxBatch: 4,
		NoComplete: o.noComplete || o.strictConfig, ConfigName: o.configName,
		Log: func(level serve.Level, text string) {
			log.Log(context.Background(), []slog.Level{slog.LevelInfo, slog.LevelWarn, slog.LevelError}[level], text)
		},
	}
	if o.rateLimit == "execution_count" {
		s.Limiter = serve.NewLimiter(o.resources)
	}
	if o.cache > 0 {
		s.Cache = serve.NewCache(o.cache)
	}
	switch o.control {
	case "poll":
		s.Control = serve.ControlPoll
	case "explicit":
		s.Control = serve.ControlExplicit
	}
	if text, ok := o.backendConfigs["default-max-batch-size"]; ok {
		s.DefaultMaxBatch, _ = strconv.Atoi(text) // checked with the command line
	}
	return s
}

// end ends the server in order. failure is why, nil for a signal.
func (o *options) end(server *serve.Server, rt *runtime.Runtime, ends *endpoints, log *slog.Logger, failure error) error {
	log.Info("the server ends: requests in flight are answered")
	// Not ready first: who balances load looks there, and sends nothing more.
	server.Exit()
	ctx, cancel := context.WithTimeout(context.Background(), o.exitTimeout)
	defer cancel()
	if err := ends.shutdown(ctx); err != nil && failure == nil {
		return fmt.Errorf("after %v, %d requests were in flight, or clients had not read their responses", o.exitTimeout, server.Flights())
	}
	// Models are unloaded when no request is left. A kernel that hangs must not keep the process.
	unloaded := make(chan struct{})
	go func() {
		server.Close()
		_ = rt.Close() // tensors that are alive are those of requests, of which there are none
		close(unloaded)
	}()
	select {
	case <-unloaded:
	case <-time.After(max(o.exitTimeout, time.Second)):
		return fmt.Errorf("the models could not be unloaded within %v", o.exitTimeout)
	}
	return failure
}
