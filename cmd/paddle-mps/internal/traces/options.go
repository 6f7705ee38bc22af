package traces

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Mode is how traces are written.
type Mode string

// The modes.
const (
	ModeTriton        Mode = "triton"
	ModeOpenTelemetry Mode = "opentelemetry"
)

// Named is a setting by its name.
type Named struct{ Name, Value string }

// Options are what a command line says of traces.
type Options struct {
	Values
	Mode     Mode
	File     string
	URL      string  // of the collector; "": that of the SDK
	Resource []Named // attributes
	Extra    []Named // what the API shows of the mode, in its order
	// The queue of spans, the time between two messages to the collector, and the spans in one of them.
	Queue int
	Delay time.Duration
	Batch int
}

// Config is the settings of a command line one after the other, as they were given.
type Config struct {
	all  []setTo
	mode Mode
}

// setTo is a setting of a mode, "" for one of both.
type setTo struct {
	mode Mode
	Named
}

// Add reads the value of --trace-config: <mode>,<setting>=<value> or <setting>=<value>.
func (c *Config) Add(text string) error {
	mode, rest, hasMode := strings.Cut(text, ",")
	// A comma behind the equals sign belongs to the value.
	if equals := strings.IndexByte(text, '='); hasMode && equals >= 0 && equals < len(mode) {
		mode, rest, hasMode = "", text, false
	}
	if !hasMode {
		mode, rest = "", text
	}
	// The value is all that follows: a URL has equals signs, and so have attributes.
	name, value, ok := strings.Cut(rest, "=")
	if !ok || name == "" || value == "" || hasMode && mode == "" {
		return fmt.Errorf("want <mode>,<setting>=<value> or <setting>=<value>")
	}
	s := setTo{Mode(strings.ToLower(mode)), Named{name, value}}
	if hasMode && s.mode != ModeTriton && s.mode != ModeOpenTelemetry {
		return fmt.Errorf("want triton or opentelemetry as the mode")
	}
	if !hasMode && name == "mode" {
		if c.mode = Mode(strings.ToLower(value)); c.mode != ModeTriton && c.mode != ModeOpenTelemetry {
			return fmt.Errorf("want triton or opentelemetry as the mode")
		}
		return nil
	}
	// Each value is checked with its option, whether or not its mode is the one that is used.
	o := blank()
	if err := o.set(&s); err != nil {
		return err
	}
	c.all = append(c.all, s)
	return nil
}

// blank are the options of an empty command line.
func blank() *Options { return &Options{Values: Values{Rate: 1000, Count: -1}, Mode: ModeTriton} }

// Options are the settings as a whole. Those of the mode that is not used count for nothing, as in tritonserver.
func (c *Config) Options() (Options, error) {
	o := blank()
	o.Mode = cmp.Or(c.mode, ModeTriton)
	off := false
	for i := range c.all {
		s := &c.all[i]
		if s.mode != "" && s.mode != o.Mode {
			continue
		}
		if err := o.set(s); err != nil {
			return *o, err
		}
		// A level OFF turns all off, wherever it stands.
		off = off || s.mode == "" && s.Name == "level" && o.Level == LevelOff
		if s.mode == ModeOpenTelemetry {
			o.Extra = append(o.Extra, s.Named)
		}
	}
	if off {
		o.Level = LevelOff
	}
	if o.Mode == ModeOpenTelemetry {
		return *o, o.processor()
	}
	return *o, nil
}

// set sets one setting. Unknown ones are refused; tritonserver drops them.
func (o *Options) set(s *setTo) (err error) {
	var n int64
	switch string(s.mode) + "," + s.Name {
	case ",rate":
		n, err = whole(s, 0, 1<<32-1)
		o.Rate = uint32(n)
	case ",count":
		n, err = whole(s, -1, 1<<31-1)
		o.Count = int32(n)
	case ",level":
		o.Level, err = levelOf(s.Value)
	case "triton,file":
		o.File = s.Value
	case "triton,log-frequency":
		n, err = whole(s, 0, 1<<32-1)
		o.Frequency = uint32(n)
	case "opentelemetry,url":
		var u *url.URL
		if u, err = url.Parse(s.Value); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("want a URL of HTTP for %s", s.Name)
		}
		o.URL = s.Value
	case "opentelemetry,resource":
		name, value, ok := strings.Cut(s.Value, "=")
		if !ok || name == "" {
			return fmt.Errorf("want resource=<key>=<value>")
		}
		o.Resource = append(o.Resource, Named{name, value})
	case "opentelemetry,bsp_max_queue_size", "opentelemetry,bsp_schedule_delay", "opentelemetry,bsp_max_export_batch_size":
		_, err = whole(s, 1, 1<<24) // processor takes it
	default:
		return fmt.Errorf("there is no setting %s", strings.Trim(string(s.mode)+","+s.Name, ","))
	}
	return err
}

// whole is a whole number between two.
func whole(s *setTo, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(s.Value, 10, 64)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("want a whole number from %d to %d for %s", low, high, s.Name)
	}
	return n, nil
}

// levelOf reads a level; the words are those that tritonserver takes.
func levelOf(word string) (Level, error) {
	switch strings.ToLower(word) {
	case "off", "false":
		return LevelOff, nil
	case "timestamps", "true", "on", "min", "max":
		return LevelTimestamps, nil
	case "tensors":
		return LevelOff, errTensors()
	}
	return LevelOff, fmt.Errorf("want OFF or TIMESTAMPS as the level")
}

// processor reads the settings of the queue of spans: of the command line, then of the environment, then the defaults of
// OpenTelemetry. The API shows all three.
func (o *Options) processor() error {
	for _, s := range []struct {
		name  string
		value int64
		set   func(n int64)
	}{
		{"bsp_max_queue_size", 2048, func(n int64) { o.Queue = int(n) }},
		{"bsp_schedule_delay", 5000, func(n int64) { o.Delay = time.Duration(n) * time.Millisecond }},
		{"bsp_max_export_batch_size", 512, func(n int64) { o.Batch = int(n) }},
	} {
		variable := "OTEL_" + strings.ToUpper(s.name)
		from := setTo{ModeOpenTelemetry, Named{s.name, cmp.Or(os.Getenv(variable), strconv.FormatInt(s.value, 10))}}
		at := slices.IndexFunc(o.Extra, func(n Named) bool { return n.Name == s.name })
		if at >= 0 {
			from.Value = o.Extra[at].Value
		} else {
			o.Extra = append(o.Extra, from.Named)
		}
		n, err := whole(&from, 1, 1<<24)
		if err != nil {
			return fmt.Errorf("%s: %w", variable, err)
		}
		s.set(n)
	}
	return nil
}
