package op

// Descriptions of the rows of composites_image.go.

const channelsLastDoc = "whether channels are the last axis, and not axis 1"

func describedCompositesImage() []Description {
	list := []Description{
		{Name: "pixel_shuffle", Attrs: []string{"of height and width", channelsLastDoc, "whether the place in a square is the first part of the number of a channel, and not the last"}, Doc: "Images [n, c * r * r, h, w] as [n, c, h * r, w * r]: channels become squares of r by r pixels."},
		{Name: "pixel_unshuffle", Attrs: []string{"of height and width", channelsLastDoc, "whether the place in a square is the first part of the number of a channel, and not the last"}, Doc: "The reverse of pixel_shuffle: squares of r by r pixels become channels."},
		{Name: "channel_shuffle", Attrs: []string{"how many; a divisor of the channels", channelsLastDoc}, Doc: "The channels of images, dealt from groups in turn."},
	}
	for i := range list {
		list[i].Elsewhere = oraclesElsewhere
	}
	return list
}
