package describe

// Descriptions of the rows of core/op/rows/window.go.

func describedWindow() []Description {
	return []Description{
		{Name: "conv", Attrs: []string{"distance of neighbouring windows on each axis; none for 1", "elements added before and behind each axis, two numbers an axis; none for 0", "distance of neighbours in a window on each axis; none for 1", "parts of the channels that are convolved by themselves", "channels are the last axis of images, not axis 1"}, NumPy: "conv(x, weight, given)", Doc: "Cross-correlation of images [N, C, size...] with weight [O, C / groups, kernel...]: [N, O, windows...]. With AVX-512 and on arm64, kernels of 3 x 3 " +
			"elements over 32 channels or more are computed by Winograd's F(2x2): roundings are relative to products of sums of a window and of a kernel.", Settings: []Setting{
			{{OperandShapes, [][]int{{2, 3, 6, 7}, {4, 3, 3, 2}}}},
			{{OperandShapes, [][]int{{2, 4, 9}, {6, 2, 3}}}, {"stride", []int{2}}, {"padding", []int{1, 2}}, {"dilation", []int{2}}, {"groups", 2}},
			{{OperandShapes, [][]int{{1, 7, 8, 4}, {4, 1, 3, 3}}}, {"stride", []int{2, 1}}, {"padding", []int{1, 1, 0, 2}}, {"groups", 4}, {"channels_last", true}},
			{{OperandShapes, [][]int{{2, 3, 4, 5, 5}, {2, 3, 2, 3, 1}}}, {"stride", []int{1, 2, 3}}, {"padding", []int{0, 1, 1, 1, 0, 0}}},
			{{OperandShapes, [][]int{{2, 5, 4, 4}, {7, 5, 1, 1}}}},
			{{OperandShapes, [][]int{{1, 40, 20, 20}, {33, 40, 3, 3}}}, {"padding", []int{1, 1, 1, 1}}},
		}},
		{Name: "conv_integer", Doc: "conv of x - zero and weight in int32; x and weight are int8 or uint8, and zero is one element of x's dtype, 0 if it is left out.", Settings: []Setting{{{OperandShapes, [][]int{{2, 3, 6, 7}, {4, 3, 3, 2}, {}}}}}, Elsewhere: "kernels/host/conv8_test.go", Attrs: []string{"distance of neighbouring windows on each axis; none for 1", "elements added before and behind each axis, two numbers an axis; none for 0", "distance of neighbours in a window on each axis; none for 1", "parts of the channels that are convolved by themselves", "channels are the last axis of images, not axis 1"}},
		{Name: "conv_transpose", Attrs: []string{"distance of neighbouring windows on each axis; none for 1", "elements added before and behind each axis, two numbers an axis; none for 0", "elements that the result has more at the end of each axis; none for 0", "distance of neighbours in a window on each axis; none for 1", "parts of the channels that are convolved by themselves", "channels are the last axis of images, not axis 1"}, NumPy: "conv_transpose(x, weight, given)", Doc: "The transpose of conv as a linear map of its images: [N, O, size...] with weight [O, C / groups, kernel...] to [N, C, ...].", Settings: []Setting{
			{{OperandShapes, [][]int{{2, 3, 5, 4}, {3, 4, 3, 2}}}},
			{{OperandShapes, [][]int{{2, 4, 5}, {4, 3, 3}}}, {"stride", []int{2}}, {"padding", []int{1, 2}}, {"output_padding", []int{1}}, {"dilation", []int{2}}, {"groups", 2}},
			{{OperandShapes, [][]int{{1, 4, 3, 4}, {4, 1, 3, 3}}}, {"stride", []int{2, 3}}, {"padding", []int{1, 1, 0, 2}}, {"groups", 4}, {"channels_last", true}},
			{{OperandShapes, [][]int{{2, 3, 2, 3, 3}, {3, 2, 2, 3, 1}}}, {"stride", []int{1, 2, 3}}, {"padding", []int{0, 1, 1, 1, 0, 0}}, {"output_padding", []int{0, 1, 2}}},
		}},
		{Name: "conv_weight", Attrs: []string{"size of the window on each axis", "distance of neighbouring windows on each axis; none for 1", "elements added before and behind each axis, two numbers an axis; none for 0", "distance of neighbours in a window on each axis; none for 1", "parts of the channels that are convolved by themselves", "channels are the last axis of images, not axis 1"}, NumPy: "conv_weight(x, y, given)", Doc: "The gradient of conv(x, weight) with respect to weight, where y is that of the result.", Settings: []Setting{
			{{OperandShapes, [][]int{{2, 3, 6, 7}, {2, 4, 4, 6}}}, {"kernel_size", []int{3, 2}}},
			{{OperandShapes, [][]int{{2, 4, 9}, {2, 6, 4}}}, {"kernel_size", []int{3}}, {"stride", []int{2}}, {"padding", []int{1, 2}}, {"dilation", []int{2}}, {"groups", 2}},
			{{OperandShapes, [][]int{{1, 7, 8, 4}, {1, 4, 8, 4}}}, {"kernel_size", []int{3, 3}}, {"stride", []int{2, 1}}, {"padding", []int{1, 1, 0, 2}}, {"groups", 4}, {"channels_last", true}},
			{{OperandShapes, [][]int{{2, 3, 4, 5, 5}, {2, 2, 4, 3, 2}}}, {"kernel_size", []int{2, 3, 1}}, {"stride", []int{1, 2, 3}}, {"padding", []int{0, 1, 1, 1, 0, 0}}},
		}},
		{Name: "max_pool", Attrs: []string{"size of the window on each axis", "distance of neighbouring windows on each axis; none for kernel_size", "elements added before and behind each axis, two numbers an axis; none for 0", "the number of windows is rounded up, so that the last may reach beyond the padding", "kernel_size is the size of the result; window i of n is from floor(i * size / n) to ceil((i + 1) * size / n)", "channels are the last axis of images, not axis 1", "of the indices: int64 or int32"}, NumPy: "max_pool(x, given, lowest)", Doc: "The largest element of each window, and the index of the first of those in the flattened plane; nan is the largest. A window without elements has the smallest finite number and index -1.", Settings: []Setting{
			{{OperandShapes, [][]int{{2, 3, 6, 7}}}, {"kernel_size", []int{2, 3}}},
			{{OperandShapes, [][]int{{2, 4, 9}}}, {"kernel_size", []int{3}}, {"stride", []int{2}}, {"padding", []int{1, 2}}, {"dtype", "int32"}},
			{{OperandShapes, [][]int{{2, 7, 8, 3}}}, {"kernel_size", []int{3, 3}}, {"stride", []int{2, 3}}, {"padding", []int{1, 1, 0, 2}}, {"ceil_mode", true}, {"channels_last", true}},
			{{OperandShapes, [][]int{{2, 3, 4, 5, 5}}}, {"kernel_size", []int{2, 3, 1}}, {"stride", []int{1, 2, 3}}, {"padding", []int{0, 1, 1, 1, 0, 2}}},
			{{OperandShapes, [][]int{{2, 3, 7, 5}}}, {"kernel_size", []int{3, 4}}, {"adaptive", true}},
		}},
		{Name: "max_unpool", Attrs: []string{"spatial size of the result", "elements for one place are added up; else the last of them stays", "channels are the last axis of images, not axis 1"}, NumPy: "max_unpool(x, indices, given)", Doc: "Zeros, with the elements of x at the indices of max_pool.", Settings: []Setting{
			{{OperandShapes, [][]int{{2, 3, 2, 3}, {2, 3, 2, 3}}}, {"size", []int{4, 5}}},
			{{OperandShapes, [][]int{{2, 3, 4, 3}, {2, 3, 4, 3}}}, {"size", []int{3, 3}}, {"add", true}, {"channels_last", true}},
		}},
		{Name: "avg_pool", Attrs: []string{"size of the window on each axis", "distance of neighbouring windows on each axis; none for kernel_size", "elements added before and behind each axis, two numbers an axis; none for 0", "the number of windows is rounded up, so that the last may reach beyond the padding", "kernel_size is the size of the result; window i of n is from floor(i * size / n) to ceil((i + 1) * size / n)", "divide by the elements of the window that are in x, not by the size of the window", "channels are the last axis of images, not axis 1"}, NumPy: "avg_pool(x, given)", Doc: "The mean of each window. Of one without elements it is 0 divided by the product of the distances from its first to its last element in x on each axis, as in Paddle: nan, or a zero behind the end.", Settings: []Setting{
			{{OperandShapes, [][]int{{2, 3, 6, 7}}}, {"kernel_size", []int{2, 3}}},
			{{OperandShapes, [][]int{{2, 4, 9}}}, {"kernel_size", []int{3}}, {"stride", []int{2}}, {"padding", []int{1, 2}}, {"exclusive", false}},
			{{OperandShapes, [][]int{{2, 7, 8, 3}}}, {"kernel_size", []int{3, 3}}, {"stride", []int{2, 3}}, {"padding", []int{1, 1, 0, 2}}, {"ceil_mode", true}, {"channels_last", true}},
			{{OperandShapes, [][]int{{2, 3, 4, 5, 5}}}, {"kernel_size", []int{2, 3, 1}}, {"stride", []int{1, 2, 3}}, {"padding", []int{0, 1, 1, 1, 0, 0}}, {"ceil_mode", true}, {"exclusive", false}},
			{{OperandShapes, [][]int{{2, 3, 7, 5}}}, {"kernel_size", []int{3, 4}}, {"adaptive", true}},
		}},
		{Name: "avg_unpool", Attrs: []string{"spatial size of the result", "size of the window on each axis", "distance of neighbouring windows on each axis; none for kernel_size", "elements added before and behind each axis, two numbers an axis; none for 0", "the number of windows is rounded up, so that the last may reach beyond the padding", "kernel_size is the size of the result; window i of n is from floor(i * size / n) to ceil((i + 1) * size / n)", "divide by the elements of the window that are in x, not by the size of the window", "channels are the last axis of images, not axis 1"}, NumPy: "avg_unpool(x, given)", Doc: "The transpose of avg_pool as a linear map: each element of x, divided as there, is added to all elements of its window.", Settings: []Setting{
			{{OperandShapes, [][]int{{2, 3, 3, 2}}}, {"size", []int{6, 7}}, {"kernel_size", []int{2, 3}}},
			{{OperandShapes, [][]int{{2, 4, 5}}}, {"size", []int{9}}, {"kernel_size", []int{3}}, {"stride", []int{2}}, {"padding", []int{1, 2}}, {"exclusive", false}},
			{{OperandShapes, [][]int{{2, 4, 4, 3}}}, {"size", []int{7, 8}}, {"kernel_size", []int{3, 3}}, {"stride", []int{2, 3}}, {"padding", []int{1, 1, 0, 2}}, {"ceil_mode", true}, {"channels_last", true}},
			{{OperandShapes, [][]int{{2, 3, 3, 4}}}, {"size", []int{7, 5}}, {"kernel_size", []int{3, 4}}, {"adaptive", true}},
		}},
	}
}
