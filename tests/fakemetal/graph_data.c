/*
 * graph_data.c - what graphs read and write: MPSGraphTensorData and MPSNDArray over Metal buffers, and
 * the types that describe them.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* ---- MPSGraphDevice. */

typedef struct {
  object head;
  id device;
} graph_device;

static void graph_device_dealloc(id self) { release(((graph_device *)self)->device); }

static id graph_device_with(class_ *self, SEL cmd, id device) {
  (void)cmd;
  graph_device *d = (graph_device *)object_make(self);
  d->device = retain(device);
  return autorelease(&d->head);
}

static id graph_device_metal(id self) { return ((graph_device *)self)->device; }
static uint32_t graph_device_type(id self) { return (void)self, 0; }

static const method graph_device_methods[] = {
    CLASS("deviceWithMTLDevice:", graph_device_with),
    INSTANCE("metalDevice", graph_device_metal),
    INSTANCE("type", graph_device_type),
};

/* ---- MPSGraphShapedType. */

typedef struct {
  object head;
  form form;
} shaped_type;

form shaped_type_form(id self) { return ((shaped_type *)self)->form; }

static id shaped_type_init(id self, SEL cmd, id numbers, uint32_t type) {
  (void)cmd;
  form f = {type, shape_of(numbers)};
  form_check(&f);
  ((shaped_type *)self)->form = f;
  return self;
}

static id shaped_type_shape(id self) { return shape_numbers(&((shaped_type *)self)->form.shape); }
static uint32_t shaped_type_type(id self) { return ((shaped_type *)self)->form.type; }
static void shaped_type_set_shape(id self, SEL cmd, id numbers) { (void)cmd, ((shaped_type *)self)->form.shape = shape_of(numbers); }

static void shaped_type_set_type(id self, SEL cmd, uint32_t type) {
  (void)cmd;
  type_check(type);
  ((shaped_type *)self)->form.type = type;
}

static const method shaped_type_methods[] = {
    INSTANCE("initWithShape:dataType:", shaped_type_init),
    INSTANCE("shape", shaped_type_shape),
    INSTANCE("setShape:", shaped_type_set_shape),
    INSTANCE("dataType", shaped_type_type),
    INSTANCE("setDataType:", shaped_type_set_type),
};

/* ---- Views. */

/* Rows of an array that is not packed begin at multiples of so many bytes. */
enum { ROW_ALIGN = 16, SLACK_MOST = 256 };

/* lay_out fills in the strides: rows of row_bytes, everything else without gaps. */
static void lay_out(view *v, size_t row_bytes) {
  int last = v->form.shape.rank - 1;
  int64_t stride = (int64_t)row_bytes;
  v->strides[last] = (int64_t)type_size(v->form.type);
  for (int i = last; i-- > 0; stride *= v->form.shape.at[i]) v->strides[i] = stride;
}

static size_t row_of(const form *f) { return (size_t)f->shape.at[f->shape.rank - 1] * type_size(f->type); }

/* extent is one more than the offset of a view's last byte. */
static size_t extent(const view *v) {
  int64_t last = 0;
  for (int i = 0; i < v->form.shape.rank; i++) last += (v->form.shape.at[i] - 1) * v->strides[i];
  return v->offset + (size_t)last + type_size(v->form.type);
}

static void check_view(const view *v) {
  form_check(&v->form);
  if (v->form.shape.rank == 0) misuse("a shape of 0 axes; want 1 to %d", MOST_AXES);
  if (!shape_known(&v->form.shape)) misuse("shape %s has an unknown extent", shape_text(&v->form.shape));
}

static void check_fits(const view *v) {
  if (extent(v) > buffer_length(v->buffer))
    misuse("buffer is not large enough. Must be %zu bytes; it has %zu", extent(v), buffer_length(v->buffer));
}

void view_read(const view *v, value *to) {
  const char *bytes = (const char *)buffer_bytes(v->buffer) + v->offset;
  value_make(to, &v->form);
  for (int64_t i = 0; i < to->count; i++)
    to->cells[i] = type_load(v->form.type, bytes + shape_offset(&v->form.shape, i, v->strides));
}

void view_write(const view *v, const value *from) {
  char *bytes = (char *)buffer_bytes(v->buffer) + v->offset;
  for (int64_t i = 0; i < from->count; i++)
    type_store(v->form.type, bytes + shape_offset(&v->form.shape, i, v->strides), from->cells[i]);
}

/* ---- MPSNDArrayDescriptor: dimension 0 is the fastest. */

typedef struct {
  object head;
  form form;
  bool packed;
} array_descriptor;

static id array_descriptor_with(class_ *self, SEL cmd, uint32_t type, id numbers) {
  (void)cmd;
  array_descriptor *d = (array_descriptor *)object_make(self);
  d->form = (form){type, shape_of(numbers)};
  form_check(&d->form);
  return autorelease(&d->head);
}

static int64_t length_of(const form *f, uint64_t dimension) {
  return dimension < (uint64_t)f->shape.rank ? f->shape.at[f->shape.rank - 1 - (int)dimension] : 1;
}

static id array_descriptor_shape(id self) { return shape_numbers(&((array_descriptor *)self)->form.shape); }
static uint32_t array_descriptor_type(id self) { return ((array_descriptor *)self)->form.type; }
static uint64_t array_descriptor_rank(id self) { return (uint64_t)((array_descriptor *)self)->form.shape.rank; }
static int64_t array_descriptor_length(id self, SEL cmd, uint64_t dimension) {
  return (void)cmd, length_of(&((array_descriptor *)self)->form, dimension);
}

static BOOL array_descriptor_packed(id self) { return ((array_descriptor *)self)->packed; }
static void array_descriptor_set_packed(id self, SEL cmd, BOOL packed) { (void)cmd, ((array_descriptor *)self)->packed = packed; }

static const method array_descriptor_methods[] = {
    CLASS("descriptorWithDataType:shape:", array_descriptor_with),
    INSTANCE("getShape", array_descriptor_shape),
    INSTANCE("dataType", array_descriptor_type),
    INSTANCE("numberOfDimensions", array_descriptor_rank),
    INSTANCE("lengthOfDimension:", array_descriptor_length),
    INSTANCE("preferPackedRows", array_descriptor_packed),
    INSTANCE("setPreferPackedRows:", array_descriptor_set_packed),
};

/* ---- MPSNDArray. */

typedef struct {
  object head;
  view view;
  id parent;
} array;

static void array_dealloc(id self) {
  release(((array *)self)->view.buffer);
  release(((array *)self)->parent);
}

static size_t row_bytes(const array_descriptor *d) {
  size_t row = row_of(&d->form);
  return d->packed ? row : (row + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
}

static id array_init(id self, SEL cmd, id buffer, uint64_t offset, id descriptor) {
  (void)cmd;
  array *a = (array *)self;
  const array_descriptor *d = (const array_descriptor *)descriptor;
  a->view = (view){.buffer = retain(buffer), .offset = offset, .form = d->form};
  check_view(&a->view);
  if (offset % type_size(d->form.type) != 0) misuse("offset %llu is no multiple of an element's size", (unsigned long long)offset);
  lay_out(&a->view, row_bytes(d));
  check_fits(&a->view);
  return self;
}

static id array_init_own(id self, SEL cmd, id device, id descriptor) {
  (void)device;
  const array_descriptor *d = (const array_descriptor *)descriptor;
  view v = {.form = d->form};
  check_view(&v);
  lay_out(&v, row_bytes(d));
  id buffer = buffer_new(extent(&v));
  if (!buffer) return release(self), NULL;
  array_init(self, cmd, buffer, 0, descriptor);
  release(buffer);
  return self;
}

/* An array can be seen with longer strides, counted in elements, as long as its rows have no gaps and
 * the axes are in order. Anything else has no view. */
static id array_view(id self, SEL cmd, id numbers, id strides) {
  (void)cmd;
  array *a = (array *)self;
  view v = {.buffer = a->view.buffer, .offset = a->view.offset, .form = {a->view.form.type, shape_of(numbers)}};
  check_view(&v);
  int rank = v.form.shape.rank;
  if (array_count(strides) != (size_t)rank) misuse("%zu strides for %d axes", array_count(strides), rank);
  for (int i = 0; i < rank; i++) {
    int64_t stride = number_integer(array_at(strides, (size_t)i));
    int64_t next = i + 1 < rank ? number_integer(array_at(strides, (size_t)i + 1)) * v.form.shape.at[i + 1] : 1;
    if (stride < next || (i == rank - 1 && stride != 1)) return NULL;
    v.strides[i] = stride * (int64_t)type_size(v.form.type);
  }
  if (extent(&v) > buffer_length(v.buffer)) return NULL;
  array *made = (array *)object_make(self->isa);
  made->view = v, made->parent = retain(self);
  retain(v.buffer);
  return autorelease(&made->head);
}

static uint32_t array_type(id self) { return ((array *)self)->view.form.type; }
static uint64_t array_type_size(id self) { return type_size(array_type(self)); }
static uint64_t array_rank(id self) { return (uint64_t)((array *)self)->view.form.shape.rank; }
static int64_t array_length(id self, SEL cmd, uint64_t dimension) { return (void)cmd, length_of(&((array *)self)->view.form, dimension); }
static id array_parent(id self) { return ((array *)self)->parent; }
static id array_device(id self) { return (void)self, metal_device(); }
static id array_buffer(id self) { return ((array *)self)->view.buffer; }
static uint64_t array_size(id self) { return extent(&((array *)self)->view) - ((array *)self)->view.offset; }

/* The bytes of the caller are dense. */
static void array_copy(id self, char *bytes, int64_t *strides, bool out) {
  const view *v = &((array *)self)->view;
  if (strides) misuse("strides; the fake copies dense bytes only");
  if (!bytes) misuse("bytes are NULL");
  size_t size = type_size(v->form.type);
  char *own = (char *)buffer_bytes(v->buffer) + v->offset;
  int64_t n = shape_count(&v->form.shape);
  for (int64_t i = 0; i < n; i++, bytes += size) {
    char *at = own + shape_offset(&v->form.shape, i, v->strides);
    memcpy(out ? bytes : at, out ? at : bytes, size);
  }
  count(COUNT_COPIED_BYTES, n * (int64_t)size);
}

static void array_read(id self, SEL cmd, void *bytes, int64_t *strides) { (void)cmd, array_copy(self, bytes, strides, true); }
static void array_write(id self, SEL cmd, void *bytes, int64_t *strides) { (void)cmd, array_copy(self, bytes, strides, false); }

static const method array_methods[] = {
    INSTANCE("initWithBuffer:offset:descriptor:", array_init),
    INSTANCE("initWithDevice:descriptor:", array_init_own),
    INSTANCE("arrayViewWithShape:strides:", array_view),
    INSTANCE("dataType", array_type),
    INSTANCE("dataTypeSize", array_type_size),
    INSTANCE("numberOfDimensions", array_rank),
    INSTANCE("lengthOfDimension:", array_length),
    INSTANCE("parent", array_parent),
    INSTANCE("device", array_device),
    INSTANCE("userBuffer", array_buffer),
    INSTANCE("resourceSize", array_size),
    INSTANCE("readBytes:strideBytes:", array_read),
    INSTANCE("writeBytes:strideBytes:", array_write),
};

/* ---- MPSGraphTensorData. */

typedef struct {
  object head;
  view view;
} tensor_data;

static void tensor_data_dealloc(id self) { release(((tensor_data *)self)->view.buffer); }
const view *tensor_data_view(id self) { return &((tensor_data *)self)->view; }

static id tensor_data_over(id self, view v) {
  retain(v.buffer);
  ((tensor_data *)self)->view = v;
  count(COUNT_TENSOR_DATAS, 1);
  return self;
}

static id tensor_data_init_rows(id self, SEL cmd, id buffer, id numbers, uint32_t type, uint64_t row_bytes) {
  (void)cmd;
  view v = {.buffer = buffer, .form = {type, shape_of(numbers)}};
  check_view(&v);
  size_t row = row_of(&v.form), size = type_size(type);
  if (row_bytes < row || row_bytes % size != 0)
    misuse("rows of %llu bytes; want at least %zu, a multiple of %zu", (unsigned long long)row_bytes, row, size);
  lay_out(&v, row_bytes);
  check_fits(&v);
  return tensor_data_over(self, v);
}

/* Others have seen MPSGraph refuse a buffer of 16 bytes for 2 x 4 halves, "Must be 32 bytes": it lays out
 * rows at multiples of 16. Large dense buffers work everywhere, so only small ones are refused here. */
static void check_slack(const view *v, id buffer) {
  size_t row = row_of(&v->form), rows = (size_t)shape_count(&v->form.shape) / (size_t)v->form.shape.at[v->form.shape.rank - 1];
  size_t padded = (row + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN * rows;
  size_t wanted = padded < SLACK_MOST ? padded : SLACK_MOST;
  if (buffer_length(buffer) < wanted)
    misuse("buffer is not large enough. Must be %zu bytes; it has %zu, round it up to %d", wanted, buffer_length(buffer), SLACK_MOST);
}

static id tensor_data_init(id self, SEL cmd, id buffer, id numbers, uint32_t type) {
  view v = {.form = {type, shape_of(numbers)}};
  check_view(&v);
  check_slack(&v, buffer);
  return tensor_data_init_rows(self, cmd, buffer, numbers, type, row_of(&v.form));
}

static id tensor_data_init_array(id self, SEL cmd, id from) { return (void)cmd, tensor_data_over(self, ((array *)from)->view); }

id tensor_data_new(const form *f) {
  view v = {.form = *f};
  lay_out(&v, row_of(f));
  v.buffer = buffer_new(extent(&v));
  if (!v.buffer) return NULL;
  id made = tensor_data_over(object_new("MPSGraphTensorData"), v);
  release(v.buffer);
  return made;
}

static id tensor_data_init_bytes(id self, SEL cmd, id device, id data, id numbers, uint32_t type) {
  (void)cmd, (void)device;
  view v = {.form = {type, shape_of(numbers)}};
  const void *bytes;
  size_t length;
  check_view(&v);
  lay_out(&v, row_of(&v.form));
  data_of(data, &bytes, &length);
  if (length != extent(&v)) misuse("data of %zu bytes; shape %s of %s has %zu", length, shape_text(&v.form.shape), type_name(type), extent(&v));
  v.buffer = buffer_new(length);
  if (!v.buffer) return release(self), NULL;
  memcpy(buffer_bytes(v.buffer), bytes, length);
  count(COUNT_COPIED_BYTES, (int64_t)length);
  tensor_data_over(self, v);
  release(v.buffer);
  return self;
}

static id tensor_data_shape(id self) { return shape_numbers(&tensor_data_view(self)->form.shape); }
static uint32_t tensor_data_type(id self) { return tensor_data_view(self)->form.type; }
static id tensor_data_device(id self) { return (void)self, graph_device_with(class_named("MPSGraphDevice"), NULL, metal_device()); }

static id tensor_data_array(id self) {
  array *a = (array *)object_new("MPSNDArray");
  a->view = *tensor_data_view(self);
  retain(a->view.buffer);
  return autorelease(&a->head);
}

static const method tensor_data_methods[] = {
    INSTANCE("initWithMTLBuffer:shape:dataType:", tensor_data_init),
    INSTANCE("initWithMTLBuffer:shape:dataType:rowBytes:", tensor_data_init_rows),
    INSTANCE("initWithMPSNDArray:", tensor_data_init_array),
    INSTANCE("initWithDevice:data:shape:dataType:", tensor_data_init_bytes),
    INSTANCE("shape", tensor_data_shape),
    INSTANCE("dataType", tensor_data_type),
    INSTANCE("device", tensor_data_device),
    INSTANCE("mpsndarray", tensor_data_array),
};

__attribute__((constructor)) static void define(void) {
  static const class_def definitions[] = {
      {"MPSGraphDevice", "NSObject", NULL, sizeof(graph_device), graph_device_dealloc, METHODS(graph_device_methods)},
      {"MPSGraphShapedType", "NSObject", "MPSGraphType", sizeof(shaped_type), NULL, METHODS(shaped_type_methods)},
      {"MPSNDArrayDescriptor", "NSObject", NULL, sizeof(array_descriptor), NULL, METHODS(array_descriptor_methods)},
      {"MPSNDArray", "NSObject", NULL, sizeof(array), array_dealloc, METHODS(array_methods)},
      {"MPSGraphTensorData", "NSObject", NULL, sizeof(tensor_data), tensor_data_dealloc, METHODS(tensor_data_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
}
