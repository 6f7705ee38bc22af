package httpapi

import (
	"math"
	"net/http"
	"sync"

	"github.com/paddle-mps/paddle-mps/core/jsontext"
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// Settings are those of the log, which requests may change.
// Both protocols change the same settings.
type Settings struct {
	mu     sync.Mutex
	values Logging
	apply  func(Logging)
}

// Logging is what the log shows.
type Logging struct {
	File    string `json:"log_file"`
	Info    bool   `json:"log_info"`
	Warning bool   `json:"log_warning"`
	Error   bool   `json:"log_error"`
	Verbose uint32 `json:"log_verbose_level"`
	Format  string `json:"log_format"`
}

// NewSettings are settings to begin with; apply is called with each change.
func NewSettings(first Logging, apply func(Logging)) *Settings {
	return &Settings{values: first, apply: apply}
}

// Get is what the settings are.
func (s *Settings) Get() Logging {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values
}

// Change changes the settings by a function, unless that returns an error, and returns what they are then.
func (s *Settings) Change(by func(*Logging) error) (Logging, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Changes are made to a copy, which takes the place of the settings only as a whole.
	changed := s.values
	if err := by(&changed); err != nil {
		return s.values, err
	}
	s.values = changed
	s.apply(changed)
	return changed, nil
}

// CheckFormat refuses unknown formats.
func CheckFormat(format string) error {
	if format != "default" && format != "ISO8601" && format != "json" {
		return inference.Errorf(inference.InvalidArg, "invalid argument for log_format, got: %s", format)
	}
	return nil
}

// logging shows the settings of the log, and changes those that a POST names.
func (c *call) logging() error {
	switch c.r.Method {
	case http.MethodGet:
		return c.reply(c.api.Settings.Get())
	case http.MethodPost:
	default:
		c.fail(http.StatusMethodNotAllowed, "Method Not Allowed")
		return nil
	}
	given, err := c.object()
	if err != nil {
		return err
	}
	// A POST without members changes nothing and shows what there is.
	values, err := c.api.Settings.Change(func(l *Logging) error {
		for _, m := range given {
			// null changes nothing, and the first of two members with a name counts, as everywhere.
			if m.Value.Kind() == jsontext.Null {
				continue
			}
			if err := change(l, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.reply(values)
}

// change changes one setting. Unknown settings are ignored, as in tritonserver.
func change(l *Logging, m jsontext.Member) (err error) {
	var level uint64
	switch m.Name {
	// A client must not choose where the server writes.
	case "log_file":
		return inference.Errorf(inference.Unsupported, "log file location can not be updated through network protocol")
	case "log_info":
		l.Info, err = m.Value.Bool()
	case "log_warning":
		l.Warning, err = m.Value.Bool()
	case "log_error":
		l.Error, err = m.Value.Bool()
	case "log_verbose_level":
		level, err = m.Value.Uint()
		l.Verbose = uint32(min(level, math.MaxInt32))
	case "log_format":
		if l.Format, err = m.Value.String(); err == nil {
			if CheckFormat(l.Format) != nil { // tritonserver has another code and text here than over gRPC
				return inference.Errorf(inference.Unavailable, "invalid argument for --log_format, got: %s", l.Format)
			}
		}
	}
	if err != nil {
		return inference.Errorf(inference.Internal, "%s", err)
	}
	return nil
}
