/*
 * limits.c - the tables of limits.h, each with its source.
 */
#include "limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "harsh.h"

enum { KIB = 1024, PAGE_SIZE = 16384 };

/* ---- GPUs.
 *
 * Families, threads and bytes of a threadgroup: "Metal Feature Set Tables" (Apple), columns Apple7 to Apple9; Apple10
 * as llama.cpp#16634 prints it for an M5. Names of architectures: MLX's device_info in public logs (applegpu_g13 to
 * _g17, the letter is the size of the chip: g, s, c, d).
 * First macOS: that of the first Macs with the chip (11.0, 12.4, 13.5, 15.1, 26.0).
 * Registers: philipturner/metal-benchmarks ("about 208 KB" a core; 1024 threads up to 104 registers of 16 bits, 384
 * with 256 of them). M3 and later share them at run time; their pipelines also answer less than 1024. */
static const gpu_limits gpus[] = {
    {"M1", "Apple M1", "applegpu_g13g", "AGXMetalG13X", 1007, 11, 0, 1024, 32 * KIB, 32, 208 * KIB, 384},
    {"M2", "Apple M2", "applegpu_g14g", "AGXMetalG14X", 1008, 12, 4, 1024, 32 * KIB, 32, 208 * KIB, 384},
    {"M3", "Apple M3", "applegpu_g15g", "AGXMetalG15X", 1009, 13, 5, 1024, 32 * KIB, 32, 208 * KIB, 384},
    {"M4", "Apple M4", "applegpu_g16g", "AGXMetalG16X", 1009, 15, 1, 1024, 32 * KIB, 32, 208 * KIB, 384},
    {"M5", "Apple M5", "applegpu_g17g", "AGXMetalG17X", 1010, 26, 0, 1024, 32 * KIB, 32, 208 * KIB, 384},
};
enum { GPUS = sizeof gpus / sizeof *gpus };

static const gpu_limits *find(void) {
  const char *chip = getenv("FAKEMETAL_GPU");
  for (int i = 0; i < GPUS; i++)
    if (chip && *chip ? strcmp(chip, gpus[i].chip) == 0 : gpus[i].family == gpu_family()) return &gpus[i];
  fprintf(stderr, "fakemetal: FAKEMETAL_GPU is \"%s\" and FAKEMETAL_FAMILY %lld; want M1 to M5, or 1007 to 1010\n", chip ? chip : "", (long long)gpu_family());
  abort();
}

const gpu_limits *gpu(void) {
  static const gpu_limits *found; /* threads that race for it find the same */
  const gpu_limits *is = __atomic_load_n(&found, __ATOMIC_RELAXED);
  if (!is) __atomic_store_n(&found, is = find(), __ATOMIC_RELAXED);
  return is;
}

/* MTLGPUFamily of metal_enums: Apple1 to Apple10, Common1 to Common3, Mac2, Metal3 from macOS 13 and Metal4 from 26
 * on. What a macOS does not know yet it does not support. */
bool limit_family(int64_t family) {
  enum { APPLE1 = 1001, APPLE9 = 1009, APPLE10 = 1010, MAC2 = 2002, COMMON1 = 3001, COMMON3 = 3003, METAL3 = 5001, METAL4 = 5002 };
  if (family == METAL3) return macos_at_least(13, 0);
  if (family == METAL4) return macos_at_least(26, 0);
  if (family == MAC2 || (family >= COMMON1 && family <= COMMON3)) return true;
  if ((family == APPLE9 && !macos_at_least(13, 5)) || (family == APPLE10 && !macos_at_least(26, 0))) return false;
  return family >= APPLE1 && family <= gpu()->family;
}

/* ---- Memory.
 *
 * recommendedMaxWorkingSetSize, from logs of llama.cpp and MLX. macOS 13 to 15: 5461.34 MiB of 8 GiB, 10922.67 of 16,
 * 16384 of 24 and 21845.34 of 32 are two thirds; 27648 of 36 and 49152 of 64 are three quarters (llama.cpp#1706, #2011,
 * #5206, #11083). macOS 26: 12713115648 bytes of 16 GiB (llmfit#754), 19069.67 MB of 24, 26800.60 MB of 32 on M1, M2
 * and M4 alike, 40200896512 of 48, 55662788608 of 64, 115448725504 of 128 (ds4#893), each the whole page above. */
static const struct {
  int major;               /* from this macOS on */
  uint64_t gib;            /* up to so much memory */
  uint64_t numerator, denominator;
} working_sets[] = {
    {26, 24, 74, 100}, {26, 48, 78, 100}, {26, 64, 81, 100}, {26, UINT64_MAX, 84, 100},
    {13, 32, 2, 3},    {13, UINT64_MAX, 3, 4},
};

static uint64_t page_down(uint64_t bytes) { return bytes / PAGE_SIZE * PAGE_SIZE; }
static uint64_t page_up(uint64_t bytes) { return page_down(bytes + PAGE_SIZE - 1); }

uint64_t limit_working_set(uint64_t memory) {
  size_t i = 0;
  while (!macos_at_least(working_sets[i].major, 0) || (memory >> 30 > working_sets[i].gib && working_sets[i].gib != UINT64_MAX)) i++;
  return page_up(memory * working_sets[i].numerator / working_sets[i].denominator);
}

/* maxBufferLength is three quarters of that, less what is no whole page: 4 GiB of 8 (llama.cpp#1706), 36864 MiB of 64
 * (wgpu#2502), 30150672384 bytes of 48 GiB, 41747087360 of 64, 86586540032 of 128 (MLX's device_info on macOS 26). */
uint64_t limit_buffer(uint64_t memory) { return page_down(limit_working_set(memory) / 4 * 3); }

/* heapBufferSizeAndAlignWithLength: has no published values. A program must not presume them: with
 * FAKEMETAL_HEAP_SIZES the mock asks for more than the length, and for whole pages where a buffer is long. */
enum { SHORT_ALIGN = 256, LONG = 64 * KIB };

uint64_t limit_heap_align(uint64_t length) { return harsh(HEAP_SIZES) && length >= LONG ? PAGE_SIZE : SHORT_ALIGN; }

uint64_t limit_heap_size(uint64_t length) {
  uint64_t align = limit_heap_align(length);
  return (length + align - 1) / align * align + (harsh(HEAP_SIZES) ? align : 0);
}
