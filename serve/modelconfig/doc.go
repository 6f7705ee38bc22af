// Package modelconfig is the configuration of a model: the file config.pbtxt, its defaults, its rules and its form as
// JSON, as Triton Inference Server has them.
//
// [Parse] reads the text form of protobuf into the message of model_config.proto. [Complete] fills in what a server
// decides, such as the name of an instance group, and [Check] applies the rules of the server and refuses, by the name of
// the field, what this server lacks: a configuration that loads is obeyed in full.
//
// The package reads no files and knows no models.
//
// # Ensembles
//
// The configuration of an ensemble is a graph. What can be known of it without its models is checked here (ensemble.go): that
// each tensor is written once and read, and that every step can run, which excludes circles. Types and shapes need the models,
// and are checked by package serve.
//
// # A field that is new
//
// Triton's configuration grows. A field that model_config.proto lacks is an error of the parser; one that it has and the
// server does not obey is one of [Unsupported]. To support a field, obey it in package serve, and then list it in
// support.go: not the other way round.
package modelconfig

//go:generate go run ../../internal/protogen -I . model_config.proto
