/*
 * graph_command.c - MPSCommandBuffer: a Metal command buffer that may be committed on the way and
 * replaced by the next one of its queue, so a program must not keep the one that it began with.
 */
#include "graph.h"

typedef struct {
  object head;
  id root, current;
} mps_command_buffer;

/* method_of finds a method of a Metal command buffer, which this class passes on. */
static IMP method_of(id object, const char *name) { return class_method(object->isa, selector(name), false)->imp; }
#define PASS(self, name) ((id(*)(id))method_of(mps_command_buffer_current(self), name))(mps_command_buffer_current(self))

id mps_command_buffer_current(id self) { return ((mps_command_buffer *)self)->current; }

static void set_up(id self, id buffer) {
  mps_command_buffer *b = (mps_command_buffer *)self;
  if (is_kind(buffer, "MPSCommandBuffer")) misuse("the command buffer is an MPSCommandBuffer already");
  if (command_buffer_status(buffer) > 1) misuse("the command buffer is committed already");
  b->root = retain(buffer), b->current = retain(buffer);
}

static id wrap(class_ *self, SEL cmd, id buffer) {
  (void)cmd;
  id b = object_make(self);
  set_up(b, buffer);
  return autorelease(b);
}

static id wrap_next(class_ *self, SEL cmd, id queue) { return wrap(self, cmd, queue_command_buffer(queue)); }
id mps_command_buffer_of_queue(id queue) { return wrap_next(class_named("MPSCommandBuffer"), NULL, queue); }

static id init(id self, SEL cmd, id buffer) {
  (void)cmd;
  set_up(self, buffer);
  return self;
}

static void dealloc(id self) {
  release(((mps_command_buffer *)self)->root);
  release(((mps_command_buffer *)self)->current);
}

void mps_command_buffer_continue(id self) {
  mps_command_buffer *b = (mps_command_buffer *)self;
  id queue = PASS(self, "commandQueue");
  command_buffer_commit(b->current);
  id next = retain(queue_command_buffer(queue));
  release(b->current);
  b->current = next;
}

static id root(id self) { return ((mps_command_buffer *)self)->root; }
static id queue(id self) { return PASS(self, "commandQueue"); }
static id device(id self) { return PASS(self, "device"); }
static void commit(id self) { command_buffer_commit(mps_command_buffer_current(self)); }
static void wait(id self) { command_buffer_wait(mps_command_buffer_current(self)); }
static int64_t status(id self) { return command_buffer_status(mps_command_buffer_current(self)); }
static id error(id self) { return PASS(self, "error"); }
static id compute_encoder(id self) { return PASS(self, "computeCommandEncoder"); }
static id blit_encoder(id self) { return PASS(self, "blitCommandEncoder"); }
static void signal_event(id self, SEL cmd, id event, uint64_t v) { (void)cmd, command_buffer_signal(mps_command_buffer_current(self), event, v); }
static void wait_event(id self, SEL cmd, id event, uint64_t v) { (void)cmd, command_buffer_await(mps_command_buffer_current(self), event, v); }

static const method methods[] = {
    CLASS("commandBufferWithCommandBuffer:", wrap),
    CLASS("commandBufferFromCommandQueue:", wrap_next),
    INSTANCE("initWithCommandBuffer:", init),
    INSTANCE("commandBuffer", mps_command_buffer_current),
    INSTANCE("rootCommandBuffer", root),
    INSTANCE("commitAndContinue", mps_command_buffer_continue),
    INSTANCE("commandQueue", queue),
    INSTANCE("device", device),
    INSTANCE("commit", commit),
    INSTANCE("waitUntilCompleted", wait),
    INSTANCE("status", status),
    INSTANCE("error", error),
    INSTANCE("computeCommandEncoder", compute_encoder),
    INSTANCE("blitCommandEncoder", blit_encoder),
    INSTANCE("encodeSignalEvent:value:", signal_event),
    INSTANCE("encodeWaitForEvent:value:", wait_event),
};

__attribute__((constructor)) static void define(void) {
  static const class_def definition = {"MPSCommandBuffer", "NSObject", NULL, sizeof(mps_command_buffer), dealloc, METHODS(methods)};
  class_define(&definition);
}
