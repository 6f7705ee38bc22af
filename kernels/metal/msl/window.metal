
// Images that windows move over, and the windows: what convolutions and pools share. An image has three spatial axes, of
// which those in front have one element where an operand has fewer. Image is where the elements of an operand lie: of a
// weight the output channels are the images.
struct Image {
    I first, image, channel, steps[3];
};

// A dispatch has outputs of a call from a threadgroup on. What channels, each and depth count says each kernel. size is
// that of the images that the windows lie on, count is how many windows there are, by axis.
struct Windows {
    uint outputs, group, terms;
    int channels, each, depth;
    int size[3], count[3], taps[3], stride[3], dilation[3], before[3];
    int adaptive, exclusive, add;
};

struct Element {
    int image, channel, at[3];
};

// The element with a row-major number.
inline Element element(uint i, int channels, constant int *dims) {
    Element e;
    for (uint axis = 3; axis-- > 0;) {
        e.at[axis] = int(i % uint(dims[axis]));
        i /= uint(dims[axis]);
    }
    e.channel = int(i % uint(channels));
    e.image = int(i / uint(channels));
    return e;
}

// Where the plane of a channel begins.
inline I plane(constant Image &o, int image, int channel) { return o.first + I(image) * o.image + I(channel) * o.channel; }

inline I within(constant Image &o, int a, int b, int c) { return I(a) * o.steps[0] + I(b) * o.steps[1] + I(c) * o.steps[2]; }

inline I place(constant Image &o, Element e) { return plane(o, e.image, e.channel) + within(o, e.at[0], e.at[1], e.at[2]); }
