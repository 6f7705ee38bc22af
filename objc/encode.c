//go:build cgo

// The sends of a dispatch in one crossing from Go to C. The C compiler knows how each platform passes
// the two structs of three words, which are on the stack, in memory of the caller or in registers.
#include "encode.h"

typedef struct {
    uint64_t width, height, depth;
} size;

typedef void *object;
typedef const void *selector;

static objc_names is;

void objc_bind(const objc_names *names) { is = *names; }

#define SEND(receiver, name, types, ...) \
    ((void(*) types)is.send)((object)(receiver), (selector)is.name, __VA_ARGS__)

void objc_encode(const objc_dispatch *d) {
    void *pool = ((void *(*)(void))is.push)();
    if (d->pipeline != 0)
        SEND(d->encoder, set_pipeline, (object, selector, object), (object)d->pipeline);
    for (uint32_t i = 0; i < d->arguments; i++) {
        if (d->length[i] != 0)
            SEND(d->encoder, set_bytes, (object, selector, const void *, uint64_t, uint64_t),
                 d->constant + d->offset[i], (uint64_t)d->length[i], (uint64_t)i);
        else
            SEND(d->encoder, set_buffer, (object, selector, object, uint64_t, uint64_t), (object)d->buffer[i],
                 d->offset[i], (uint64_t)i);
    }
    if (d->shared != 0)
        SEND(d->encoder, set_shared, (object, selector, uint64_t, uint64_t), (uint64_t)d->shared, (uint64_t)0);
    if (d->barrier != 0)
        SEND(d->encoder, barrier, (object, selector, uint64_t), (uint64_t)d->barrier);
    size threads = {d->threads[0], d->threads[1], d->threads[2]};
    size group = {d->group[0], d->group[1], d->group[2]};
    if (d->in_groups != 0)
        SEND(d->encoder, dispatch_groups, (object, selector, size, size), threads, group);
    else
        SEND(d->encoder, dispatch, (object, selector, size, size), threads, group);
    ((void (*)(void *))is.pop)(pool);
}
