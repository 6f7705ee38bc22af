package service

import (
	"context"
	"io"
	"log"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
)

// logger is the log of the server. What it shows can be changed while it runs. It never has elements of tensors.
// Messages are about models, connections and options.
type logger struct {
	*slog.Logger
	levels *levels
	file   io.Closer // nil for the standard error
}

// levels is a handler that drops what is switched off.
type levels struct {
	slog.Handler
	shown *atomic.Pointer[httpapi.Logging]
}

// Enabled reports whether a level is shown.
func (l *levels) Enabled(_ context.Context, level slog.Level) bool {
	// Each level is switched by itself, as in tritonserver: errors can be off while information is on.
	shown := l.shown.Load()
	switch {
	case level >= slog.LevelError:
		return shown.Error
	case level >= slog.LevelWarn:
		return shown.Warning
	case level >= slog.LevelInfo:
		return shown.Info
	}
	return shown.Verbose > 0
}

// newLog makes the log that the options ask for.
func newLog(o httpapi.Logging, complain io.Writer) (*logger, error) {
	l := &logger{levels: &levels{shown: new(atomic.Pointer[httpapi.Logging])}}
	l.apply(o)
	to := complain
	if o.File != "" {
		// The file grows: what another run has written stays.
		f, err := os.OpenFile(o.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, err
		}
		to, l.file = f, f
	}
	handler := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		// The other forms have the time with its fraction.
		if a.Key == slog.TimeKey && o.Format == "ISO8601" {
			a.Value = slog.StringValue(a.Value.Time().UTC().Format(time.RFC3339))
		}
		return a
	}}
	l.levels.Handler = slog.NewTextHandler(to, handler)
	if o.Format == "json" {
		l.levels.Handler = slog.NewJSONHandler(to, handler)
	}
	l.Logger = slog.New(l.levels)
	return l, nil
}

// apply changes what is shown.
func (l *logger) apply(o httpapi.Logging) { l.levels.shown.Store(&o) }

// plain is the log for packages that know no levels; what they say is about clients.
func (l *logger) plain() *log.Logger { return slog.NewLogLogger(l.levels, slog.LevelDebug) }

// close closes the file of the log.
func (l *logger) close() {
	if l.file != nil {
		_ = l.file.Close() // the error cannot be reported
	}
}
