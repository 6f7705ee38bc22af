/*
 * graph_package.c - executables of MPSGraph on disk.
 *
 * A package is a folder with two files: manifest.plist, which has the size and the checksum of the other, and
 * model.bin, the graph with the orders of feeds and targets. As others have seen of Apple's, writing ends the process
 * where the folder cannot be made, loading does where a file is missing, and what the manifest names is read when the
 * executable is specialized or first run: a package that is gone by then ends the process too. Nodes are added
 * again through their operators, which verify them once more.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "class.h"
#include "defect.h"
#include "graph.h"

enum { ABORTS = 6, PATH = 4096 }; /* the code of a failure that ends the process; the longest path */

static void join(char *path, const char *folder, const char *name) {
  if (snprintf(path, PATH, "%s/%s", folder, name) >= PATH) misuse("a path of %zu characters", strlen(folder));
}

static uint64_t checksum(const char *bytes, size_t size) {
  uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
  for (size_t i = 0; i < size; i++) sum = (sum ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
  return sum;
}

/* ---- Writing. */

static void put(FILE *to, const void *bytes, size_t size) {
  if (size && fwrite(bytes, size, 1, to) != 1) misuse("writing the package failed: %s", strerror(errno));
}

#define PUT(to, value) put(to, &(value), sizeof(value))

static void put_text(FILE *to, const char *text) {
  int64_t size = (int64_t)strlen(text) + 1;
  PUT(to, size);
  put(to, text, (size_t)size);
}

/* Descriptors are plain numbers behind the head of the object. */
static void put_descriptor(FILE *to, id descriptor) {
  put_text(to, descriptor ? descriptor->isa->name : "");
  if (descriptor) put(to, descriptor + 1, descriptor->isa->size - sizeof(object));
}

static void put_node(FILE *to, const node *n) {
  put_text(to, n->op->selector);
  PUT(to, n->ins);
  for (int i = 0; i < n->ins; i++) PUT(to, n->in[i]->number);
  PUT(to, n->list_count);
  for (int i = 0; i < n->list_count; i++) {
    PUT(to, n->lists[i].given);
    PUT(to, n->lists[i].count);
    put(to, n->lists[i].at, (size_t)n->lists[i].count * sizeof *n->lists[i].at);
  }
  PUT(to, n->axis);
  PUT(to, n->numbers);
  PUT(to, n->flags);
  PUT(to, n->scalar);
  put_descriptor(to, n->descriptor);
  PUT(to, n->constant.form);
  PUT(to, n->constant.count);
  put(to, n->constant.cells, (size_t)n->constant.count * sizeof *n->constant.cells);
}

static void put_tensors(FILE *to, tensor *const *tensors, int count) {
  PUT(to, count);
  for (int i = 0; i < count; i++) PUT(to, tensors[i]->number);
}

static void write_file(const char *folder, const char *name, const char *bytes, size_t size) {
  char path[PATH];
  join(path, folder, name);
  FILE *to = fopen(path, "wb");
  if (!to) misuse("Error: creating %s failed: %s", path, strerror(errno));
  put(to, bytes, size);
  if (fclose(to) != 0) misuse("writing %s failed: %s", path, strerror(errno));
}

void package_write(const executable *x, const char *path) {
  if (!path) misuse("the URL is nil");
  if (!x->graph) misuse("an executable that was loaded and not specialized");
  if (fails(FAIL_PACKAGE_WRITE)) {
    if (fail_code() == ABORTS) misuse("serialization failed");
    return;
  }
  if (mkdir(path, 0777) != 0) misuse("Error: creating .mpsgraphpackage directory failed: %s", strerror(errno));
  char *bytes = NULL, manifest[128];
  size_t size = 0;
  FILE *to = open_memstream(&bytes, &size);
  PUT(to, x->graph->node_count);
  for (int64_t i = 0; i < x->graph->node_count; i++) put_node(to, x->graph->nodes[i]);
  put_tensors(to, x->feeds, x->feed_count);
  put_tensors(to, x->targets, x->target_count);
  PUT(to, x->options);
  fclose(to);
  write_file(path, "model.bin", bytes, size);
  snprintf(manifest, sizeof manifest, "fakemetal 1 %zu %016llx\n", size, (unsigned long long)checksum(bytes, size));
  write_file(path, "manifest.plist", manifest, strlen(manifest));
  free(bytes);
  count(COUNT_PACKAGES_WRITTEN, 1);
}

/* ---- Reading. */

static char *read_file(const char *folder, const char *name, size_t *size) {
  char path[PATH];
  join(path, folder, name);
  FILE *from = fopen(path, "rb");
  if (!from) return NULL;
  char *bytes = NULL, part[4096];
  *size = 0;
  for (size_t n; (n = fread(part, 1, sizeof part, from)) > 0; *size += n) {
    bytes = realloc(bytes, *size + n + 1);
    memcpy(bytes + *size, part, n);
  }
  fclose(from);
  if (!bytes) bytes = calloc(1, 1);
  bytes[*size] = 0;
  return bytes;
}

/* contents answers the graph's bytes, to be freed, or NULL if the package is not whole. */
static char *contents(const char *path, size_t *size) {
  size_t length, want;
  unsigned long long sum;
  char *manifest = read_file(path, "manifest.plist", &length), *bytes = NULL;
  if (manifest && sscanf(manifest, "fakemetal 1 %zu %llx", &want, &sum) == 2) bytes = read_file(path, "model.bin", size);
  free(manifest);
  if (bytes && (*size != want || checksum(bytes, *size) != sum)) free(bytes), bytes = NULL;
  return bytes;
}

bool package_open(executable *x, const char *path) {
  if (!path) misuse("the URL is nil");
  if (fails(FAIL_PACKAGE_READ)) {
    if (fail_code() == ABORTS) misuse("loading failed");
    return false;
  }
  size_t size;
  char *bytes = contents(path, &size);
  const char *lenient = getenv("FAKEMETAL_LENIENT_PACKAGES");
  if (!bytes && !(lenient && *lenient == '1')) misuse("Error: The file in \"%s\" couldn't be opened", path);
  if (!bytes) return false;
  free(bytes);
  x->package = strdup(path);
  count(COUNT_PACKAGES_READ, 1);
  return true;
}

static void get(const char **from, void *to, size_t size) {
  if (size) memcpy(to, *from, size);
  *from += size;
}

#define GET(from, value) get(from, &(value), sizeof(value))

static const char *get_text(const char **from) {
  int64_t size;
  GET(from, size);
  *from += size;
  return *from - size;
}

static id get_descriptor(const char **from) {
  const char *name = get_text(from);
  if (!*name) return NULL;
  id d = object_make(class_named(name));
  get(from, d + 1, d->isa->size - sizeof(object));
  return d;
}

static void get_node(graph *g, const char **from) {
  node *n = node_begin(&g->head, selector(get_text(from)), NULL);
  int ins, lists;
  GET(from, ins);
  for (int64_t i = 0, at; i < ins; i++) {
    GET(from, at);
    node_input(n, &g->tensors[at]->head);
  }
  GET(from, lists);
  for (int i = 0; i < lists; i++) {
    list *l = &n->lists[n->list_count++];
    GET(from, l->given);
    GET(from, l->count);
    l->at = calloc((size_t)l->count + 1, sizeof *l->at);
    get(from, l->at, (size_t)l->count * sizeof *l->at);
  }
  GET(from, n->axis);
  GET(from, n->numbers);
  GET(from, n->flags);
  GET(from, n->scalar);
  n->descriptor = get_descriptor(from);
  GET(from, n->constant.form);
  GET(from, n->constant.count);
  if (n->constant.count) n->constant.cells = calloc((size_t)n->constant.count, sizeof *n->constant.cells);
  get(from, n->constant.cells, (size_t)n->constant.count * sizeof *n->constant.cells);
  node_end(n);
}

static tensor **get_tensors(const graph *g, const char **from, int *count) {
  GET(from, *count);
  tensor **all = calloc((size_t)*count + 1, sizeof(tensor *));
  for (int64_t i = 0, at; i < *count; i++) {
    GET(from, at);
    all[i] = g->tensors[at];
  }
  return all;
}

/* MPSGraphExecutableSerializationDescriptor; what it says is for other systems than the one that writes. */
__attribute__((constructor)) static void define(void) {
  static const class_def definition = {"MPSGraphExecutableSerializationDescriptor", "NSObject", NULL, sizeof(object), NULL, NULL, 0};
  class_define(&definition);
}

void package_read(executable *x) {
  if (x->graph) return;
  size_t size;
  char *bytes = contents(x->package, &size);
  if (!bytes) misuse("the package \"%s\" is no longer there", x->package);
  const char *at = bytes;
  int64_t nodes;
  x->graph = (graph *)object_new("MPSGraph");
  GET(&at, nodes);
  for (int64_t i = 0; i < nodes; i++) get_node(x->graph, &at);
  x->feeds = get_tensors(x->graph, &at, &x->feed_count);
  x->targets = get_tensors(x->graph, &at, &x->target_count);
  if (planted(PACKAGE_ORDER) && x->feed_count > 1) {
    tensor *swap = x->feeds[0];
    x->feeds[0] = x->feeds[1], x->feeds[1] = swap;
  }
  GET(&at, x->options);
  x->tensor_count = x->graph->tensor_count;
  free(bytes);
  executable_select(x);
}
