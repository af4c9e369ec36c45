/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - what all models of libraries share: forms and plans that were made before, and messages of plans. */
#include "sim/base/error.h"
#include "sim/base/mix.h"
#include "sim/collective/collective.h"
#include "sim/collective/plan/form_recipe.h"
#include "sim/collective/plan/given.h"

typedef struct {
  const FabAlgorithmOps *algorithm;
  FabGroup group;
  FabOp op;
  FabAlgorithmEnv env;
  FabCollectiveForm form;
} KnownForm;

static void
known_form_clear (gpointer data)
{
  fab_footprint_free (((*(KnownForm **) data))->form.footprint);
  g_free (*(KnownForm **) data);
}

/* Its key are the group, the operation and the bytes. */
typedef struct {
  FabGroup group;
  FabOp op;
  FabBytes bytes;
  FabCollectivePlan plan;
} KnownPlan;

/* Plans of so many sizes are kept; then all are made again. */
enum { MOST_PLANS = 4096 };

static gboolean
is_same_group (const FabGroup *a, const FabGroup *b)
{
  return a->cluster == b->cluster && a->n_nodes == b->n_nodes && a->gpus_per_node == b->gpus_per_node;
}

static guint
known_plan_hash (gconstpointer data)
{
  const KnownPlan *self = data;
  guint64 group = fab_mix ((guint64) (gsize) self->group.cluster,
                           (guint64) self->group.n_nodes << 32 | self->group.gpus_per_node);

  return (guint) fab_mix (group, (guint64) self->bytes * FAB_N_OPS + self->op);
}

static gboolean
known_plan_equal (gconstpointer a, gconstpointer b)
{
  const KnownPlan *x = a, *y = b;

  return x->bytes == y->bytes && x->op == y->op && is_same_group (&x->group, &y->group);
}

void
fab_library_init (FabLibrary *self, const FabLibraryOps *ops, const FabModelInfo *const *algorithms)
{
  self->ops = ops;
  self->algorithms = fab_algorithms_by_preference (algorithms);
  self->given = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_given_free);
  self->forms = g_array_new (FALSE, FALSE, sizeof (KnownForm *));
  g_array_set_clear_func (self->forms, known_form_clear);
  self->plans = g_hash_table_new_full (known_plan_hash, known_plan_equal, g_free, NULL);
  self->concurrent_groups = g_ptr_array_new ();
}

void
fab_library_clear (FabLibrary *self)
{
  g_clear_pointer (&self->concurrent_groups, g_ptr_array_unref);
  g_clear_pointer (&self->plans, g_hash_table_unref);
  g_clear_pointer (&self->forms, g_array_unref);
  g_clear_pointer (&self->given, g_ptr_array_unref);
  g_clear_pointer (&self->algorithms, g_free);
}

void
fab_library_destroy (FabLibrary *self)
{
  if (self)
    self->ops->destroy (self);
}

/* From what is known of the same group, the latest first: an all_gather and a reduce_scatter that follow an all_reduce
 * then share one footprint. */
static gboolean
derive_form (const FabLibrary *self, KnownForm *made)
{
  const FabAlgorithmOps *algorithm = made->algorithm;

  if (algorithm->derive == NULL || fab_graph_is_unfolded (made->group.cluster->graph))
    return FALSE;
  for (guint i = self->forms->len; i-- > 0;) {
    const KnownForm *known = g_array_index (self->forms, KnownForm *, i);

    if (known->algorithm == algorithm && is_same_group (&known->group, &made->group)
        && algorithm->derive (&made->group, made->op, known->op, &known->form, &made->form))
      return TRUE;
  }
  return FALSE;
}

/* From the memo, or by the algorithm, which then goes into the memo. The memo outlives algorithms that have an
 * owner. */
static gboolean
make_form (const FabLibrary *self, const FabAlgorithmOps *algorithm, const FabGroup *group, FabOp op,
           const FabAlgorithmEnv *env, FabCollectiveForm *form, gboolean *is_known, GError **error)
{
  FabAlgorithmEnv recording = *env;

  *is_known = self->memo != NULL && env->owner == NULL
           && self->memo->find (self->memo, algorithm, group, op, env->net_stretch, form);
  if (*is_known)
    return TRUE;
  if (self->memo == NULL || env->owner != NULL)
    return algorithm->form (group, op, env, form, error);
  recording.recipe = fab_form_recipe_new (group->cluster->graph);
  gboolean is_made = algorithm->form (group, op, &recording, form, error);
  if (is_made)
    self->memo->add (self->memo, algorithm, group, op, env->net_stretch, form, recording.recipe);
  else
    fab_form_recipe_free (recording.recipe);
  return is_made;
}

const FabCollectiveForm *
fab_library_form (FabLibrary *self, const FabAlgorithmOps *algorithm, const FabGroup *group, FabOp op,
                  const FabAlgorithmEnv *env, GError **error)
{
  for (guint i = 0; i < self->forms->len; i++) {
    const KnownForm *known = g_array_index (self->forms, KnownForm *, i);

    if (known->algorithm == algorithm && known->op == op && is_same_group (&known->group, group))
      return &known->form;
  }
  if (self->cancel != NULL && g_atomic_int_get (self->cancel) != 0) {
    fab_throw (error, FAB_ERROR_CANCELLED, "the run was cancelled");
    return NULL;
  }
  g_autofree KnownForm *made = g_new0 (KnownForm, 1);
  *made = (KnownForm){ .algorithm = algorithm, .group = *group, .op = op, .env = *env };
  gboolean is_derived = derive_form (self, made), is_known = FALSE;
  if (!is_derived && !make_form (self, algorithm, group, op, env, &made->form, &is_known, error))
    return NULL;
  self->n_forms_derived += is_derived;
  self->n_forms_known += is_known;
  g_array_append_val (self->forms, made);
  return &g_steal_pointer (&made)->form;
}

/* The form that a plan was made from. */
static const KnownForm *
form_of_plan (const FabLibrary *self, const FabCollectivePlan *plan)
{
  for (guint i = 0; i < self->forms->len; i++) {
    const KnownForm *known = g_array_index (self->forms, KnownForm *, i);

    if (known->form.footprint == plan->footprint)
      return known;
  }
  g_assert_not_reached ();
}

/* Whether the algorithm of a form can do the operation in another group. */
static gboolean
can_do (const KnownForm *known, const FabGroup *group, FabOp op)
{
  if (known->env.owner != NULL)
    return op == known->op && fab_group_n_ranks (group) == fab_group_n_ranks (&known->group);
  return known->algorithm->supports (group, op);
}

/* The algorithm of a plan where this group can run it; otherwise the first that can. */
static const FabAlgorithmOps *
algorithm_for (const FabLibrary *self, const KnownForm *known, const FabGroup *group, FabOp op)
{
  if (can_do (known, group, op))
    return known->algorithm;
  for (guint i = 0; self->algorithms[i] != NULL; i++)
    if (self->algorithms[i]->supports (group, op))
      return self->algorithms[i];
  return known->algorithm;
}

FabFootprint *
fab_library_footprint (const FabLibrary *self, const FabCollectivePlan *plan, FabOp op, const FabGroup *group,
                       GError **error)
{
  const KnownForm *known = form_of_plan (self, plan);
  FabCollectiveForm form;
  gboolean is_known;

  return make_form (self, algorithm_for (self, known, group, op), group, op, &known->env, &form, &is_known,
                    error)
           ? form.footprint
           : NULL;
}

double
fab_library_net_stretch (const FabLibrary *self, const FabCollectivePlan *plan)
{
  return form_of_plan (self, plan)->env.net_stretch;
}

gboolean
fab_library_add_messages (const FabLibrary *self, const FabCollectivePlan *plan, FabOp op,
                          const FabGroup *group, guint n_chunks, FabSchedule *schedule, GError **error)
{
  const KnownForm *known = form_of_plan (self, plan);

  return algorithm_for (self, known, group, op)->schedule (group, op, &known->env, n_chunks, schedule, error);
}

FabSchedule *
fab_library_schedule (const FabLibrary *self, const FabCollectivePlan *plan, guint n_chunks)
{
  const KnownForm *known = form_of_plan (self, plan);
  FabSchedule *schedule = fab_schedule_new (known->group.cluster);
  gboolean is_made = fab_library_add_messages (self, plan, known->op, &known->group,
                                               plan->messages != NULL ? 1 : n_chunks, schedule, NULL);

  g_assert (is_made); /* its form has found all paths */
  return schedule;
}

/* --- plans --- */

/* Where a library says nothing of chunks they are so small that the first one's way to the end costs a hundredth. */
static guint
enough_chunks (const FabLibrary *self, const FabCollectivePlan *plan)
{
  enum { MOST_CHUNKS = 1024, LEAST_BYTES = 1024 };
  const FabCollectiveForm *form = &form_of_plan (self, plan)->form;
  double fills = form->fill_s_per_byte * form->footprint->rate_bytes_per_s;
  FabBytes most = CLAMP (plan->bytes / LEAST_BYTES, 1, MOST_CHUNKS);

  return (guint) CLAMP (100 * fills, 1, (double) most);
}

static FabSchedule *
make_messages (gconstpointer library, const FabCollectivePlan *plan)
{
  return fab_library_schedule (library, plan, plan->steps.n_chunks);
}

/* What the library has not said: all of the startup is steps, one like the other. */
static void
finish_steps (const FabLibrary *self, FabCollectivePlanSteps *steps, const FabCollectivePlan *plan)
{
  if (steps->inter_cost <= 0) {
    steps->steps_ps = plan->startup_ps;
    steps->intra_cost = steps->inter_cost = 1;
  }
  if (steps->n_chunks == 0)
    steps->n_chunks = enough_chunks (self, plan);
  steps->is_pipeline = form_of_plan (self, plan)->form.fill_s_per_byte > 0;
  steps->make = make_messages;
  steps->owner = self;
}

/* What the library has not said: kernels that move bytes through host memory, and not links, may be the limit. */
static void
finish_ends (const FabCollectiveForm *form, const FabGroup *group, FabCollectivePlan *plan)
{
  double kernels = fab_form_kernels_bytes_per_s (form, group->cluster) / plan->wire_factor;

  if (kernels > 0 && (plan->ends_bytes_per_s <= 0 || kernels < plan->ends_bytes_per_s))
    plan->ends_bytes_per_s = kernels;
}

/* The first given algorithm that fits; NULL: none. */
static const FabGiven *
find_given (const FabLibrary *self, const FabCollectivePlan *plan)
{
  for (guint i = 0; i < self->given->len && self->ops->plan_by != NULL; i++) {
    const FabGiven *given = g_ptr_array_index (self->given, i);

    if (fab_given_fits (given, plan->n_ranks, plan->op, plan->bytes))
      return given;
  }
  return NULL;
}

static gboolean
make_plan (FabLibrary *self, const FabGroup *group, FabOp op, FabBytes bytes, FabCollectivePlan *plan,
           GError **error)
{
  *plan = (FabCollectivePlan){ .algorithm = "none",
                               .protocol = "none",
                               .op = op,
                               .bytes = bytes,
                               .n_ranks = fab_group_n_ranks (group),
                               .wire_factor = 1,
                               .n_connections = 1 };
  if (plan->n_ranks < 2)
    return TRUE;
  const FabGiven *given = find_given (self, plan);
  if (!(given != NULL ? self->ops->plan_by (self, group, given, plan, error)
                      : self->ops->plan (self, group, op, bytes, plan, error)))
    return FALSE;
  finish_steps (self, &plan->steps, plan);
  finish_ends (&form_of_plan (self, plan)->form, group, plan);
  if (fab_collective_plan_idle_ps (plan) < FAB_TIME_MAX / 2)
    return TRUE;
  g_autofree char *size = fab_units_write_whole (FAB_UNIT_BYTES, (gint64) MIN (bytes, G_MAXINT64));
  return fab_throw (error, FAB_ERROR_INPUT,
                    "%s of %s over %u ranks takes longer than 53 days, the limit of one collective",
                    fab_op_names[op], size, plan->n_ranks);
}

static void
keep_plan (FabLibrary *self, const KnownPlan *made)
{
  if (g_hash_table_size (self->plans) >= MOST_PLANS)
    g_hash_table_remove_all (self->plans);
  g_hash_table_add (self->plans, g_memdup2 (made, sizeof *made));
}

gboolean
fab_library_plan (FabLibrary *self, const FabGroup *group, FabOp op, FabBytes bytes, FabCollectivePlan *plan,
                  GError **error)
{
  KnownPlan made = { .group = *group, .op = op, .bytes = bytes };
  const KnownPlan *known = g_hash_table_lookup (self->plans, &made);

  if (known != NULL) {
    *plan = known->plan;
    return TRUE;
  }
  if (!make_plan (self, group, op, bytes, plan, error))
    return FALSE;
  made.plan = *plan;
  keep_plan (self, &made);
  return TRUE;
}
