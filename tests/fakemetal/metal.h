/*
 * metal.h - what the files that stand for Metal share, and what the graphs use of it.
 */
#ifndef FAKEMETAL_METAL_H
#define FAKEMETAL_METAL_H

#include "objc.h"

/* The one device, +0. */
id metal_device(void);

/* Counts memory of the device; false where there is not so much. */
bool device_take(uint64_t bytes);
void device_give(uint64_t bytes);

/* The memory of an MTLBuffer, whatever its storage mode. */
void *buffer_bytes(id buffer);
size_t buffer_length(id buffer);
id buffer_new(size_t length); /* shared, zeroed, +1; NULL if it is too large or made to fail */

/* A command buffer of a queue, +0, as -[MTLCommandQueue commandBuffer] answers it. */
id queue_command_buffer(id queue);
void command_buffer_commit(id command_buffer);
void command_buffer_wait(id command_buffer); /* until it is completed */
int64_t command_buffer_status(id command_buffer);

/* Appends work to a command buffer that is not committed and has no encoder open. run is called on
 * the queue's thread, after all work before it; it answers NULL, or what went wrong (malloc), which
 * ends the command buffer with an error. drop is called exactly once, after run or instead of it. */
void command_buffer_encode(id command_buffer, char *(*run)(void *context), void (*drop)(void *context), void *context);

/* The code of the error that a run which fails is to end with, from within it. */
void command_buffer_error_code(int64_t code);

/* Keeps an object alive until the command buffer is over. */
void command_buffer_keep(id command_buffer, id object);

/* Says that the work encoded next reads or writes a buffer: keeps it, and checks the order against
 * other encoders without hazard tracking. */
void command_buffer_uses(id command_buffer, id buffer, bool writes);

/* Appends the wait for an event to reach a value, or the signal that it has. */
void command_buffer_signal(id command_buffer, id event, uint64_t value);
void command_buffer_await(id command_buffer, id event, uint64_t value);

#endif
