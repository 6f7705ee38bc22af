package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// statuses are the status codes of errors.
var statuses = map[inference.Code]int{
	inference.Internal: http.StatusInternalServerError, inference.NotFound: http.StatusNotFound,
	inference.Unavailable: http.StatusServiceUnavailable, inference.Unsupported: http.StatusNotImplemented,
}

// The values of headers, made once: a header that is set by key takes no allocation.
var (
	typeJSON   = []string{"application/json"}
	typeBinary = []string{"application/octet-stream"}
)

// refuse answers with an error.
func (c *call) refuse(err error) {
	if errors.Is(err, errAnswered) {
		return
	}
	// Every error has a code; what is unknown is a bad request, as in tritonserver.
	e := inference.From(err)
	status, ok := statuses[e.Code]
	if !ok {
		status = http.StatusBadRequest
	}
	c.fail(status, e.Text)
}

// fail answers with a message.
func (c *call) fail(status int, text string) {
	// Clients parse the body of an error: it is JSON also where the path is wrong.
	body, err := json.Marshal(map[string]string{"error": text})
	if err != nil { // cannot happen: every string has a form
		body = []byte(`{"error":""}`)
	}
	c.send(status, body)
}

// reply answers with a value as JSON.
func (c *call) reply(value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	c.send(http.StatusOK, body)
	return nil
}

// done answers with nothing.
func (c *call) done() error {
	h := c.w.Header()
	h["Content-Type"], h["Content-Length"] = typeJSON, []string{"0"}
	c.patient(0)
	c.w.WriteHeader(http.StatusOK)
	return nil
}

// send answers with JSON. A client that is gone is no error of ours.
// The length is always known here.
func (c *call) send(status int, body []byte) {
	h := c.w.Header()
	h["Content-Type"], h["Content-Length"] = typeJSON, []string{strconv.Itoa(len(body))}
	c.patient(int64(len(body)))
	c.w.WriteHeader(status)
	_, _ = c.w.Write(body)
}
