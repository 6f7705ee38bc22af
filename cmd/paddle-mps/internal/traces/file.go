package traces

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// Bounds of the text that a setting holds before it is written. tritonserver holds all until it ends.
const (
	mostText    = 1 << 20  // of the one file
	mostIndexed = 64 << 20 // of a file of log-frequency traces
)

// file is the file of traces, and those with numbers beside it.
type file struct {
	name string
	log  *slog.Logger

	mu    sync.Mutex
	to    *os.File // open from the first text on
	over  bool     // nothing is written any more
	index int
}

// save appends texts of traces to the file, or makes the next one with a number of them.
func (f *file) save(text []byte, numbered bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return // a request that was not answered in time at the end
	}
	if err := f.write(text, numbered); err != nil {
		f.log.Error("failed creating trace file: " + err.Error())
	}
}

// write is save with its error. The caller has the lock.
func (f *file) write(text []byte, numbered bool) (err error) {
	if numbered {
		name := f.name + "." + strconv.Itoa(f.index)
		f.index++
		return os.WriteFile(name, slices.Concat([]byte("["), text, []byte("]")), 0o644)
	}
	// The array ends when the server does.
	between := ","
	if f.to == nil {
		if f.to, err = os.Create(f.name); err != nil {
			return err
		}
		between = "["
	}
	if _, err = io.WriteString(f.to, between); err == nil {
		_, err = f.to.Write(text)
	}
	return err
}

// close ends the file.
func (f *file) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over = true; f.to == nil {
		return
	}
	_, err := io.WriteString(f.to, "]")
	if closed := f.to.Close(); err == nil {
		err = closed
	}
	if f.to = nil; err != nil {
		f.log.Error("failed creating trace file: " + err.Error())
	}
}

// write adds a trace to those that the setting holds, and writes them where there are enough. The rules for what is enough
// are tritonserver's: so many as log-frequency says, or all that Count allows.
func (s *setting) write(appendTo func([]byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held > 0 {
		s.text.WriteByte(',')
	}
	s.held++
	s.collected++
	s.text.Write(appendTo(s.text.AvailableBuffer()))
	frequency := s.values.Frequency
	switch {
	case s.left == 0 && s.collected == s.seen, frequency != 0 && s.held >= int(frequency), frequency != 0 && s.text.Len() > mostIndexed:
		s.save(true)
	case frequency == 0 && s.text.Len() > mostText:
		s.save(false)
	}
}

// save writes what the setting holds. The caller has the lock.
func (s *setting) save(numbered bool) {
	if s.held > 0 {
		s.tracer.file.save(s.text.Bytes(), numbered)
	}
	s.held = 0
	s.text.Reset()
}

// flush writes what is left at the end of the setting.
func (s *setting) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.save(s.values.Frequency != 0)
}

// append appends the objects of a trace with commas between: those of the request, and of the steps of an ensemble.
func (r *Request) append(to []byte) []byte {
	// Commas stand between objects, also where another trace is before.
	start := len(to)
	// Moments of the frontend are before, after and, where the answer of the server came, within those of the model.
	moments := r.stamps
	if !r.Started.IsZero() {
		moments = slices.Concat(moments, of(&r.Trace))
	}
	slices.SortStableFunc(moments, func(a, b stamp) int { return a.at.Compare(b.at) })
	named := r.Started.IsZero() // without a model there is nothing to say of it
	for _, m := range moments {
		if m.name == requestStart && !named {
			to, named = appendModel(to, start, r.id, 0, &r.Trace), true
		}
		to = appendStamp(to, start, r.id, m)
	}
	return r.appendSteps(to, start, r.id, &r.Trace)
}

// appendSteps appends the traces of the steps of an ensemble.
func (r *Request) appendSteps(to []byte, start int, parent uint64, t *inference.Trace) []byte {
	for _, s := range t.Steps() {
		if s.Started.IsZero() {
			continue // the model refused it
		}
		id := r.setting.tracer.last.Add(1)
		to = appendModel(to, start, id, parent, s)
		for _, m := range of(s) {
			to = appendStamp(to, start, id, m)
		}
		to = r.appendSteps(to, start, id, s)
	}
	return to
}

// requestStart is the first moment of a model.
const requestStart = "REQUEST_START"

// of are the moments of a model, in their order.
func of(t *inference.Trace) []stamp {
	all := []stamp{{requestStart, t.Started}, {"QUEUE_START", t.Times.Queued}}
	if !t.Times.Start.IsZero() {
		all = append(all, compute(t)...)
	}
	return append(all, stamp{"REQUEST_END", t.Ended})
}

// compute are the moments of an execution.
func compute(t *inference.Trace) []stamp {
	m := &t.Times
	return []stamp{{"COMPUTE_START", m.Start}, {"COMPUTE_INPUT_END", m.Inputs}, {"COMPUTE_OUTPUT_START", m.Outputs}, {"COMPUTE_END", m.End}}
}

// begin is the moment that nanoseconds of a trace count from.
var begin = time.Now()

// nanoseconds are those of a moment since 1970, by the monotonic clock.
func nanoseconds(at time.Time) int64 { return begin.UnixNano() + int64(at.Sub(begin)) }

// appendStamp appends the object of a moment.
func appendStamp(to []byte, start int, id uint64, m stamp) []byte {
	return fmt.Appendf(comma(to, start), `{"id":%d,"timestamps":[{"name":"%s","ns":%d}]}`, id, m.name, nanoseconds(m.at))
}

// appendModel appends the object with the model.
func appendModel(to []byte, start int, id, parent uint64, t *inference.Trace) []byte {
	to = fmt.Appendf(comma(to, start), `{"id":%d,"model_name":%s,"model_version":%d`, id, quoted(t.Model), t.Version)
	if t.ID != "" {
		to = fmt.Appendf(to, `,"request_id":%s`, quoted(t.ID))
	}
	if parent != 0 {
		to = fmt.Appendf(to, `,"parent_id":%d`, parent)
	}
	return append(to, '}')
}

// comma appends a comma unless the text is empty.
func comma(to []byte, start int) []byte {
	if len(to) > start {
		return append(to, ',')
	}
	return to
}

// quoted is a text as JSON. tritonserver does not escape what clients choose, so that an id with a quote breaks its file.
func quoted(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil { // cannot happen: every string has a form
		return []byte(`""`)
	}
	return b
}
