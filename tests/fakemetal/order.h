/*
 * order.h - which work of the GPU comes after which, and who uses memory in no order at all.
 *
 * A pass is what an encoder encodes, or one run of a graph. Passes of a command buffer have no order among each other
 * over memory that Metal does not track, and neither have command buffers of one queue: only fences and events order
 * them, and a wait of the CPU ("Synchronizing passes with a fence", "Resource synchronization", Apple). So each pass
 * has the set of the passes that it comes after, whatever the order that threads happened to run in, and memory knows
 * who used which bytes of it; two passes that touch the same bytes, one of them writing, without one being in the set
 * of the other, are misuse.
 *
 * Memory that Metal does track is ordered by command buffers as they arrive, those of other queues included, a heap as
 * one resource (gpuweb#1065; "MTLHazardTrackingModeTracked").
 */
#ifndef FAKEMETAL_ORDER_H
#define FAKEMETAL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum { PASSES = 4096 }; /* that may be under way; the oldest is forgotten beyond that */

/* A set of passes. It is linked to all others, so that a number may be used again. */
typedef struct pass_set {
  struct pass_set *next, **link;
  uint64_t bits[PASSES / 64];
} pass_set;

void set_open(pass_set *s); /* empty; it stays where it is until it is closed */
void set_close(pass_set *s);
void set_add(pass_set *to, const pass_set *from);

typedef struct {
  uint32_t slot;
  uint64_t number; /* of the pass in its slot; 0: none */
} pass;

/* Begins a pass after those of a set, and adds it to the set of all that follows it. */
pass pass_begin(void);
void set_add_pass(pass_set *to, pass p);

/* The CPU knows that passes are over: whatever it commits from now on comes after them. */
void set_over(const pass_set *s);

/* Who used memory. */
typedef struct arrival arrival;
typedef struct {
  bool untracked;
  struct access *accesses; /* untracked: by passes that may be under way */
  int count, room;
  arrival *writer, **readers; /* tracked: command buffers that have arrived */
  int reader_count;
} hazard;

void hazard_close(hazard *h);

/* A pass has used bytes of untracked memory; after is what it comes after. */
void hazard_use(hazard *h, uintptr_t low, uintptr_t high, bool writes, pass p, const pass_set *after);

/* A command buffer as tracked memory sees it. */
arrival *arrival_new(void);
void arrival_touch(arrival *a, hazard *h, bool writes); /* as it is encoded; the memory outlives it */
void arrival_arrive(arrival *a);                        /* it comes after all that have arrived and share memory with it */
void arrival_wait(arrival *a, pass_set *after);         /* until those have ended */
void arrival_end(arrival *a, const pass_set *passes);   /* it has; also where it never arrived. It is gone then */

#endif
