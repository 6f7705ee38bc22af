#ifndef PADDLEMPS_OBJC_ENCODE_H
#define PADDLEMPS_OBJC_ENCODE_H

#include <stdint.h>

// One dispatch of a compute kernel, filled in by Go: everything that has to be said to an encoder that
// is open. It holds no pointers that Go would have to know of. Keep it like Dispatch in encode.go.
typedef struct {
    uintptr_t encoder;
    uintptr_t pipeline;  // 0: the one that is set already
    uint64_t threads[3]; // of the whole grid, or its threadgroups where in_groups is not 0
    uint64_t group[3];   // of a threadgroup
    uint32_t arguments;  // of the kernel; argument i is a buffer, or constant bytes where length[i] is not 0
    uint32_t shared;     // bytes of threadgroup argument 0; 0: none
    uint32_t in_groups;
    uint32_t barrier;    // scope of a memory barrier before the dispatch; 0: none
    uintptr_t buffer[31];
    uint64_t offset[31]; // in the buffer, or in constant
    uint32_t length[31]; // of the constant bytes
    unsigned char constant[4096];
} objc_dispatch;

// What objc_encode needs to know of the runtime: addresses of functions and resolved selectors.
typedef struct {
    uintptr_t send, push, pop;
    uintptr_t set_pipeline, set_buffer, set_bytes, set_shared, barrier, dispatch, dispatch_groups;
} objc_names;

// objc_bind is called once, before any objc_encode.
void objc_bind(const objc_names *names);

// objc_encode makes the sends of one dispatch within an autorelease pool of its own. The caller has
// exclusive use of the encoder; any thread may call.
void objc_encode(const objc_dispatch *d);

#endif
