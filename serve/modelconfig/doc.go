// Package modelconfig is the configuration of a model as Triton Inference Server defines it: the file config.pbtxt,
// its defaults, its rules and its JSON form.
//
// [Parse] reads protobuf's text form into the message of model_config.proto. [Complete] fills in what a server
// decides, such as the name of an instance group. [Check] applies the server's rules and refuses fields that this
// server does not support, by name, so a configuration that loads is obeyed in full.
//
// The package reads no files and knows no models.
//
// # Ensembles
//
// The configuration of an ensemble is a graph. What can be checked without its models is checked here (ensemble.go):
// each tensor has one producer and a consumer, and every step can run, which excludes cycles. Types and shapes need
// the models; package serve checks them.
//
// # Adding a field
//
// Triton's configuration grows. The parser refuses a field that model_config.proto does not have, and [Unsupported]
// refuses one that it has but the server does not obey. To support a field, first implement it in package serve, and
// only then list it in support.go.
package modelconfig

//go:generate go run ../../internal/protogen -I . model_config.proto
