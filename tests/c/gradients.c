/*
 * gradients.c - backward passes: what they compute and keep, hooks, functions with gradients of their own, and errors.
 */
#include "check.h"
#include "suite.h"

static int closed; /* deleters that were called */

static void close_it(void *user) {
  EXPECT(user == &closed);
  closed++;
}

static const pmps_place *places[2] = {&cpu, &mps};
static int place_count(void) { return has_mps() ? 2 : 1; }

/* A float32 tensor 0, 1, 2, ... that requires gradients. */
static pmps_tensor *leaf(const pmps_place *place, int64_t n) {
  pmps_tensor *x = ramp(place, n);
  OK(pmps_tensor_set_requires_grad(x, true));
  return x;
}

/* Whether a tensor of three elements has these. */
static bool holds(const pmps_tensor *x, float a, float b, float c) {
  float values[3] = {-1, -1, -1};
  if (!x) return false;
  OK(pmps_tensor_read(x, values, sizeof values));
  return values[0] == a && values[1] == b && values[2] == c;
}

/* Whether the gradient that x keeps has these elements. */
static bool keeps(const pmps_tensor *x, float a, float b, float c) {
  pmps_tensor *grad = NULL;
  OK(pmps_tensor_get_grad(x, &grad));
  const bool same = holds(grad, a, b, c);
  pmps_tensor_free(grad);
  return same;
}

static pmps_grad_info about(const pmps_tensor *x) {
  pmps_grad_info info = {.struct_size = sizeof info};
  OK(pmps_tensor_get_grad_info(x, &info));
  return info;
}

/* A pass from one result to the leaves. */
static pmps_error *backward(pmps_tensor *of, bool retain) {
  const pmps_grad_pass pass = {.struct_size = sizeof pass, .of = &of, .of_count = 1, .retain_graph = retain};
  return pmps_grad_backward(&pass, NULL);
}

static void squares_are_differentiated(void) {
  for (int i = 0; i < place_count(); i++) {
    pmps_tensor *x = leaf(places[i], 3), *y = apply(PMPS_OP_MULTIPLY, x, x), *none = y;
    EXPECT(about(x).requires_grad && about(x).is_leaf && !about(x).has_grad && about(x).version == 0);
    EXPECT(about(y).requires_grad && !about(y).is_leaf);
    OK(pmps_tensor_get_grad(x, &none));
    EXPECT(none == NULL);
    OK(backward(y, false));
    EXPECT(about(x).has_grad && !about(y).has_grad && keeps(x, 0, 2, 4));
    pmps_tensor_free(y);
    y = apply(PMPS_OP_ADD, x, x);
    OK(backward(y, false));
    EXPECT(keeps(x, 2, 4, 6)); /* added up */
    OK(pmps_tensor_zero_grad(x));
    EXPECT(about(x).has_grad && keeps(x, 0, 0, 0));
    pmps_tensor *mine = NULL, *z = apply(PMPS_OP_ADD, x, x);
    OK(pmps_tensor_get_grad(x, &mine));
    OK(backward(z, false));
    EXPECT(holds(mine, 2, 2, 2));
    OK(pmps_tensor_zero_grad(x));
    EXPECT(holds(mine, 0, 0, 0)); /* in its memory */
    pmps_tensor_free(mine);
    pmps_tensor_free(z);
    OK(pmps_tensor_set_grad(x, NULL));
    EXPECT(!about(x).has_grad);
    OK(pmps_tensor_zero_grad(x)); /* there is none */
    EXPECT(!about(x).has_grad);
    OK(pmps_tensor_set_grad(x, y));
    EXPECT(keeps(x, 0, 2, 4));
    pmps_tensor_free(x);
    pmps_tensor_free(y);
  }
}

static void graphs_are_retained_on_demand(void) {
  pmps_tensor *x = leaf(NULL, 3), *y = apply(PMPS_OP_MULTIPLY, x, x);
  OK(backward(y, true));
  OK(backward(y, false));
  EXPECT(keeps(x, 0, 4, 8));
  FAILS(backward(y, false), PMPS_INVALID_ARGUMENT, "[multiply] a backward pass has gone through this call before");
  EXPECT(keeps(x, 0, 4, 8));
  pmps_tensor_free(x);
  pmps_tensor_free(y);
}

static void gradients_have_gradients(void) {
  for (int i = 0; i < place_count(); i++) {
    pmps_tensor *x = leaf(places[i], 3), *square = apply(PMPS_OP_MULTIPLY, x, x), *cube = apply(PMPS_OP_MULTIPLY, square, x);
    pmps_tensor *dx = NULL, *dxx = NULL;
    pmps_grad_pass pass = {.struct_size = sizeof pass, .of = &cube, .of_count = 1, .to = &x, .to_count = 1, .create_graph = true};
    OK(pmps_grad_backward(&pass, &dx));
    EXPECT(holds(dx, 0, 3, 12) && about(dx).requires_grad && !about(x).has_grad);
    pass.of = &dx;
    pass.create_graph = false;
    OK(pmps_grad_backward(&pass, &dxx));
    EXPECT(holds(dxx, 0, 6, 12) && !about(dxx).requires_grad);
    pass.of = &cube; /* x keeps a gradient that was computed from x */
    pass.to = NULL;
    pass.create_graph = true;
    FAILS(pmps_grad_backward(&pass, NULL), PMPS_INVALID_ARGUMENT, "retain_graph");
    pmps_tensor *twice = apply(PMPS_OP_MULTIPLY, x, x);
    pass.of = &twice;
    OK(pmps_grad_backward(&pass, NULL));
    EXPECT(keeps(x, 0, 2, 4));
    pmps_tensor *const all[] = {x, square, cube, dx, dxx, twice};
    for (int k = 0; k < 6; k++) pmps_tensor_free(all[k]);
  }
}

static void passes_go_to_some_and_stop_at_others(void) {
  pmps_tensor *x = leaf(NULL, 3), *w = leaf(NULL, 3), *other = leaf(NULL, 3);
  pmps_tensor *y = apply(PMPS_OP_MULTIPLY, x, x), *z = apply(PMPS_OP_ADD, y, w);
  pmps_tensor *to[] = {x, w, other, y}, *found[4] = {NULL}, *given = ramp(NULL, 3);
  pmps_grad_pass pass = {.struct_size = sizeof pass, .of = &z, .of_count = 1, .grads_of = &given, .to = to, .to_count = 4, .retain_graph = true};
  OK(pmps_grad_backward(&pass, found));
  EXPECT(holds(found[0], 0, 2, 8) && holds(found[1], 0, 1, 2) && !found[2] && holds(found[3], 0, 1, 2));
  EXPECT(!about(x).has_grad && !about(w).has_grad);
  for (int i = 0; i < 4; i++) pmps_tensor_free(found[i]);
  pass.stop = &y;
  pass.stop_count = 1;
  pass.to_count = 2;
  OK(pmps_grad_backward(&pass, found));
  EXPECT(!found[0] && holds(found[1], 0, 1, 2));
  pmps_tensor_free(found[1]);
  OK(pmps_tensor_retain_grad(y));
  OK(backward(z, false));
  EXPECT(keeps(y, 1, 1, 1) && keeps(x, 0, 2, 4) && keeps(w, 1, 1, 1));
  pmps_tensor *const all[] = {x, w, other, y, z, given};
  for (int k = 0; k < 6; k++) pmps_tensor_free(all[k]);
}

static void recording_is_switched_off(void) {
  pmps_tensor *x = leaf(NULL, 3), *detached = NULL;
  EXPECT(pmps_grad_set_enabled(false));
  pmps_tensor *y = apply(PMPS_OP_MULTIPLY, x, x);
  EXPECT(!pmps_grad_set_enabled(true) && !about(y).requires_grad && about(y).is_leaf);
  OK(pmps_tensor_detach(x, &detached));
  EXPECT(!about(detached).requires_grad && about(x).requires_grad);
  OK(pmps_tensor_set_requires_grad(x, false));
  EXPECT(!about(x).requires_grad);
  pmps_tensor_free(x);
  pmps_tensor_free(y);
  pmps_tensor_free(detached);
}

/* What a hook does: nothing, fail, return a tensor, or give away what it borrows. */
enum { LOOK, REFUSE, DOUBLE, GIVE_AWAY, WRONG_SHAPE, STALE };
static int mood, seen;
static pmps_tensor *stale;

static int32_t hook(void *user, pmps_tensor *grad, pmps_tensor **other) {
  EXPECT(user == &closed && *other == NULL);
  seen++;
  switch (mood) {
    case REFUSE: return 7;
    case DOUBLE: *other = apply(PMPS_OP_ADD, grad, grad); break;
    case GIVE_AWAY: *other = grad; break;
    case WRONG_SHAPE: *other = ramp(NULL, 2); break;
    case STALE: *other = stale; break;
    default: break;
  }
  return 0;
}

static void hooks_see_gradients(void) {
  pmps_tensor *x = leaf(NULL, 3), *y = apply(PMPS_OP_MULTIPLY, x, x);
  uint64_t id = 0, second = 0;
  bool removed = true;
  stale = ramp(NULL, 3);
  pmps_tensor_free(stale);
  closed = seen = 0;
  OK(pmps_tensor_add_grad_hook(y, hook, close_it, &closed, &id));
  mood = LOOK;
  OK(backward(y, true));
  EXPECT(seen == 1 && keeps(x, 0, 2, 4));
  mood = DOUBLE;
  OK(pmps_tensor_set_grad(x, NULL));
  OK(backward(y, true));
  EXPECT(seen == 2 && keeps(x, 0, 4, 8));
  mood = GIVE_AWAY; /* a mistake that costs nothing */
  OK(pmps_tensor_set_grad(x, NULL));
  OK(backward(y, true));
  EXPECT(keeps(x, 0, 2, 4));
  mood = REFUSE;
  FAILS(backward(y, true), PMPS_INVALID_ARGUMENT, "[register_hook] a hook returned 7; want 0");
  mood = WRONG_SHAPE;
  FAILS(backward(y, true), PMPS_INVALID_ARGUMENT, "[register_hook] the hook returned float32 of shape [2]");
  mood = STALE;
  FAILS(backward(y, true), PMPS_INVALID_HANDLE, "[register_hook]");
  EXPECT(keeps(x, 0, 2, 4) && closed == 0 && seen == 6);
  OK(pmps_tensor_remove_grad_hook(y, id + 1000, &removed));
  EXPECT(!removed && closed == 0);
  OK(pmps_tensor_remove_grad_hook(y, id, &removed));
  EXPECT(removed && closed == 1);
  OK(pmps_tensor_remove_grad_hook(y, id, &removed));
  EXPECT(!removed && closed == 1);
  OK(pmps_tensor_add_grad_hook(x, hook, close_it, &closed, &id));
  OK(pmps_tensor_add_grad_hook(x, hook, NULL, &closed, &second));
  EXPECT(id != second);
  pmps_tensor_free(x);
  EXPECT(closed == 1); /* y was computed from it */
  pmps_tensor_free(y);
  EXPECT(closed == 2);
}

static int32_t triple(void *user, pmps_tensor *const *of, size_t outputs, pmps_tensor **grads, size_t inputs) {
  EXPECT(user == &closed && outputs == 1 && inputs == 2 && !grads[0] && !grads[1]);
  if (mood == REFUSE) return -1;
  pmps_tensor *twice = apply(PMPS_OP_ADD, of[0], of[0]);
  grads[0] = mood == WRONG_SHAPE ? ramp(NULL, 2) : apply(PMPS_OP_ADD, twice, of[0]);
  if (mood == STALE) grads[1] = grads[0]; /* given away twice */
  pmps_tensor_free(twice);
  return 0;
}

static void functions_have_gradients(void) {
  const pmps_grad_function function = {.struct_size = sizeof function, .backward = triple, .deleter = close_it, .user = &closed};
  pmps_tensor *x = leaf(NULL, 3), *w = leaf(NULL, 3), *in[] = {x, w}, *y = ramp(NULL, 3);
  closed = 0;
  mood = LOOK;
  OK(pmps_grad_apply(&function, in, 2, &y, 1));
  EXPECT(about(y).requires_grad && !about(y).is_leaf);
  OK(backward(y, true));
  EXPECT(keeps(x, 3, 3, 3) && !about(w).has_grad);
  mood = REFUSE;
  FAILS(backward(y, true), PMPS_INVALID_ARGUMENT, "[backward] a function returned -1; want 0");
  mood = WRONG_SHAPE;
  FAILS(backward(y, true), PMPS_INVALID_ARGUMENT, "[backward] the function returned gradient 0 as float32 of shape [2]");
  mood = STALE;
  FAILS(backward(y, true), PMPS_INVALID_HANDLE, "[backward]");
  EXPECT(keeps(x, 3, 3, 3) && closed == 0);
  pmps_tensor_free(y);
  EXPECT(closed == 1);

  pmps_tensor *weak = NULL, *same = NULL; /* a weak handle does not keep the function, and knows it while the output lives */
  y = ramp(NULL, 3);
  OK(pmps_grad_apply(&function, in, 2, &y, 1));
  OK(pmps_tensor_weaken(y, &weak));
  EXPECT(!about(weak).requires_grad && about(weak).is_leaf);
  OK(pmps_tensor_retain(weak, &same));
  EXPECT(about(same).requires_grad && !about(same).is_leaf);
  pmps_tensor_free(y);
  EXPECT(closed == 1);
  pmps_tensor_free(same);
  EXPECT(closed == 2);
  OK(pmps_tensor_retain(weak, &same));
  EXPECT(!about(same).requires_grad && about(same).is_leaf);
  pmps_tensor_free(same);
  pmps_tensor_free(weak);

  closed = 1;
  y = ramp(NULL, 3); /* of inputs that require no gradients: nothing is recorded */
  OK(pmps_tensor_set_requires_grad(x, false));
  OK(pmps_tensor_set_requires_grad(w, false));
  OK(pmps_grad_apply(&function, in, 2, &y, 1));
  EXPECT(closed == 2 && !about(y).requires_grad);
  in[1] = stale;
  FAILS(pmps_grad_apply(&function, in, 2, &y, 1), PMPS_INVALID_HANDLE, "[grad_apply] tensor 1 of the inputs");
  EXPECT(closed == 2);
  pmps_tensor_free(x);
  pmps_tensor_free(w);
  pmps_tensor_free(y);
}

static void changes_in_place_are_noticed(void) {
  pmps_tensor *x = leaf(NULL, 3), *y = apply(PMPS_OP_EXP, x, NULL);
  const pmps_arg one = of_tensor(y), operand = of_tensor(x);
  FAILS(pmps_op_call_into(PMPS_OP_NEG, &operand, 1, NULL, 0, x), PMPS_INVALID_ARGUMENT, "is a leaf that asks for gradients");
  pmps_tensor *z = apply(PMPS_OP_MULTIPLY, y, y);
  EXPECT(about(y).version == 0);
  OK(pmps_op_call_into(PMPS_OP_NEG, &one, 1, NULL, 0, y));
  EXPECT(about(y).version == 1);
  FAILS(backward(z, false), PMPS_INVALID_ARGUMENT, "was changed in place after the call (version 1; want 0)");
  EXPECT(!about(x).has_grad);
  pmps_tensor_free(x);
  pmps_tensor_free(y);
  pmps_tensor_free(z);
}

#define INVALID(call) FAILS(call, PMPS_INVALID_HANDLE, "")
#define REFUSED(call, text) FAILS(call, PMPS_INVALID_ARGUMENT, text)

static void bad_arguments_are_refused(void) {
  pmps_tensor *x = leaf(NULL, 3), *y = apply(PMPS_OP_NEG, x, NULL), *plain = ramp(NULL, 3), *small = ramp(NULL, 2), *out = NULL;
  pmps_tensor *bad[] = {NULL, stale};
  uint64_t id = 0;
  bool removed = false;
  pmps_grad_info info = {.struct_size = sizeof info};
  for (int i = 0; i < 2; i++) {
    INVALID(pmps_tensor_set_requires_grad(bad[i], true));
    INVALID(pmps_tensor_get_grad_info(bad[i], &info));
    INVALID(pmps_tensor_get_grad(bad[i], &out));
    INVALID(pmps_tensor_set_grad(bad[i], x));
    INVALID(pmps_tensor_zero_grad(bad[i]));
    INVALID(pmps_tensor_retain_grad(bad[i]));
    INVALID(pmps_tensor_end_history(bad[i]));
    INVALID(pmps_tensor_detach(bad[i], &out));
    INVALID(pmps_tensor_weaken(bad[i], &out));
    INVALID(pmps_tensor_add_grad_hook(bad[i], hook, close_it, &closed, &id));
    INVALID(pmps_tensor_remove_grad_hook(bad[i], 1, &removed));
    INVALID(backward(bad[i], false));
  }
  INVALID(pmps_tensor_set_grad(x, stale));
  REFUSED(pmps_tensor_get_grad_info(x, NULL), "");
  info.struct_size = 0;
  REFUSED(pmps_tensor_get_grad_info(x, &info), "struct_size");
  REFUSED(pmps_tensor_get_grad(x, NULL), "");
  REFUSED(pmps_tensor_detach(x, NULL), "");
  REFUSED(pmps_tensor_weaken(x, NULL), "");
  REFUSED(pmps_tensor_add_grad_hook(x, NULL, close_it, &closed, &id), "");
  REFUSED(pmps_tensor_add_grad_hook(x, hook, close_it, &closed, NULL), "");
  REFUSED(pmps_tensor_add_grad_hook(plain, hook, close_it, &closed, &id), "stop_gradient=True");
  REFUSED(pmps_tensor_remove_grad_hook(x, 1, NULL), "");
  REFUSED(pmps_tensor_retain_grad(plain), "stop_gradient=True");
  REFUSED(pmps_tensor_set_grad(plain, x), "stop_gradient=True");
  REFUSED(pmps_tensor_set_grad(x, small), "want them equal");

  REFUSED(pmps_grad_backward(NULL, NULL), "");
  pmps_grad_pass pass = {.struct_size = sizeof pass, .of_count = 1};
  REFUSED(pmps_grad_backward(&pass, NULL), "");
  pass.of = &y;
  pass.struct_size = 4;
  REFUSED(pmps_grad_backward(&pass, NULL), "struct_size");
  pass.struct_size = sizeof pass;
  pass.to = &x;
  pass.to_count = 1;
  REFUSED(pmps_grad_backward(&pass, NULL), "");
  pass.to = &bad[1];
  FAILS(pmps_grad_backward(&pass, &out), PMPS_INVALID_HANDLE, "tensor 0 of the wanted tensors");
  pass.to = &x;
  pass.of = &plain;
  REFUSED(pmps_grad_backward(&pass, &out), "[backward] tensor 0 asks for no gradient");
  pass.of = &y;
  pass.grads_of = &small;
  REFUSED(pmps_grad_backward(&pass, &out), "[backward] gradient 0 has shape [2]; want [3]");

  const int64_t n = 3;
  pmps_tensor *ints = NULL;
  OK(pmps_tensor_empty(NULL, PMPS_INT32, 1, &n, &ints));
  FAILS(pmps_tensor_set_requires_grad(ints, true), PMPS_TYPE_MISMATCH, "int32 has no gradient");
  pass.grads_of = &ints;
  FAILS(pmps_grad_backward(&pass, &out), PMPS_TYPE_MISMATCH, "[backward] gradient 0 is int32");

  pmps_grad_function function = {.struct_size = sizeof function};
  REFUSED(pmps_grad_apply(NULL, &x, 1, &y, 1), "");
  REFUSED(pmps_grad_apply(&function, &x, 1, &y, 1), "");
  function.backward = triple;
  function.struct_size = 1;
  REFUSED(pmps_grad_apply(&function, &x, 1, &y, 1), "struct_size");
  EXPECT(out == NULL && !about(x).has_grad);
  pmps_tensor *const all[] = {x, y, plain, small, ints};
  for (int i = 0; i < 5; i++) pmps_tensor_free(all[i]);
}

static void no_handles_are_left(void) { EXPECT(pmps_live_handles() == 0); }

void gradients_suite(void) {
  RUN(squares_are_differentiated);
  RUN(graphs_are_retained_on_demand);
  RUN(gradients_have_gradients);
  RUN(passes_go_to_some_and_stop_at_others);
  RUN(recording_is_switched_off);
  RUN(hooks_see_gradients);
  RUN(functions_have_gradients);
  RUN(changes_in_place_are_noticed);
  RUN(bad_arguments_are_refused);
  RUN(no_handles_are_left);
}
