/* A plug-in for qemu-aarch64 that counts the instructions that a thread runs between two marks.
 *
 * A mark is the system call getpid with MARK as its first argument. Its second is the number of a count, and its third is 0 where the
 * count begins and 1 where it ends, which prints "count NUMBER INSTRUCTIONS" to the standard error. Other threads do not disturb it,
 * because each has a counter of its own.
 *
 * The declarations below are what this file uses of qemu-plugin.h, which Debian does not install; they are those of version 1 of the
 * interface (https://www.qemu.org/docs/master/devel/tcg-plugins.html). */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb; /* a block of instructions that is run from its first to its last */

typedef void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void block_runs(unsigned thread, void *userdata);
typedef void system_call(qemu_plugin_id_t id, unsigned thread, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
                         uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);

extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, block_translated *f);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, block_runs *f, int reads_no_registers, void *userdata);
extern void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, system_call *f);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

enum { GETPID = 172, MARK = 0x61726d36, THREADS = 1024 };

static uint64_t run[THREADS], begun[THREADS];

static void on_run(unsigned thread, void *instructions) {
  if (thread < THREADS) run[thread] += (uintptr_t)instructions;
}

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_cb(tb, on_run, 0, (void *)(uintptr_t)qemu_plugin_tb_n_insns(tb));
}

static void on_system_call(qemu_plugin_id_t id, unsigned thread, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
                           uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
  (void)id, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
  if (number != GETPID || a1 != MARK || thread >= THREADS) return;
  if (a3 == 0) {
    begun[thread] = run[thread];
  } else {
    fprintf(stderr, "count %" PRIu64 " %" PRIu64 "\n", a2, run[thread] - begun[thread]);
  }
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
  (void)info, (void)argc, (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
  qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
  return 0;
}
