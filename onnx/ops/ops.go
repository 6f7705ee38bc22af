// Package ops has the functions of ONNX operators, in a file for each family: each expresses an operator in rows of core/op.
//
// An operator is an entry in the table at the top of its file, and a function of a [build.Call], by which it reads operands and
// attributes and adds calls of rows. A function refuses what is not supported, and makes nothing whose size follows from the file without
// asking for room. Functions keep nothing: what an operator does follows from the node alone.
//
// The comment of package onnx explains how to write one.
package ops

import "github.com/paddle-mps/paddle-mps/onnx/build"

// entry is a line of the tables.
type entry build.Entry

// All are the operators of all families, with those of one name in ascending order of opsets.
func All() (list []build.Entry) {
	for _, family := range [][]entry{
		elementwise, reductions, arrays, selections, networks, pools, norms, recurrent, images, quantized, flow, attentions, losses, signals,
		otherAttentions, multiHeads, optimizers, sights, texts, stringed, features,
	} {
		for _, e := range family {
			list = append(list, build.Entry(e))
		}
	}
	return list
}
