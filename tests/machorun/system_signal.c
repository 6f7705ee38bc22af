/*
 * system_signal.c - signals: numbers, masks and flags differ, and so does what a handler is shown. A handler
 * of Darwin's gets Darwin's record of the signal and of the registers, and may change those, as Go's does
 * to turn a bad address into a panic.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "machorun.h"

typedef struct {
  void *handler;
  uint32_t mask;
  int flags;
} darwin_action;

typedef struct {
  void *start;
  size_t size;
  int flags;
} darwin_stack;

typedef struct {
  int number, error, code, pid;
  uint32_t uid;
  int status;
  void *address, *value;
  long band;
  unsigned long padding[7];
} darwin_info;

typedef struct {
  uint64_t fault;
  uint32_t syndrome, exception;
  uint64_t x[29], fp, lr, sp, pc;
  uint32_t status, padding;
  __uint128_t floats[32]; /* not filled in: they come back as they were */
  uint32_t float_status, float_control;
} darwin_registers;

typedef struct {
  int on_stack;
  uint32_t mask;
  darwin_stack stack;
  void *link;
  size_t size;
  darwin_registers *registers;
} darwin_context;

_Static_assert(sizeof(darwin_info) == 104 && sizeof(darwin_context) == 56 && offsetof(darwin_registers, floats) == 288,
               "sys/signal.h and arm/_mcontext.h say so");

/* Flags of an action; the numbers of SIG_DFL and SIG_IGN are the same. */
enum { ON_STACK = 1, RESTART = 2, RESET = 4, NO_STOPS = 8, NO_DEFER = 16, NO_WAIT = 32, WITH_INFO = 64 };
enum { SIGNALS = 32, STACK_DISABLED = 4 };

static darwin_action actions[SIGNALS];

/* The last bad access of a thread, for say_fault. */
static _Thread_local struct {
  int number; /* Darwin's; 0: there was none */
  const uint8_t *code, *address;
} fault;

static uint32_t darwin_mask(const sigset_t *set) {
  uint32_t mask = 0;
  for (int i = 1; i < SIGNALS; i++)
    if (linux_signal(i) && sigismember(set, linux_signal(i))) mask |= 1u << (i - 1);
  return mask;
}

static sigset_t linux_mask(uint32_t mask) {
  sigset_t set;
  sigemptyset(&set);
  for (int i = 1; i < SIGNALS; i++)
    if (linux_signal(i) && (mask & 1u << (i - 1))) sigaddset(&set, linux_signal(i));
  return set;
}

static void show_registers(darwin_registers *to, const mcontext_t *from) {
  memcpy(to->x, from->regs, sizeof to->x);
  to->fault = from->fault_address;
  to->fp = from->regs[29], to->lr = from->regs[30], to->sp = from->sp, to->pc = from->pc;
  to->status = (uint32_t)from->pstate;
}

static void take_registers(mcontext_t *to, const darwin_registers *from) {
  memcpy(to->regs, from->x, sizeof from->x);
  to->regs[29] = from->fp, to->regs[30] = from->lr, to->sp = from->sp, to->pc = from->pc;
  to->pstate = from->status;
}

/* Signals that a process sends have the code 0 on Darwin, whatever way they were sent. */
static darwin_info describe(int number, const siginfo_t *info) {
  bool fault = info->si_code > 0;
  return (darwin_info){
      .number = number, .code = fault ? info->si_code : 0, .pid = fault ? 0 : info->si_pid, .address = fault ? info->si_addr : NULL};
}

/* deliver is the one handler that Linux knows. */
static void deliver(int linux_number, siginfo_t *info, void *context) {
  int number = darwin_signal(linux_number), error = errno;
  darwin_action action = actions[number];
  if (info->si_code > 0) {
    fault.number = number, fault.address = info->si_addr;
    fault.code = (const uint8_t *)((const ucontext_t *)context)->uc_mcontext.pc;
  }
  if (!(action.flags & WITH_INFO)) {
    ((void (*)(int))action.handler)(number);
  } else {
    ucontext_t *u = context;
    darwin_info shown = describe(number, info);
    darwin_registers registers = {0};
    darwin_context all = {.mask = darwin_mask(&u->uc_sigmask), .size = sizeof registers, .registers = &registers};
    show_registers(&registers, &u->uc_mcontext);
    ((void (*)(int, darwin_info *, darwin_context *))action.handler)(number, &shown, &all);
    take_registers(&u->uc_mcontext, &registers);
    sigset_t mask = linux_mask(all.mask);
    memcpy(&u->uc_sigmask, &mask, sizeof(uint64_t));
  }
  errno = error;
}

static bool is_handler(const void *handler) { return handler != (void *)SIG_DFL && handler != (void *)SIG_IGN; }

/* install tells Linux about an action. */
static int install(int linux_number, const darwin_action *action) {
  static const int flags[][2] = {{ON_STACK, SA_ONSTACK}, {RESTART, SA_RESTART}, {RESET, SA_RESETHAND}, {NO_STOPS, SA_NOCLDSTOP},
                                 {NO_DEFER, SA_NODEFER}, {NO_WAIT, SA_NOCLDWAIT}};
  struct sigaction to = {.sa_flags = SA_SIGINFO, .sa_mask = linux_mask(action->mask)};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    if (action->flags & flags[i][0]) to.sa_flags |= flags[i][1];
  if (is_handler(action->handler)) {
    to.sa_sigaction = deliver;
  } else {
    to.sa_flags &= ~SA_SIGINFO;
    to.sa_handler = (void (*)(int))action->handler;
  }
  return sigaction(linux_number, &to, NULL);
}

/* our_sigaction accepts handlers of signals that Linux lacks: they never come. */
static int our_sigaction(int number, const darwin_action *action, darwin_action *old) {
  if (number < 1 || number >= SIGNALS) return errno = EINVAL, -1;
  int known = linux_signal(number);
  darwin_action before = actions[number];
  struct sigaction now = {0};
  if (known) sigaction(known, NULL, &now);
  if (now.sa_handler == SIG_IGN) before.handler = (void *)SIG_IGN; /* as the process was started */
  if (action) {
    actions[number] = *action; /* first, for the signal may come at once */
    if (known && install(known, action) != 0) return -1;
  }
  if (old) *old = before;
  return 0;
}

static void *our_signal(int number, void *handler) {
  darwin_action action = {handler, 0, RESTART}, old;
  return our_sigaction(number, &action, &old) == 0 ? old.handler : (void *)SIG_ERR;
}

static int our_pthread_sigmask(int how, const uint32_t *mask, uint32_t *old) {
  sigset_t set = linux_mask(mask ? *mask : 0), before;
  int error = pthread_sigmask(how - 1, mask ? &set : NULL, &before); /* Darwin counts from 1 */
  if (error == 0 && old) *old = darwin_mask(&before);
  return error;
}

static int our_sigprocmask(int how, const uint32_t *mask, uint32_t *old) {
  int error = our_pthread_sigmask(how, mask, old);
  return error ? (errno = error, -1) : 0;
}

static int our_sigemptyset(uint32_t *set) { return *set = 0, 0; }
static int our_sigfillset(uint32_t *set) { return *set = UINT32_MAX, 0; }
static int our_sigaddset(uint32_t *set, int number) { return *set |= 1u << (number - 1), 0; }
static int our_sigdelset(uint32_t *set, int number) { return *set &= ~(1u << (number - 1)), 0; }

static int our_sigaltstack(const darwin_stack *stack, darwin_stack *old) {
  stack_t to = {0}, before;
  if (stack) to = (stack_t){.ss_sp = stack->start, .ss_size = stack->size, .ss_flags = stack->flags & STACK_DISABLED ? SS_DISABLE : 0};
  if (sigaltstack(stack ? &to : NULL, &before) != 0) return -1;
  int flags = (before.ss_flags & SS_ONSTACK ? 1 : 0) | (before.ss_flags & SS_DISABLE ? STACK_DISABLED : 0);
  if (old) *old = (darwin_stack){before.ss_sp, before.ss_size, flags};
  return 0;
}

static int our_kill(int pid, int number) {
  if (number != 0 && linux_signal(number) == 0) return errno = EINVAL, -1;
  return kill(pid, linux_signal(number));
}

/* say_fault prints what Go's runtime does not: after a bad access on a thread that is not Go's it restores the default
 * action and raises the signal again. */
static void say_fault(int number) {
  const image *m = image_at(fault.code);
  if (fault.number != number || is_handler(actions[number].handler)) return;
  dprintf(STDERR_FILENO, "machorun: signal %d for address %p, by the code at %#lx of %s\n", number, (const void *)fault.address,
          (unsigned long)(fault.code - (m ? m->header : NULL)), m ? m->path : "this process");
}

static int our_raise(int number) {
  if (number > 0 && number < SIGNALS) say_fault(number);
  return raise(linux_signal(number));
}

/* Only the low half of Darwin's microseconds is defined. */
static int our_setitimer(int which, const struct itimerval *timer, struct itimerval *old) {
  struct itimerval to = *timer;
  to.it_interval.tv_usec &= UINT32_MAX, to.it_value.tv_usec &= UINT32_MAX;
  return setitimer((__itimer_which_t)which, &to, old);
}

const function signal_functions[] = {
    OUR_CALL(sigaction), OURS(signal), OURS(pthread_sigmask), OUR_CALL(sigprocmask), OURS(sigemptyset), OURS(sigfillset), OURS(sigaddset),
    OURS(sigdelset), OUR_CALL(sigaltstack), OUR_CALL(kill), OUR_CALL(raise), OUR_CALL(setitimer), SAME(alarm), SAME(pause),
    END,
};
