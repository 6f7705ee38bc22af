/*
 * foundation.c - NSObject, and the classes of Foundation that hold one value: NSString, NSNumber,
 * NSData, NSError, NSURL, NSProcessInfo. Collections are in collection.c.
 *
 * Source: Apple's documentation of Foundation. Strings are UTF-8 and never change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "class.h"
#include "foundation.h"

/* ---- NSObject. */

static id object_alloc(class_ *self) { return object_make(self); }
static id object_init(id self) { return self; }
static class_ *object_class(id self) { return self->magic == MAGIC_CLASS ? (class_ *)self : self->isa; }
static class_ *object_superclass(id self) { return class_super(object_class(self)); }
static id object_retain(id self) { return retain(self); }
static void object_release(id self) { release(self); }
static id object_autorelease(id self) { return autorelease(self); }
static uint64_t object_retain_count(id self) { return (uint64_t)self->refs; }
static id object_self(id self) { return self; }

static BOOL class_has(class_ *self, SEL cmd, SEL wanted) {
  (void)cmd;
  entry *e = class_method(self, wanted, false);
  return e && e->available;
}

static BOOL object_has(id self, SEL cmd, SEL wanted) { return (void)cmd, responds(self, wanted); }

static BOOL object_is_kind(id self, SEL cmd, class_ *wanted) {
  (void)cmd;
  for (class_ *c = object_class(self); c; c = class_super(c))
    if (c == wanted) return true;
  return false;
}

static BOOL object_is_member(id self, SEL cmd, class_ *wanted) { return (void)cmd, object_class(self) == wanted; }
static BOOL object_is_equal(id self, SEL cmd, id other) { return (void)cmd, object_equal(self, other); }

static uint64_t object_hash(id self) {
  if (is_kind(self, "NSNumber")) return (uint64_t)number_integer(self);
  if (!is_kind(self, "NSString")) return (uintptr_t)self;
  uint64_t h = 1469598103934665603U; /* FNV-1a */
  for (const char *c = string_c(self); *c; c++) h = (h ^ (unsigned char)*c) * 1099511628211U;
  return h;
}

static id object_description(id self) {
  char text[96];
  snprintf(text, sizeof text, "<%s: %p>", class_title(self), (void *)self);
  return string_of(text);
}

bool object_equal(id a, id b) {
  if (a == b || !a || !b) return a == b;
  if (is_kind(a, "NSString") && is_kind(b, "NSString")) return strcmp(string_c(a), string_c(b)) == 0;
  return is_kind(a, "NSNumber") && is_kind(b, "NSNumber") && number_double(a) == number_double(b) &&
         number_integer(a) == number_integer(b);
}

static const method object_methods[] = {
    CLASS("alloc", object_alloc),
    CLASS("new", object_alloc),
    CLASS("class", object_class),
    CLASS("superclass", object_superclass),
    CLASS("instancesRespondToSelector:", class_has),
    CLASS("isSubclassOfClass:", object_is_kind),
    INSTANCE("init", object_init),
    INSTANCE("class", object_class),
    INSTANCE("superclass", object_superclass),
    INSTANCE("self", object_self),
    INSTANCE("retain", object_retain),
    INSTANCE("release", object_release),
    INSTANCE("autorelease", object_autorelease),
    INSTANCE("retainCount", object_retain_count),
    INSTANCE("respondsToSelector:", object_has),
    INSTANCE("isKindOfClass:", object_is_kind),
    INSTANCE("isMemberOfClass:", object_is_member),
    INSTANCE("isEqual:", object_is_equal),
    INSTANCE("hash", object_hash),
    INSTANCE("description", object_description),
};

/* ---- NSString. */

typedef struct {
  object head;
  char *text;
} string;

static void string_dealloc(id self) { free(((string *)self)->text); }

id string_new(const char *text) {
  id s = object_new("NSString");
  ((string *)s)->text = strdup(text);
  return s;
}

id string_of(const char *text) { return autorelease(string_new(text)); }
const char *string_c(id s) { return s ? ((string *)s)->text : NULL; }

static const char *checked_text(const char *text) {
  if (!text) misuse("*** NULL cString");
  return text;
}

static id string_with(class_ *self, SEL cmd, const char *text) {
  (void)self, (void)cmd;
  return string_of(checked_text(text));
}

static id string_init(id self, SEL cmd, const char *text) {
  (void)cmd;
  ((string *)self)->text = strdup(checked_text(text));
  return self;
}

static const char *string_utf8(id self) { return string_c(self); }
static BOOL string_is_equal(id self, SEL cmd, id other) { return (void)cmd, object_equal(self, other); }

/* Counted in UTF-16 units: four bytes of UTF-8 are two of them. */
static uint64_t string_length(id self) {
  uint64_t n = 0;
  for (const char *c = string_c(self); *c; c++) n += ((*c & 0xc0) != 0x80) + ((*c & 0xf8) == 0xf0);
  return n;
}

enum { UTF8 = 4 };

static uint64_t string_bytes(id self, SEL cmd, uint64_t encoding) {
  (void)cmd;
  if (encoding != UTF8) misuse("encoding %llu; the fake knows UTF-8, 4", (unsigned long long)encoding);
  return strlen(string_c(self));
}

static const method string_methods[] = {
    CLASS("stringWithUTF8String:", string_with),
    INSTANCE("initWithUTF8String:", string_init),
    INSTANCE("UTF8String", string_utf8),
    INSTANCE("isEqualToString:", string_is_equal),
    INSTANCE("length", string_length),
    INSTANCE("lengthOfBytesUsingEncoding:", string_bytes),
    INSTANCE("description", object_self),
};

/* ---- NSNumber: a double and an integer, which are the same value as far as both can hold it. */

typedef struct {
  object head;
  double real;
  int64_t whole;
} number;

static id number_make(double real, int64_t whole) {
  number *n = (number *)object_new("NSNumber");
  n->real = real, n->whole = whole;
  return autorelease(&n->head);
}

/* What a conversion to int64 gives outside its range is undefined in C. */
static int64_t truncated(double v) { return v > -9.2e18 && v < 9.2e18 ? (int64_t)v : INT64_MIN; }

id number_int(int64_t v) { return number_make((double)v, v); }
id number_float(double v) { return number_make(v, truncated(v)); }
double number_double(id n) { return n ? ((number *)n)->real : 0; }
int64_t number_integer(id n) { return n ? ((number *)n)->whole : 0; }

static id number_with_int64(class_ *self, SEL cmd, int64_t v) { return (void)self, (void)cmd, number_int(v); }
static id number_with_int(class_ *self, SEL cmd, int v) { return (void)self, (void)cmd, number_int(v); }
static id number_with_uint(class_ *self, SEL cmd, unsigned v) { return (void)self, (void)cmd, number_int(v); }
static id number_with_bool(class_ *self, SEL cmd, BOOL v) { return (void)self, (void)cmd, number_int(v != 0); }
static id number_with_double(class_ *self, SEL cmd, double v) { return (void)self, (void)cmd, number_float(v); }
static id number_with_float(class_ *self, SEL cmd, float v) { return (void)self, (void)cmd, number_float(v); }

static int64_t number_int64_value(id self) { return number_integer(self); }
static int number_int_value(id self) { return (int)number_integer(self); }
static BOOL number_bool_value(id self) { return number_double(self) != 0; }
static double number_double_value(id self) { return number_double(self); }
static float number_float_value(id self) { return (float)number_double(self); }

static const method number_methods[] = {
    CLASS("numberWithLongLong:", number_with_int64),
    CLASS("numberWithInteger:", number_with_int64),
    CLASS("numberWithUnsignedInteger:", number_with_int64),
    CLASS("numberWithUnsignedLongLong:", number_with_int64),
    CLASS("numberWithInt:", number_with_int),
    CLASS("numberWithUnsignedInt:", number_with_uint),
    CLASS("numberWithBool:", number_with_bool),
    CLASS("numberWithDouble:", number_with_double),
    CLASS("numberWithFloat:", number_with_float),
    INSTANCE("longLongValue", number_int64_value),
    INSTANCE("integerValue", number_int64_value),
    INSTANCE("unsignedIntegerValue", number_int64_value),
    INSTANCE("unsignedLongLongValue", number_int64_value),
    INSTANCE("intValue", number_int_value),
    INSTANCE("boolValue", number_bool_value),
    INSTANCE("doubleValue", number_double_value),
    INSTANCE("floatValue", number_float_value),
};

/* ---- NSData. */

typedef struct {
  object head;
  void *bytes;
  size_t length;
  bool owned;
} data;

static void data_dealloc(id self) {
  if (((data *)self)->owned) free(((data *)self)->bytes);
}

static id data_fill(id self, const void *bytes, size_t length) {
  data *d = (data *)self;
  if (length > 0 && !bytes) misuse("bytes are NULL and their length is %zu", length);
  d->bytes = malloc(length ? length : 1), d->length = length, d->owned = true;
  if (length > 0) memcpy(d->bytes, bytes, length);
  count(COUNT_COPIED_BYTES, (int64_t)length);
  return self;
}

id data_new(const void *bytes, size_t length) { return data_fill(object_new("NSData"), bytes, length); }

void data_of(id self, const void **bytes, size_t *length) {
  *bytes = self ? ((data *)self)->bytes : NULL;
  *length = self ? ((data *)self)->length : 0;
}

static id data_with(class_ *self, SEL cmd, const void *bytes, uint64_t length) {
  (void)self, (void)cmd;
  return autorelease(data_new(bytes, length));
}

static id data_init(id self, SEL cmd, const void *bytes, uint64_t length) { return (void)cmd, data_fill(self, bytes, length); }

static id data_wrap(class_ *self, SEL cmd, void *bytes, uint64_t length, BOOL free_when_done) {
  (void)self, (void)cmd;
  data *d = (data *)object_new("NSData");
  d->bytes = bytes, d->length = length, d->owned = free_when_done;
  return autorelease(&d->head);
}

static const void *data_bytes(id self) { return ((data *)self)->bytes; }
static uint64_t data_length(id self) { return ((data *)self)->length; }

static const method data_methods[] = {
    CLASS("dataWithBytes:length:", data_with),
    CLASS("dataWithBytesNoCopy:length:freeWhenDone:", data_wrap),
    INSTANCE("initWithBytes:length:", data_init),
    INSTANCE("bytes", data_bytes),
    INSTANCE("length", data_length),
};

/* ---- NSError. */

typedef struct {
  object head;
  id domain, info;
  int64_t code;
} error;

static const char description_key[] = "NSLocalizedDescription";

static void error_dealloc(id self) {
  release(((error *)self)->domain);
  release(((error *)self)->info);
}

static id error_with(class_ *self, SEL cmd, id domain, int64_t code, id info) {
  (void)self, (void)cmd;
  error *e = (error *)object_new("NSError");
  e->domain = retain(domain), e->code = code, e->info = retain(info);
  return autorelease(&e->head);
}

id error_new(const char *domain, int64_t code, const char *description) {
  error *e = (error *)object_new("NSError");
  id key = string_new(description_key), value = string_new(description);
  e->domain = string_new(domain), e->code = code, e->info = dictionary_new(&key, &value, 1);
  release(key), release(value);
  return &e->head;
}

void error_out(id *where, const char *domain, int64_t code, const char *description) {
  if (where) *where = autorelease(error_new(domain, code, description));
}

static id error_domain(id self) { return ((error *)self)->domain; }
static id error_info(id self) { return ((error *)self)->info; }
static int64_t error_code(id self) { return ((error *)self)->code; }

static id error_description(id self) {
  error *e = (error *)self;
  id key = string_of(description_key), text = e->info ? dictionary_get(e->info, key) : NULL;
  if (text) return text;
  char made[256];
  snprintf(made, sizeof made, "The operation couldn't be completed. (%s error %lld.)", string_c(e->domain), (long long)e->code);
  return string_of(made);
}

static const method error_methods[] = {
    CLASS("errorWithDomain:code:userInfo:", error_with),
    INSTANCE("domain", error_domain),
    INSTANCE("code", error_code),
    INSTANCE("userInfo", error_info),
    INSTANCE("localizedDescription", error_description),
};

/* ---- NSURL: of files. */

typedef struct {
  object head;
  id path;
} url;

static void url_dealloc(id self) { release(((url *)self)->path); }

static id url_with(class_ *self, SEL cmd, id path) {
  (void)self, (void)cmd;
  if (string_c(path)[0] == 0) misuse("the path is empty");
  url *u = (url *)object_new("NSURL");
  u->path = retain(path);
  return autorelease(&u->head);
}

const char *url_path(id self) { return self ? string_c(((url *)self)->path) : NULL; }
static id url_path_string(id self) { return ((url *)self)->path; }
static BOOL url_is_file(id self) { return (void)self, true; }

static const method url_methods[] = {
    CLASS("fileURLWithPath:", url_with),
    INSTANCE("path", url_path_string),
    INSTANCE("isFileURL", url_is_file),
};

/* ---- NSProcessInfo. */

typedef struct {
  int64_t major, minor, patch;
} system_version;

static id the_process;
static id process_info(class_ *self) { return (void)self, the_process; }

/* FAKEMETAL_MASKED: as macOS 26 and later answer programs that were linked with an older SDK. */
static bool masked(int major) { return major >= 26 && getenv("FAKEMETAL_MASKED") != NULL; }

static system_version process_version(id self) {
  int major, minor;
  (void)self;
  macos_version(&major, &minor);
  if (masked(major)) return (system_version){16, 0, 0};
  return (system_version){major, minor, 0};
}

static BOOL process_is_at_least(id self, SEL cmd, system_version v) {
  (void)self, (void)cmd;
  return macos_at_least((int)v.major, (int)v.minor);
}

static id process_version_string(id self) {
  char text[64];
  system_version v = process_version(self);
  int major, minor;
  macos_version(&major, &minor);
  if (masked(major)) {
    snprintf(text, sizeof text, "Version 16.0 (Build %d%c101)", major - 1, 'A' + minor);
    return string_of(text);
  }
  snprintf(text, sizeof text, "Version %lld.%lld (Build fakemetal)", (long long)v.major, (long long)v.minor);
  return string_of(text);
}

static uint64_t process_memory(id self) { return (void)self, machine_memory(); }
static uint64_t process_cores(id self) { return (void)self, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN); }

static const method process_methods[] = {
    CLASS("processInfo", process_info),
    INSTANCE("operatingSystemVersion", process_version),
    INSTANCE("operatingSystemVersionString", process_version_string),
    INSTANCE("isOperatingSystemAtLeastVersion:", process_is_at_least),
    INSTANCE("physicalMemory", process_memory),
    INSTANCE("processorCount", process_cores),
    INSTANCE("activeProcessorCount", process_cores),
};

__attribute__((constructor)) static void define(void) {
  static const class_def definitions[] = {
      {"NSObject", NULL, NULL, sizeof(object), NULL, METHODS(object_methods)},
      {"NSString", "NSObject", NULL, sizeof(string), string_dealloc, METHODS(string_methods)},
      {"NSNumber", "NSObject", NULL, sizeof(number), NULL, METHODS(number_methods)},
      {"NSData", "NSObject", NULL, sizeof(data), data_dealloc, METHODS(data_methods)},
      {"NSError", "NSObject", NULL, sizeof(error), error_dealloc, METHODS(error_methods)},
      {"NSURL", "NSObject", NULL, sizeof(url), url_dealloc, METHODS(url_methods)},
      {"NSProcessInfo", "NSObject", NULL, sizeof(object), NULL, METHODS(process_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
  the_process = object_new("NSProcessInfo");
  object_keep_for_ever(the_process);
}
