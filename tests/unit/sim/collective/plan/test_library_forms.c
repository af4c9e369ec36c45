/* SPDX-License-Identifier: Apache-2.0 */
/* test_library_forms.c - what all libraries share: which forms and plans are made, which are remembered, and which
 * algorithm does the same in another group. The library and its algorithms count how often they are asked. */
#include "tests/support/test.h"

#include "sim/base/error.h"
#include "sim/collective/plan/form_recipe.h"
#include "sim/collective/plan/given.h"
#include "tests/support/rig.h"

/* --- two algorithms --- */

static guint n_formed[2], n_scheduled[2], n_asked_derive, n_planned, n_planned_by, last_chunks;
static FabOp last_known_op;
static double fill_s_per_byte; /* of the forms to come */
static FabHopKind intra_kind;  /* of the same */

static gboolean
supports_all (G_GNUC_UNUSED const FabGroup *group, G_GNUC_UNUSED FabOp op)
{
  return TRUE;
}

/* The second algorithm needs two nodes. */
static gboolean
supports_nodes (const FabGroup *group, G_GNUC_UNUSED FabOp op)
{
  return group->n_nodes > 1;
}

/* From the first rank to the last: `weight` bytes per byte of size. */
static gboolean
make_form (guint which, const FabGroup *group, const FabAlgorithmEnv *env, FabCollectiveForm *form,
           GError **error)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (group->cluster->graph);
  FabHop hop;

  n_formed[which]++;
  if (!fab_hop_ranks (group, 0, fab_group_n_ranks (group) - 1, &hop, error))
    return FALSE;
  fab_hop_use (&hop, which + 1, env->net_stretch, builder);
  fab_hop_clear (&hop);
  *form = (FabCollectiveForm){ .footprint = fab_footprint_builder_finish (builder),
                               .n_channels = which + 1,
                               .intra_kind = intra_kind,
                               .fill_s_per_byte = fill_s_per_byte };
  return TRUE;
}

static gboolean
first_form (const FabGroup *group, G_GNUC_UNUSED FabOp op, const FabAlgorithmEnv *env,
            FabCollectiveForm *form, GError **error)
{
  return make_form (0, group, env, form, error);
}

static gboolean
second_form (const FabGroup *group, G_GNUC_UNUSED FabOp op, const FabAlgorithmEnv *env,
             FabCollectiveForm *form, GError **error)
{
  return make_form (1, group, env, form, error);
}

static gboolean
make_schedule (guint which, const FabGroup *group, const FabAlgorithmEnv *env, guint n_chunks,
               FabSchedule *schedule, GError **error)
{
  FabHop hop;

  n_scheduled[which]++;
  last_chunks = n_chunks;
  if (!fab_hop_ranks (group, 0, fab_group_n_ranks (group) - 1, &hop, error))
    return FALSE;
  fab_schedule_lane (schedule, &hop, env->net_stretch, which + 1, n_chunks);
  return TRUE;
}

static gboolean
first_schedule (const FabGroup *group, G_GNUC_UNUSED FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
                FabSchedule *schedule, GError **error)
{
  return make_schedule (0, group, env, n_chunks, schedule, error);
}

static gboolean
second_schedule (const FabGroup *group, G_GNUC_UNUSED FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
                 FabSchedule *schedule, GError **error)
{
  return make_schedule (1, group, env, n_chunks, schedule, error);
}

/* A broadcast is made from any other operation but a gather. */
static gboolean
first_derive (G_GNUC_UNUSED const FabGroup *group, FabOp op, FabOp known_op, const FabCollectiveForm *known,
              FabCollectiveForm *form)
{
  n_asked_derive++;
  if (op != FAB_OP_BROADCAST || known_op == FAB_OP_GATHER)
    return FALSE;
  last_known_op = known_op;
  *form = *known;
  form->footprint = fab_footprint_doubled (known->footprint, 0);
  return TRUE;
}

static const FabAlgorithmOps first_algorithm = { .info = { .name = "first" },
                                                 .preference = 1,
                                                 .supports = supports_all,
                                                 .form = first_form,
                                                 .schedule = first_schedule,
                                                 .derive = first_derive };
static const FabAlgorithmOps second_algorithm = { .info = { .name = "second" },
                                                  .preference = 2,
                                                  .supports = supports_nodes,
                                                  .form = second_form,
                                                  .schedule = second_schedule };
static const FabModelInfo *const algorithms[] = { &second_algorithm.info, &first_algorithm.info, NULL };

/* --- a library that takes the last algorithm that can --- */

static FabTimePs startup_ps;                 /* of the plans to come */
static double wire_factor, ends_bytes_per_s; /* of the same */

static gboolean
plan_with (FabLibrary *self, const FabAlgorithmOps *algorithm, const FabGroup *group, gconstpointer owner,
           FabCollectivePlan *plan, GError **error)
{
  const FabAlgorithmEnv env = { .net_stretch = 1.25, .owner = owner };
  const FabCollectiveForm *form = fab_library_form (self, algorithm, group, plan->op, &env, error);

  if (form == NULL)
    return FALSE;
  plan->algorithm = algorithm->info.name;
  plan->footprint = form->footprint;
  plan->startup_ps = startup_ps;
  plan->wire_factor = wire_factor;
  plan->ends_bytes_per_s = ends_bytes_per_s;
  return TRUE;
}

static gboolean
counting_plan (FabLibrary *self, const FabGroup *group, G_GNUC_UNUSED FabOp op, G_GNUC_UNUSED FabBytes bytes,
               FabCollectivePlan *plan, GError **error)
{
  n_planned++;
  return plan_with (self,
                    self->algorithms[1]->supports (group, op) ? self->algorithms[1] : self->algorithms[0],
                    group, NULL, plan, error);
}

static gboolean
counting_plan_by (FabLibrary *self, const FabGroup *group, const FabGiven *given, FabCollectivePlan *plan,
                  GError **error)
{
  n_planned_by++;
  return plan_with (self, &given->ops, group, given, plan, error);
}

static void
counting_destroy (FabLibrary *self)
{
  fab_library_clear (self);
}

static const FabLibraryOps counting_ops = { .info = { .name = "counting" },
                                            .plan = counting_plan,
                                            .plan_by = counting_plan_by,
                                            .destroy = counting_destroy },
                           simple_ops = { .info = { .name = "simple" },
                                          .plan = counting_plan,
                                          .destroy = counting_destroy };

static Rig *
nodes (guint n_nodes, guint gpus_per_node)
{
  return rig_new (&(RigSpec){ .n_nodes = n_nodes,
                              .gpus_per_node = gpus_per_node,
                              .nics_per_node = 1,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S / 10,
                              .gpu_latency_ps = 50,
                              .nic_latency_ps = 500 });
}

static void
library_init (FabLibrary *self, const FabLibraryOps *ops)
{
  memset (n_formed, 0, sizeof n_formed);
  memset (n_scheduled, 0, sizeof n_scheduled);
  n_asked_derive = n_planned = n_planned_by = last_chunks = 0;
  fill_s_per_byte = ends_bytes_per_s = 0;
  intra_kind = FAB_HOP_DIRECT;
  startup_ps = 1000;
  wire_factor = 1;
  fab_library_init (self, ops, algorithms);
}

static FabCollectivePlan
plan_of (FabLibrary *self, const FabGroup *group, FabOp op, FabBytes bytes)
{
  FabCollectivePlan plan;

  assert_true (fab_library_plan (self, group, op, bytes, &plan, NULL));
  return plan;
}

/* --- what is remembered --- */

static void
plans_are_made_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = nodes (3, 4), other = nodes (3, 4);
  FabGroup all = rig_group (rig), same = rig_group (other), fewer = all, narrow = all;
  FabLibrary library = { 0 };

  fewer.n_nodes = 2;
  narrow.gpus_per_node = 2;
  library_init (&library, &counting_ops);
  const struct {
    const FabGroup *group;
    FabOp op;
    FabBytes bytes;
  } asked[] = {
    { &all, FAB_OP_REDUCE, 100 },   { &all, FAB_OP_REDUCE, 101 },  { &all, FAB_OP_GATHER, 100 },
    { &fewer, FAB_OP_REDUCE, 100 }, { &same, FAB_OP_REDUCE, 100 }, { &narrow, FAB_OP_REDUCE, 100 }
  };

  for (guint time = 0; time < 2; time++)
    for (guint i = 0; i < G_N_ELEMENTS (asked); i++) {
      startup_ps = time == 0 ? 1000 + i : 5;
      FabCollectivePlan plan = plan_of (&library, asked[i].group, asked[i].op, asked[i].bytes);

      assert_int_equal (plan.startup_ps, 1000 + i);
      assert_int_equal (plan.bytes, asked[i].bytes);
      assert_int_equal (plan.op, asked[i].op);
      assert_int_equal (plan.n_ranks, fab_group_n_ranks (asked[i].group));
      assert_int_equal (n_planned, time == 0 ? i + 1 : G_N_ELEMENTS (asked));
    }
  /* The sizes of one group have one form. */
  assert_int_equal (n_formed[0], 0);
  assert_int_equal (n_formed[1], G_N_ELEMENTS (asked) - 1);
  assert_int_equal (library.n_forms_derived, 0);
  assert_int_equal (library.n_forms_known, 0);
  fab_library_destroy (&library);
  fab_library_destroy (NULL);
}

/* 4096 plans are kept; the next one makes room by forgetting all. */
static void
plans_of_many_sizes_are_forgotten (G_GNUC_UNUSED void **state)
{
  enum { MOST_PLANS = 4096 };
  g_autoptr (Rig) rig = nodes (2, 1);
  FabGroup group = rig_group (rig);
  FabLibrary library = { 0 };

  library_init (&library, &counting_ops);
  for (guint i = 1; i <= MOST_PLANS; i++)
    plan_of (&library, &group, FAB_OP_REDUCE, i);
  assert_int_equal (n_planned, MOST_PLANS);
  plan_of (&library, &group, FAB_OP_REDUCE, 1);
  assert_int_equal (n_planned, MOST_PLANS);
  plan_of (&library, &group, FAB_OP_REDUCE, MOST_PLANS + 1);
  plan_of (&library, &group, FAB_OP_REDUCE, MOST_PLANS + 1);
  assert_int_equal (n_planned, MOST_PLANS + 1);
  plan_of (&library, &group, FAB_OP_REDUCE, 1);
  assert_int_equal (n_planned, MOST_PLANS + 2);
  fab_library_destroy (&library);
}

/* One rank has an empty plan, and no library is asked for it. */
static void
one_rank_is_planned_without_the_library (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = nodes (2, 1);
  FabGroup group = rig_group (rig);
  FabLibrary library = { 0 };

  group.n_nodes = 1;
  library_init (&library, &counting_ops);
  FabCollectivePlan plan = plan_of (&library, &group, FAB_OP_REDUCE, 10);
  assert_int_equal (n_planned, 0);
  assert_string_equal (plan.algorithm, "none");
  assert_string_equal (plan.protocol, "none");
  assert_null (plan.footprint);
  assert_null (plan.steps.make);
  assert_near (plan.wire_factor, 1, 0);
  assert_int_equal (plan.n_connections, 1);
  assert_int_equal (plan.n_ranks, 1);
  fab_library_destroy (&library);
}

/* --- forms --- */

static const FabAlgorithmEnv env = { .net_stretch = 1 };

/* From the latest that is known of the same group by the same algorithm; not in a graph that is unfolded. */
static void
forms_are_derived_from_forms_of_the_group (G_GNUC_UNUSED void **state)
{
  for (guint is_unfolded = 0; is_unfolded < 2; is_unfolded++) {
    g_autoptr (Rig) rig = nodes (2, 2);
    FabGroup group = rig_group (rig), half = group;
    FabLibrary library = { 0 };

    half.gpus_per_node = 1;
    if (is_unfolded)
      fab_graph_unfold (rig->graph);
    library_init (&library, &counting_ops);
    fab_library_form (&library, &first_algorithm, &group, FAB_OP_REDUCE, &env, NULL);
    fab_library_form (&library, &first_algorithm, &group, FAB_OP_ALL_REDUCE, &env, NULL);
    fab_library_form (&library, &first_algorithm, &group, FAB_OP_GATHER, &env, NULL);
    fab_library_form (&library, &first_algorithm, &half, FAB_OP_SCATTER, &env, NULL);
    fab_library_form (&library, &second_algorithm, &group, FAB_OP_SCATTER, &env, NULL);
    assert_int_equal (n_formed[0], 4);
    assert_int_equal (n_asked_derive, is_unfolded ? 0 : 1 + 2);
    const FabCollectiveForm *form = fab_library_form (&library, &first_algorithm, &group, FAB_OP_BROADCAST,
                                                      &env, NULL);
    assert_non_null (form);
    assert_int_equal (n_formed[0], is_unfolded ? 5 : 4);
    assert_int_equal (library.n_forms_derived, is_unfolded ? 0 : 1);
    if (!is_unfolded)
      assert_int_equal (last_known_op, FAB_OP_ALL_REDUCE);
    assert_ptr_equal (fab_library_form (&library, &first_algorithm, &group, FAB_OP_BROADCAST, &env, NULL),
                      form);
    assert_int_equal (library.n_forms_derived, is_unfolded ? 0 : 1);
    fab_library_destroy (&library);
  }
}

/* Once it is cancelled a library makes no form, and has those that it made. */
static void
a_cancelled_library_makes_no_form (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = nodes (2, 2);
  FabGroup group = rig_group (rig);
  FabLibrary library = { 0 };
  gint is_cancelled = 0;
  g_autoptr (GError) error = NULL;
  FabCollectivePlan plan;

  library_init (&library, &counting_ops);
  library.cancel = &is_cancelled;
  const FabCollectiveForm *form = fab_library_form (&library, &first_algorithm, &group, FAB_OP_REDUCE, &env,
                                                    NULL);
  assert_non_null (form);
  is_cancelled = 1;
  assert_ptr_equal (fab_library_form (&library, &first_algorithm, &group, FAB_OP_REDUCE, &env, NULL), form);
  assert_null (fab_library_form (&library, &first_algorithm, &group, FAB_OP_GATHER, &env, &error));
  assert_int_equal (error->code, FAB_ERROR_CANCELLED);
  assert_int_equal (n_formed[0], 1);
  assert_false (fab_library_plan (&library, &group, FAB_OP_SCATTER, 10, &plan, NULL));
  fab_library_destroy (&library);
}

/* A memo that keeps the forms of one operation. */
typedef struct {
  FabFormMemo base;
  guint n_asked, n_added;
  FabOp known;
  FabCollectiveForm form;
  double net_stretch;
} Memo;

static gboolean
memo_find (FabFormMemo *base, G_GNUC_UNUSED const FabAlgorithmOps *algorithm,
           G_GNUC_UNUSED const FabGroup *group, FabOp op, double net_stretch, FabCollectiveForm *form)
{
  Memo *self = (Memo *) base;

  self->n_asked++;
  self->net_stretch = net_stretch;
  if (op != self->known)
    return FALSE;
  *form = self->form;
  form->footprint = fab_footprint_doubled (self->form.footprint, 0);
  return TRUE;
}

static void
memo_add (FabFormMemo *base, G_GNUC_UNUSED const FabAlgorithmOps *algorithm,
          G_GNUC_UNUSED const FabGroup *group, G_GNUC_UNUSED FabOp op, double net_stretch,
          G_GNUC_UNUSED const FabCollectiveForm *form, FabFormRecipe *recipe)
{
  Memo *self = (Memo *) base;

  assert_non_null (recipe);
  assert_near (net_stretch, self->net_stretch, 0);
  fab_form_recipe_free (recipe);
  self->n_added++;
}

/* The memo is asked first, and told of every form that was made; not of forms of algorithms that have an owner, which
 * it would outlive. */
static void
a_memo_is_asked_and_told (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = nodes (2, 2),
                  apart = rig_new (&(RigSpec){ .n_nodes = 2, .gpus_per_node = 1, .gpu_bytes_per_s = 100 });
  FabGroup group = rig_group (rig), without = rig_group (apart);
  FabLibrary library = { 0 };
  Memo memo = { .base = { memo_find, memo_add }, .known = FAB_OP_SCATTER };
  const FabAlgorithmEnv owned = { .net_stretch = 1, .owner = &memo };

  library_init (&library, &counting_ops);
  library.memo = &memo.base;
  const FabCollectiveForm *made = fab_library_form (&library, &second_algorithm, &group, FAB_OP_REDUCE, &env,
                                                    NULL);
  assert_int_equal (memo.n_asked, 1);
  assert_int_equal (memo.n_added, 1);
  assert_near (memo.net_stretch, 1, 0);
  memo.form = *made;
  memo.form.n_channels = 77;
  const FabCollectiveForm *known = fab_library_form (&library, &second_algorithm, &group, FAB_OP_SCATTER,
                                                     &env, NULL);
  assert_int_equal (known->n_channels, 77);
  assert_int_equal (n_formed[1], 1);
  assert_int_equal (library.n_forms_known, 1);
  assert_int_equal (memo.n_added, 1);
  assert_int_equal (memo.n_asked, 2);
  assert_non_null (fab_library_form (&library, &second_algorithm, &group, FAB_OP_GATHER, &owned, NULL));
  assert_int_equal (memo.n_asked, 2);
  assert_int_equal (memo.n_added, 1);
  assert_int_equal (n_formed[1], 2);
  /* What cannot be made is not told. */
  assert_null (fab_library_form (&library, &second_algorithm, &without, FAB_OP_GATHER, &env, NULL));
  assert_int_equal (memo.n_asked, 3);
  assert_int_equal (memo.n_added, 1);
  assert_int_equal (library.n_forms_known, 1);
  assert_int_equal (library.forms->len, 3);
  fab_library_destroy (&library);
}

/* --- the same in another group --- */

/* A plan over two nodes is made by the second algorithm, which does the same in other groups of several nodes. A group
 * in one node does it by the first one that can. */
static void
another_group_takes_an_algorithm_that_can (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = nodes (3, 2);
  FabGroup group = rig_group (rig), pair = group, single = group;
  FabLibrary library = { 0 };

  pair.n_nodes = 2;
  single.n_nodes = 1;
  library_init (&library, &counting_ops);
  FabCollectivePlan plan = plan_of (&library, &group, FAB_OP_REDUCE, 10);
  assert_string_equal (plan.algorithm, "second");
  assert_near (fab_library_net_stretch (&library, &plan), 1.25, 0);
  g_autoptr (FabFootprint) of_pair = fab_library_footprint (&library, &plan, FAB_OP_REDUCE, &pair, NULL);
  g_autoptr (FabFootprint) of_single = fab_library_footprint (&library, &plan, FAB_OP_REDUCE, &single, NULL);
  assert_int_equal (n_formed[1], 2);
  assert_int_equal (n_formed[0], 1);
  assert_near (of_pair->binding_weight, 2, 1e-12);
  assert_near (of_single->binding_weight, 1, 1e-12);
  assert_int_equal (library.forms->len, 1); /* these are the caller's */

  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  assert_true (fab_library_add_messages (&library, &plan, FAB_OP_REDUCE, &pair, 3, schedule, NULL));
  assert_true (fab_library_add_messages (&library, &plan, FAB_OP_REDUCE, &single, 4, schedule, NULL));
  assert_int_equal (n_scheduled[1], 1);
  assert_int_equal (n_scheduled[0], 1);
  assert_int_equal (last_chunks, 4);
  assert_int_equal (fab_schedule_n_messages (schedule), 7);
  fab_library_destroy (&library);
}

/* A plan's own messages: in as many chunks as asked, or in one where the library has messages of its own. */
static void
messages_of_a_plan_are_in_its_chunks (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = nodes (2, 2);
  FabGroup group = rig_group (rig);
  FabLibrary library = { 0 };

  library_init (&library, &counting_ops);
  FabCollectivePlan plan = plan_of (&library, &group, FAB_OP_REDUCE, 10),
                    other = plan_of (&library, &group, FAB_OP_GATHER, 10);
  assert_ptr_not_equal (plan.footprint, other.footprint);
  plan.steps.n_chunks = 6;
  g_autoptr (FabSchedule) chunks = plan.steps.make (plan.steps.owner, &plan);
  assert_int_equal (fab_schedule_n_messages (chunks), 6);
  plan.messages = chunks;
  g_autoptr (FabSchedule) whole = fab_library_schedule (&library, &plan, 6);
  assert_int_equal (fab_schedule_n_messages (whole), 1);
  assert_int_equal (n_scheduled[1], 2);
  fab_library_destroy (&library);
}

/* --- what a library has not said --- */

/* All of the startup is steps. A pipeline that takes as long to fill as F bytes of size do to flow is cut into 100 F
 * chunks, of at least 1 KiB each and at most 1024 of them. */
static void
steps_and_chunks_are_filled_in (G_GNUC_UNUSED void **state)
{
  static const struct {
    double fills; /* of the time of one byte over all links */
    FabBytes bytes;
    guint n_chunks;
  } rows[] = { { 0, 1 << 30, 1 },        { 0.001, 1 << 30, 1 }, { 0.5, 1 << 30, 50 },
               { 2, 1 << 30, 200 },      { 2, 50 * 1024, 50 },  { 2, 1023, 1 },
               { 10.23, 1 << 30, 1023 }, { 20, 1 << 30, 1024 }, { 20, 1024 * 1024, 1024 },
               { 20, 1023 * 1024, 1023 } };
  g_autoptr (Rig) rig = nodes (2, 1);
  FabGroup group = rig_group (rig);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabLibrary library = { 0 };

    library_init (&library, &counting_ops);
    fill_s_per_byte = rows[i].fills * 2 * 1.25 / 1e11 * (1 + 1e-9); /* 2 bytes over a NIC per byte of size */
    FabCollectivePlan plan = plan_of (&library, &group, FAB_OP_REDUCE, rows[i].bytes);
    assert_int_equal (plan.steps.n_chunks, rows[i].n_chunks);
    assert_int_equal (plan.steps.is_pipeline, rows[i].fills > 0);
    assert_int_equal (plan.steps.steps_ps, 1000);
    assert_near (plan.steps.intra_cost, 1, 0);
    assert_near (plan.steps.inter_cost, 1, 0);
    assert_ptr_equal (plan.steps.owner, &library);
    assert_non_null (plan.steps.make);
    fab_library_destroy (&library);
  }
}

/* Kernels that move bytes through host memory are the limit at 1 byte per ps, where a library knows of no lower one;
 * what a protocol adds makes them slower. */
static void
kernels_limit_a_plan (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabHopKind kind;
    double ends, wire_factor, expected; /* bytes per ps */
  } rows[] = { { FAB_HOP_STAGED, 0, 1, 1 },       { FAB_HOP_STAGED, 0, 2, 0.5 },
               { FAB_HOP_STAGED, 0.25, 1, 0.25 }, { FAB_HOP_STAGED, 3, 1, 1 },
               { FAB_HOP_STAGED, 0.75, 2, 0.5 },  { FAB_HOP_DIRECT, 0, 1, 0 },
               { FAB_HOP_DIRECT, 0.25, 1, 0.25 }, { FAB_HOP_DIRECT, 3, 1, 3 } };
  g_autoptr (Rig) rig = nodes (1, 2);
  FabProcessor processor = *rig->cluster.processor;
  FabGroup group = rig_group (rig);

  processor.staged_kernel_most_bytes_per_s = FAB_PS_PER_S / 2;
  rig->cluster.processor = &processor;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabLibrary library = { 0 };

    library_init (&library, &counting_ops);
    intra_kind = rows[i].kind;
    ends_bytes_per_s = rows[i].ends * 1e12;
    wire_factor = rows[i].wire_factor;
    FabCollectivePlan plan = plan_of (&library, &group, FAB_OP_REDUCE, 100);
    assert_near (plan.ends_bytes_per_s, rows[i].expected * 1e12, 1e-12);
    fab_library_destroy (&library);
  }
}

/* --- given algorithms --- */

static FabGiven *
given_for (const char *name, guint n_ranks, FabOp op, FabBytes from_bytes, FabBytes to_bytes)
{
  FabGiven *given = fab_given_new (name, "file");
  g_autoptr (GArray) nothing = g_array_new (FALSE, FALSE, sizeof (FabGivenWait));

  given->n_ranks = n_ranks;
  given->op = op;
  given->from_bytes = from_bytes;
  given->to_bytes = to_bytes;
  fab_given_add (given, 0, n_ranks - 1, 1, nothing);
  fab_given_finish (given);
  return given;
}

/* The first that fits, where the library takes given algorithms at all. */
static void
a_given_algorithm_that_fits_is_taken (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabOp op;
    FabBytes bytes;
    const char *algorithm;
  } rows[] = { { FAB_OP_REDUCE, 99, "second" },  { FAB_OP_REDUCE, 100, "a" },  { FAB_OP_REDUCE, 200, "a" },
               { FAB_OP_REDUCE, 201, "b" },      { FAB_OP_REDUCE, 1000, "b" }, { FAB_OP_GATHER, 150, "c" },
               { FAB_OP_SCATTER, 150, "second" } };
  g_autoptr (Rig) rig = nodes (2, 2);
  FabGroup group = rig_group (rig);

  for (guint takes = 0; takes < 2; takes++) {
    FabLibrary library = { 0 };

    library_init (&library, takes ? &counting_ops : &simple_ops);
    fab_library_give (&library, given_for ("of others", 5, FAB_OP_REDUCE, 0, 0));
    fab_library_give (&library, given_for ("a", 4, FAB_OP_REDUCE, 100, 200));
    fab_library_give (&library, given_for ("b", 4, FAB_OP_REDUCE, 150, 0));
    fab_library_give (&library, given_for ("c", 4, FAB_OP_GATHER, 0, 0));
    for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
      FabCollectivePlan plan = plan_of (&library, &group, rows[i].op, rows[i].bytes);

      assert_string_equal (plan.algorithm, takes ? rows[i].algorithm : "second");
    }
    assert_int_equal (n_planned_by, takes ? 5 : 0);
    fab_library_destroy (&library);
  }
}

/* In another group a given algorithm does its operation where there are as many ranks; else an algorithm of the library
 * does it. */
static void
a_given_algorithm_is_for_as_many_ranks (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_nodes, gpus_per_node;
    FabOp op;
    guint n_made_by_first;
  } rows[] = { { 2, 2, FAB_OP_REDUCE, 0 },
               { 4, 1, FAB_OP_REDUCE, 0 },
               { 3, 2, FAB_OP_REDUCE, 1 },
               { 2, 2, FAB_OP_GATHER, 1 },
               { 1, 4, FAB_OP_REDUCE, 0 } };
  g_autoptr (Rig) rig = nodes (4, 4);
  FabGroup group = rig_group (rig);

  group.n_nodes = 2;
  group.gpus_per_node = 2;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabGroup other = { group.cluster, rows[i].n_nodes, rows[i].gpus_per_node };
    FabLibrary library = { 0 };

    library_init (&library, &counting_ops);
    fab_library_give (&library, given_for ("given", 4, FAB_OP_REDUCE, 0, 0));
    FabCollectivePlan plan = plan_of (&library, &group, FAB_OP_REDUCE, 10);
    g_autoptr (FabFootprint) footprint = fab_library_footprint (&library, &plan, rows[i].op, &other, NULL);
    assert_non_null (footprint);
    assert_int_equal (n_formed[0], rows[i].n_made_by_first);
    fab_library_destroy (&library);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (plans_are_made_once),
    cmocka_unit_test (plans_of_many_sizes_are_forgotten),
    cmocka_unit_test (one_rank_is_planned_without_the_library),
    cmocka_unit_test (forms_are_derived_from_forms_of_the_group),
    cmocka_unit_test (a_cancelled_library_makes_no_form),
    cmocka_unit_test (a_memo_is_asked_and_told),
    cmocka_unit_test (another_group_takes_an_algorithm_that_can),
    cmocka_unit_test (messages_of_a_plan_are_in_its_chunks),
    cmocka_unit_test (steps_and_chunks_are_filled_in),
    cmocka_unit_test (kernels_limit_a_plan),
    cmocka_unit_test (a_given_algorithm_that_fits_is_taken),
    cmocka_unit_test (a_given_algorithm_is_for_as_many_ranks),
  };

  return cmocka_run_group_tests_name ("library forms", tests, NULL, NULL);
}
