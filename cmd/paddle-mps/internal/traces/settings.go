package traces

import (
	"bytes"
	"maps"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// Level is what is traced.
type Level int

// The levels.
const (
	LevelOff Level = iota
	LevelTimestamps
)

// String is the name of a level.
func (l Level) String() string {
	if l == LevelOff {
		return "OFF"
	}
	return "TIMESTAMPS"
}

// Values are the settings that requests may change.
type Values struct {
	Level     Level
	Rate      uint32 // each n-th request is traced; 0: those alone that bring a context of their own
	Count     int32  // traces that are left; -1: any number
	Frequency uint32 // traces in a file of their own; 0: all in one
}

// set says which values are set, and do not follow those that are more general.
type set struct{ level, rate, count, frequency bool }

// Update is a change of settings; a nil member changes nothing.
type Update struct {
	Level     *Level
	Rate      *uint32
	Count     *int32
	Frequency *uint32
	// Clear are the values that follow the more general ones from now on.
	Clear set
}

// setting is the settings of a model, or of all, with what was sampled by them. One that is changed is replaced, so that
// counting begins anew, as in tritonserver.
type setting struct {
	tracer *Tracer
	values Values // as they were set; Count is left below
	given  set
	users  int // guarded by Tracer.mu: the tracer, and the requests that were sampled

	mu        sync.Mutex
	left      int32 // of Count
	seen      uint64
	collected uint64
	held      int // traces in text
	text      bytes.Buffer
}

// newSetting makes a setting that the tracer uses.
func newSetting(t *Tracer, v Values, given set) *setting {
	return &setting{tracer: t, values: v, given: given, users: 1, left: v.Count}
}

// invalid is why nothing can be traced by the setting; "" where it can.
func (s *setting) invalid() string {
	switch {
	case s.values.Level == LevelOff:
		return "tracing is disabled"
	case s.values.Rate == 0:
		return "sample rate must be non-zero"
	case s.tracer.first.Mode == ModeTriton && s.tracer.first.File == "":
		return "trace file name is not given"
	}
	return ""
}

// sample counts a request and reports whether it is traced. forced are those that bring a context of their own.
func (s *setting) sample(forced bool) bool {
	if s.values.Rate == 0 || s.invalid() != "" {
		return forced
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Requests are counted until the last trace that the count allows. One with a context of its own is no part of that.
	if s.left == 0 && !forced {
		return false
	}
	s.seen++
	hit := s.seen%uint64(s.values.Rate) == 0 && s.left != 0
	if hit && s.left > 0 {
		s.left--
	}
	return hit || forced
}

// current are the values as they are shown: with the number of traces that are left.
func (s *setting) current() Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.values
	v.Count = s.left
	return v
}

// Get are the settings of a model, "" for those of all.
func (t *Tracer) Get(model string) Values {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.models[model]; s != nil {
		return s.current()
	}
	return t.global.current()
}

// Update changes the settings of a model, "" for those of all. Settings of models follow a change of those of all in what they
// do not set.
func (t *Tracer) Update(model string, u *Update) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	old, err := t.update(model, u)
	if err == nil && model == "" {
		for name := range maps.Clone(t.models) {
			replaced, failed := t.update(name, &Update{})
			if old = append(old, replaced...); failed != nil {
				err = failed
			}
		}
	}
	// From here on requests see the new settings; those that were sampled before keep theirs.
	t.switchOn()
	// Those that no request uses any more write what they hold. It is little, and a file is written rarely.
	for _, s := range old {
		if s.users--; s.users == 0 {
			s.flush()
		}
	}
	return err
}

// update replaces one setting, and returns what it has replaced. The caller has the lock.
func (t *Tracer) update(model string, u *Update) (old []*setting, err error) {
	now, base := t.global, t.first.Values
	if model != "" {
		now, base = t.models[model], t.global.current()
	}
	// What is not set is that of the more general setting. A model without a setting of its own has set nothing.
	var values Values
	var given set
	if now != nil {
		values, given = now.current(), now.given
	}
	if given.level = choose(&values.Level, u.Level, given.level, u.Clear.level); !given.level {
		values.Level = base.Level
	}
	if given.rate = choose(&values.Rate, u.Rate, given.rate, u.Clear.rate); !given.rate {
		values.Rate = base.Rate
	}
	if given.count = choose(&values.Count, u.Count, given.count, u.Clear.count); !given.count {
		values.Count = base.Count
	}
	if given.frequency = choose(&values.Frequency, u.Frequency, given.frequency, u.Clear.frequency); !given.frequency {
		values.Frequency = base.Frequency
	}
	// A model that sets nothing has no setting of its own any more.
	if model != "" && given == (set{}) {
		if delete(t.models, model); now != nil {
			old = append(old, now)
		}
		return old, nil
	}
	// What could trace nothing is refused, unless it turns traces off: an operator may prepare the other settings first.
	s := newSetting(t, values, given)
	if reason := s.invalid(); reason != "" && values.Level != LevelOff {
		return nil, inference.Errorf(inference.InvalidArg, "Attempting to set invalid trace setting :%s", reason)
	}
	if now != nil {
		old = append(old, now)
	}
	if model == "" {
		t.global = s
	} else {
		t.models[model] = s
	}
	return old, nil
}

// choose takes a new value where there is one, and reports whether the value is set.
func choose[T any](at, value *T, given, clear bool) bool {
	if clear {
		return false
	}
	if value != nil {
		*at = *value
		return true
	}
	return given
}

// switchOn looks whether any request may be traced. The caller has the lock, or is the only one.
func (t *Tracer) switchOn() {
	on := t.global.values.Level != LevelOff
	for _, s := range t.models {
		on = on || s.values.Level != LevelOff
	}
	t.on.Store(on)
}

// MemberError is the error of a value that the API cannot read; what is its name.
func MemberError(name, got string) error {
	return inference.Errorf(inference.InvalidArg, "Unable to parse '%s', got: %s", name, got)
}

// Set sets a value by its name in the API. texts are its value: one text, or several for levels; none clear it. separator is
// what stands before the text in the message about a count that is too small, in which the protocols differ.
func (u *Update) Set(name string, texts []string, separator string) error {
	if len(texts) == 0 {
		u.clear(name)
		return nil
	}
	if name == "trace_level" {
		return u.setLevels(texts)
	}
	if len(texts) > 1 {
		return inference.Errorf(inference.InvalidArg, "expect only 1 value for '%s'", name)
	}
	n, err := leading(name, texts[0])
	if err != nil {
		return err
	}
	// All values but the level are numbers, which come as texts.
	//
	// tritonserver reads signed numbers and makes unsigned ones of them: -1 becomes the largest.
	unsigned := uint32(n)
	switch name {
	case "trace_rate":
		u.Rate = &unsigned
	case "log_frequency":
		u.Frequency = &unsigned
	case "trace_count":
		if n < -1 {
			return inference.Errorf(inference.InvalidArg, "Unable to parse 'trace_count'. Expecting value >= -1, got:%s%s", separator, texts[0])
		}
		u.Count = &n
	}
	return nil
}

// clear makes a value follow the more general one.
func (u *Update) clear(name string) {
	switch name {
	case "trace_level":
		u.Clear.level = true
	case "trace_rate":
		u.Clear.rate = true
	case "trace_count":
		u.Clear.count = true
	case "log_frequency":
		u.Clear.frequency = true
	}
}

// setLevels sets the level. Words that are none are passed over, as in tritonserver.
func (u *Update) setLevels(words []string) error {
	for _, word := range words {
		level := LevelTimestamps
		switch word {
		case "OFF":
			if level = LevelOff; len(words) > 1 {
				return inference.Errorf(inference.InvalidArg, "Expect only one trace level 'OFF' is specified")
			}
		case "TENSORS":
			return errTensors()
		case "TIMESTAMPS":
		default:
			continue
		}
		u.Level = &level
	}
	return nil
}

// errTensors is the error of a level that the server lacks.
func errTensors() error {
	return inference.Errorf(inference.Unsupported, "trace level 'TENSORS' is not supported by this server: it would write the data of clients into a file")
}

// ranges are those that the messages of tritonserver name.
var ranges = map[string]string{"trace_rate": "0, 4294967295", "trace_count": "-1, 2147483647", "log_frequency": "0, 4294967295"}

// leading is the number that a text begins with, as C++'s stoi reads it.
func leading(name, text string) (int32, error) {
	digits := strings.TrimLeft(text, " \t\n\v\f\r")
	end := 0
	if end < len(digits) && (digits[0] == '-' || digits[0] == '+') {
		end = 1
	}
	sign := end
	for end < len(digits) && digits[end] >= '0' && digits[end] <= '9' {
		end++
	}
	if end == sign {
		return 0, MemberError(name, text)
	}
	n, err := strconv.ParseInt(digits[:end], 10, 64)
	if err != nil || n > math.MaxInt32 || n < math.MinInt32 {
		return 0, inference.Errorf(inference.InvalidArg, "Unable to parse '%s', value is out of range [ %s ], got: %s", name, ranges[name], text)
	}
	return int32(n), nil
}

// Member is one of the settings as the API shows them.
type Member struct {
	Name   string
	Values []string
	List   bool // whether JSON shows it as a list
}

// Show are the settings of a model, "" for those of all, in tritonserver's order.
func (t *Tracer) Show(model string) []Member {
	v := t.Get(model)
	one := func(name, value string) Member { return Member{Name: name, Values: []string{value}} }
	all := []Member{
		{Name: "trace_level", Values: []string{v.Level.String()}, List: true},
		one("trace_rate", strconv.FormatUint(uint64(v.Rate), 10)),
		one("trace_count", strconv.FormatInt(int64(v.Count), 10)),
	}
	if t.first.Mode == ModeTriton {
		all = append(all, one("log_frequency", strconv.FormatUint(uint64(v.Frequency), 10)), one("trace_file", t.first.File))
	}
	all = append(all, one("trace_mode", string(t.first.Mode)))
	for _, s := range t.first.Extra {
		all = append(all, one(s.Name, s.Value))
	}
	return all
}
