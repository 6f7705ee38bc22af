package modelconfig

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// JSON is the configuration as Triton's APIs show it: names of fields as in the file, numbers as numbers whatever their
// width, scalars and lists also where they are empty, messages only where they are set.
func JSON(c *ModelConfig) []byte { return appendMessage(nil, c.ProtoReflect()) }

// protojson cannot be used for it: it shows 64-bit numbers as strings, and varies its blanks.

// appendMessage appends a message as an object.
func appendMessage(to []byte, m protoreflect.Message) []byte {
	to = append(to, '{')
	fields, first := m.Descriptor().Fields(), true
	for i := range fields.Len() {
		f := fields.Get(i)
		// Clients look for a member to learn whether a message is set: an empty one would say that it is.
		single := f.Message() != nil && !f.IsList() && !f.IsMap()
		if !m.Has(f) && (single || f.ContainingOneof() != nil) {
			continue
		}
		if !first {
			to = append(to, ',')
		}
		first = false
		to = append(strconv.AppendQuote(to, string(f.Name())), ':')
		to = appendField(to, f, m.Get(f))
	}
	return append(to, '}')
}

// appendField appends the value of a field: a list, a map or one value.
func appendField(to []byte, f protoreflect.FieldDescriptor, v protoreflect.Value) []byte {
	switch {
	case f.IsList():
		to = append(to, '[')
		for i := range v.List().Len() {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendValue(to, f, v.List().Get(i))
		}
		return append(to, ']')
	case f.IsMap():
		return appendMap(to, f, v.Map())
	}
	return appendValue(to, f, v)
}

// appendMap appends a map in the order of its keys.
func appendMap(to []byte, f protoreflect.FieldDescriptor, m protoreflect.Map) []byte {
	var keys []string
	byText := map[string]protoreflect.MapKey{}
	// Keys of maps have no order in protobuf; clients that compare configurations need one.
	m.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		keys, byText[k.String()] = append(keys, k.String()), k
		return true
	})
	slices.Sort(keys)
	to = append(to, '{')
	for i, k := range keys {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(appendText(to, k), ':')
		to = appendValue(to, f.MapValue(), m.Get(byText[k]))
	}
	return append(to, '}')
}

// appendValue appends one value. Numbers that JSON lacks are null: no field of a configuration has a use for them.
func appendValue(to []byte, f protoreflect.FieldDescriptor, v protoreflect.Value) []byte {
	switch f.Kind() {
	case protoreflect.MessageKind:
		return appendMessage(to, v.Message())
	case protoreflect.EnumKind:
		if value := f.Enum().Values().ByNumber(v.Enum()); value != nil {
			return strconv.AppendQuote(to, string(value.Name()))
		}
		return strconv.AppendInt(to, int64(v.Enum()), 10)
	case protoreflect.BoolKind:
		return strconv.AppendBool(to, v.Bool())
	case protoreflect.StringKind:
		return appendText(to, v.String())
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		// JSON has no word for these.
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			return append(to, "null"...)
		}
		return strconv.AppendFloat(to, v.Float(), 'g', -1, 64)
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind:
		return strconv.AppendUint(to, v.Uint(), 10)
	}
	return strconv.AppendInt(to, v.Int(), 10)
}

// appendText appends a text in quotes.
func appendText(to []byte, text string) []byte {
	// Bytes that are no UTF-8 cannot occur: protobuf refuses them in texts.
	quoted, err := json.Marshal(text)
	if err != nil { // cannot happen: every string has a form
		return append(to, `""`...)
	}
	return append(to, quoted...)
}
