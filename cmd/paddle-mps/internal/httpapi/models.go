package httpapi

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/jsontext"
	"github.com/paddle-mps/paddle-mps/serve"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/modelconfig"
	"github.com/paddle-mps/paddle-mps/serve/statistics"
)

// live answers whether the server runs. tritonserver's body is empty; clients of KServe read this one.
func (c *call) live() error { return c.health("live", c.api.Server.Live()) }

// ready answers whether the server can serve all models.
func (c *call) ready() error { return c.health("ready", c.api.Server.Ready()) }

// health answers with a word and whether it is so.
func (c *call) health(word string, yes bool) error {
	// tritonserver says no with 400.
	if yes {
		c.send(http.StatusOK, []byte(`{"`+word+`":true}`))
		return nil
	}
	c.send(http.StatusBadRequest, []byte(`{"`+word+`":false}`))
	return nil
}

// serverMetadata answers what the server is.
func (c *call) serverMetadata() error {
	return c.reply(struct {
		Name       string   `json:"name"`
		Version    string   `json:"version"`
		Extensions []string `json:"extensions"`
	}{c.api.Name, c.api.Version, c.api.Extensions})
}

// modelReady answers whether a version serves.
// tritonserver's body is empty here too; clients of KServe read this one.
func (c *call) modelReady() error {
	if _, err := c.api.Server.ModelReady(c.model, c.version); err != nil {
		return err
	}
	return c.reply(map[string]any{"name": c.model, "ready": true})
}

// metadata answers what a model takes and gives.
func (c *call) metadata() error {
	m, err := c.api.Server.Metadata(c.model, c.version)
	if err != nil {
		return err
	}
	return c.reply(m)
}

// config answers with the configuration of a model.
// The form is that of package modelconfig, which keeps numbers numbers.
func (c *call) config() error {
	config, err := c.api.Server.ConfigOf(c.model, c.version)
	if err != nil {
		return err
	}
	c.send(http.StatusOK, modelconfig.JSON(config))
	return nil
}

// statistics answers with those of a version, a model or all models.
func (c *call) statistics() error {
	counts, err := c.api.Server.Statistics(c.model, c.version)
	if err != nil {
		return err
	}
	// Only what the protocol shows: the rest is for metrics.
	all := make([]statistics.Totals, len(counts))
	for i := range counts {
		all[i] = counts[i].Totals
	}
	return c.reply(map[string]any{"model_stats": all})
}

// index answers with the models of the repository.
// The body may say {"ready":true}.
func (c *call) index() error {
	given, err := c.object()
	if err != nil {
		return err
	}
	ready := false
	if v, ok := jsontext.Find(given, "ready"); ok {
		if ready, err = v.Bool(); err != nil {
			return inference.Errorf(inference.InvalidArg, "Invalid value for 'ready': expected a boolean")
		}
	}
	// The answer is a list and no object, as in tritonserver.
	entries, err := c.api.Server.Index(ready)
	if err != nil {
		return err
	}
	return c.reply(entries)
}

// parameters are the members of the member "parameters" of a body.
func (c *call) parameters() ([]jsontext.Member, error) {
	given, err := c.object()
	if err != nil {
		return nil, err
	}
	v, ok := jsontext.Find(given, "parameters")
	if !ok {
		return nil, nil
	}
	return members(v)
}

// load loads a model, perhaps with a configuration and files of the request.
// It answers when the model serves, or with the reason why it does not; the versions before serve until then.
func (c *call) load() error {
	given, err := c.parameters()
	if err != nil {
		return err
	}
	o := serve.Overrides{}
	// Every parameter is a text: files are in base64.
	for _, p := range given {
		text, err := p.Value.String()
		if err != nil {
			return inference.Errorf(inference.Internal, "%s", err)
		}
		path, isFile := strings.CutPrefix(p.Name, "file:")
		switch {
		case p.Name == "config" && text == "":
			return serve.NoConfig(c.model)
		case p.Name == "config":
			o.Config = text
		case isFile:
			data, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return inference.Errorf(inference.InvalidArg, "failed to decode base64 of parameter '%s'", p.Name)
			}
			if o.Files == nil {
				o.Files = map[string][]byte{}
			}
			o.Files[path] = data
		default:
			return inference.Errorf(inference.Internal, "unexpected error on creating Triton parameter")
		}
	}
	if err := c.api.Server.Load(c.model, o); err != nil {
		return err
	}
	return c.done()
}

// unload unloads a model, and with unload_dependents the models that were loaded for an ensemble alone.
// It answers at once: requests that were accepted are answered by the versions that leave.
func (c *call) unload() error {
	all, err := c.object()
	if err != nil {
		return err
	}
	parameters, _ := jsontext.Find(all, "parameters")
	given := jsontext.OrNone(parameters.Members())
	dependents := false
	if v, ok := jsontext.Find(given, "unload_dependents"); ok {
		if dependents, err = v.Bool(); err != nil {
			return inference.Errorf(inference.Internal, "Unable to parse 'unload_dependents': %s", err)
		}
	}
	if err := c.api.Server.Unload(c.model, dependents); err != nil {
		return err
	}
	return c.done()
}

// generate is the extension for language models, which is not there.
func (c *call) generate() error {
	return inference.Errorf(inference.Unsupported, "the generate extension is not supported")
}
