package profile

import (
	"os"
	"strconv"

	"github.com/paddle-mps/paddle-mps/core/jsontext"
)

// AppendTrace appends the recording as a JSON document in the Trace Event Format, an event a line: see
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. Spans are complete events (ph X) with
// times in microseconds of the clock of Now, levels of memory are counters (C), and names of threads, of which only the
// streams have any, are metadata (M). otherData says how many events there are and how many were dropped.
func (r *Recording) AppendTrace(to []byte) []byte {
	pid := int64(os.Getpid())
	to = append(to, `{"schemaVersion":"1.0.2","displayTimeUnit":"ms","otherData":{"producer":"paddle_mps","clock":"monotonic"`...)
	to = appendNumber(to, `,"pid":`, pid)
	to = appendNumber(to, `,"events":`, int64(len(r.events)))
	to = appendNumber(to, `,"dropped":`, int64(r.dropped))
	to = appendNumber(to, `,"limit":`, int64(r.limit))
	to = appendTime(to, `,"start":`, r.start)
	to = appendTime(to, `,"end":`, r.end)
	to = append(to, "},\n\"traceEvents\":[\n"...)
	to = appendNumber(to, `{"ph":"M","name":"process_name","pid":`, pid)
	to = append(to, `,"tid":0,"args":{"name":"paddle_mps"}}`...)
	named := map[*Track]bool{nil: true}
	for i := range r.events {
		if t := r.events[i].track; !named[t] {
			named[t] = true
			to = t.appendName(to, pid)
		}
	}
	for i := range r.events {
		to = append(to, ",\n"...)
		to = r.events[i].append(to, pid)
	}
	return append(to, "\n]}\n"...)
}

// append appends an event as a JSON object.
func (e *event) append(to []byte, pid int64) []byte {
	if e.kind == level {
		to = append(to, `{"ph":"C","name":`...)
		to = appendText(to, e.name)
	} else {
		to = append(to, `{"ph":"X","cat":`...)
		to = appendText(to, string(e.kind))
		to = append(to, `,"name":`...)
		to = appendText(to, e.name)
	}
	to = appendNumber(to, `,"pid":`, pid)
	tid := e.thread
	if e.track != nil {
		tid = e.track.id
	}
	to = appendNumber(to, `,"tid":`, int64(tid))
	to = appendTime(to, `,"ts":`, e.start)
	if e.kind != level {
		to = appendTime(to, `,"dur":`, e.end-e.start)
	}
	if e.detail != "" {
		to = append(to, `,"args":{`...)
		to = append(to, e.detail...)
		to = append(to, '}')
	}
	return append(to, '}')
}

// appendName appends the events that name a track and put it behind the threads.
func (t *Track) appendName(to []byte, pid int64) []byte {
	for _, what := range [2]string{"thread_name", "thread_sort_index"} {
		to = append(to, ",\n"...)
		to = append(to, `{"ph":"M","name":"`...)
		to = append(to, what...)
		to = appendNumber(to, `","pid":`, pid)
		to = appendNumber(to, `,"tid":`, int64(t.id))
		if what == "thread_name" {
			to = append(to, `,"args":{"name":`...)
			to = append(appendText(to, t.name), "}}"...)
		} else {
			to = append(appendNumber(to, `,"args":{"sort_index":`, int64(t.id)), "}}"...)
		}
	}
	return to
}

func appendNumber(to []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(to, key...), n, 10)
}

// appendTime appends a key and a time in microseconds, which is exact: three digits are nanoseconds.
func appendTime(to []byte, key string, ns int64) []byte {
	to = strconv.AppendInt(append(to, key...), ns/1000, 10)
	rest := ns % 1000
	return append(to, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
}

func appendText(to []byte, s string) []byte {
	return jsontext.AppendString(to, s)
}
