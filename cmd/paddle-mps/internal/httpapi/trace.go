package httpapi

import (
	"net/http"
	"time"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/traces"
	"github.com/paddle-mps/paddle-mps/core/jsontext"
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// traced is the trace of the request, whose body is there; nil where it has none.
func (c *call) traced(received time.Time) *traces.Request {
	t := c.api.Traces.Start(c.model, c.r.Header.Get)
	t.Stamp("HTTP_RECV_START", received)
	t.Now("HTTP_RECV_END")
	return t
}

// refuseTraced answers with the error of an inference. Moments of sending are those of requests that were accepted, as in
// tritonserver.
func (c *call) refuseTraced(t *traces.Request, err error) error {
	if t == nil || t.Started.IsZero() {
		return err
	}
	t.Now("HTTP_SEND_START")
	c.refuse(err)
	t.Now("HTTP_SEND_END")
	return errAnswered
}

// trace shows the settings of traces of all models or of one, and changes those that a POST names.
func (c *call) trace() error {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodPost {
		c.fail(http.StatusMethodNotAllowed, "Method Not Allowed")
		return nil
	}
	// Messages and their order are those of tritonserver.
	if c.model != "" && c.api.Server.Serves(c.model, -1) != nil {
		return inference.Errorf(inference.InvalidArg, "Request for unknown model : %s", c.model)
	}
	if c.api.Traces == nil {
		return inference.Errorf(inference.Unavailable, "the server does not support tracing")
	}
	if c.r.Method == http.MethodPost {
		given, err := c.object()
		if err != nil {
			return err
		}
		u, err := updateOf(given)
		if err != nil {
			return err
		}
		if err := c.api.Traces.Update(c.model, u); err != nil {
			return err
		}
	}
	text := []byte{'{'}
	for i, m := range c.api.Traces.Show(c.model) {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(appendText(text, m.Name), ':')
		if m.List {
			text = append(appendText(append(text, '['), m.Values[0]), ']')
			continue
		}
		text = appendText(text, m.Values[0])
	}
	c.send(http.StatusOK, append(text, '}'))
	return nil
}

// traceSettings are the settings that a request may change, in the order in which they are read. The file is refused before
// all others; other names are passed over, as in tritonserver.
var traceSettings = []string{"trace_file", "trace_level", "trace_rate", "trace_count", "log_frequency"}

// updateOf is a change of settings as JSON.
func updateOf(given []jsontext.Member) (*traces.Update, error) {
	u := &traces.Update{}
	for _, name := range traceSettings {
		for _, m := range given {
			if m.Name != name {
				continue
			}
			if name == "trace_file" {
				return nil, inference.Errorf(inference.Unsupported, "trace file location can not be updated through network protocol")
			}
			texts, err := textsOf(name, m.Value)
			if err != nil {
				return nil, inference.Errorf(inference.Internal, "%s", err)
			}
			// A list without levels changes nothing; null clears the setting.
			if len(texts) == 0 && m.Value.Kind() != jsontext.Null {
				break
			}
			if err := u.Set(name, texts, ""); err != nil {
				return nil, err
			}
			break // the first of two members with one name counts
		}
	}
	return u, nil
}

// textsOf are the texts of a setting: levels are a list.
func textsOf(name string, v jsontext.Value) (texts []string, err error) {
	if v.Kind() == jsontext.Null {
		return nil, nil
	}
	if name != "trace_level" {
		text, err := v.String()
		return []string{text}, err
	}
	all, err := v.Array()
	if err != nil {
		return nil, err
	}
	for one, more := all.Next(); more; one, more = all.Next() {
		text, err := one.String()
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}
