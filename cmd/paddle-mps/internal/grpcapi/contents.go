package grpcapi

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
	"github.com/paddle-mps/paddle-mps/serve/inference"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// contents are the elements of an input that are given in typed form, as bytes. Those of whole numbers that are too large
// for the type are cut, as in tritonserver.
func contents(in *kserve.ModelInferRequest_InferInputTensor, k tensors.Type, model string) (data []byte, err error) {
	// One field has the elements. Which one it is follows from the type of the input: several types share a field.
	c, filled := in.Contents, 0
	le := binary.LittleEndian
	// one is called for each field with elements: there is one field, and it suits the type.
	one := func(n int, suits bool, field tensors.Type) bool {
		switch filled++; {
		case err != nil:
			// The first mistake is reported, and a wrong field before one too many.
		case filled > 1 && suits:
			err = inference.Errorf(inference.InvalidArg, "unexpected explicit tensor data for input tensor '%s' for model '%s', binary data was already supplied.", in.Name, model)
		case !suits:
			err = inference.Errorf(inference.InvalidArg, "unexpected explicit tensor data for input tensor '%s' for model '%s' of type '%s', expected datatype '%s'", in.Name, model, field, k)
		}
		if err == nil {
			data = slices.Grow(data, n*int(k.Size()))
		}
		return err == nil
	}
	if n := len(c.BoolContents); n > 0 && one(n, k == tensors.Bool, tensors.Bool) {
		for _, b := range c.BoolContents {
			if b {
				data = append(data, 1)
			} else {
				data = append(data, 0)
			}
		}
	}
	if n := len(c.IntContents); n > 0 && one(n, k == tensors.Int8 || k == tensors.Int16 || k == tensors.Int32, tensors.Int32) {
		for _, n := range c.IntContents {
			data = appendWhole(data, uint64(n), k.Size())
		}
	}
	if n := len(c.Int64Contents); n > 0 && one(n, k == tensors.Int64, tensors.Int64) {
		for _, n := range c.Int64Contents {
			data = le.AppendUint64(data, uint64(n))
		}
	}
	if n := len(c.UintContents); n > 0 && one(n, k == tensors.Uint8 || k == tensors.Uint16 || k == tensors.Uint32, tensors.Uint32) {
		for _, n := range c.UintContents {
			data = appendWhole(data, uint64(n), k.Size())
		}
	}
	if n := len(c.Uint64Contents); n > 0 && one(n, k == tensors.Uint64, tensors.Uint64) {
		for _, n := range c.Uint64Contents {
			data = le.AppendUint64(data, n)
		}
	}
	if n := len(c.Fp32Contents); n > 0 && one(n, k == tensors.FP32, tensors.FP32) {
		for _, x := range c.Fp32Contents {
			data = le.AppendUint32(data, math.Float32bits(x))
		}
	}
	if n := len(c.Fp64Contents); n > 0 && one(n, k == tensors.FP64, tensors.FP64) {
		for _, x := range c.Fp64Contents {
			data = le.AppendUint64(data, math.Float64bits(x))
		}
	}
	if n := len(c.BytesContents); n > 0 && one(n, k == tensors.Bytes, tensors.Bytes) {
		size := 0
		for _, text := range c.BytesContents {
			size += tensors.LengthSize + len(text)
		}
		data = slices.Grow(data, size)
		for _, text := range c.BytesContents {
			data = tensors.AppendElement(data, text)
		}
	}
	return data, err
}

// appendWhole appends the low bytes of a number.
func appendWhole(to []byte, n uint64, size int64) []byte {
	// Little-endian, as on the wire.
	for range size {
		to, n = append(to, byte(n)), n>>8
	}
	return to
}

// number is a number as a text.
func number(n int64) string { return strconv.FormatInt(n, 10) }
