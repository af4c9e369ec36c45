/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c - collectives as in a textbook: links have latency and rate, software takes no time.
 *
 *   startup = steps inside nodes x latency of the longest hop inside a node
 *           + steps between nodes x latency of the longest hop between nodes
 *
 * It takes the algorithm that the scenario asks for. Where the scenario asks for none, it takes the one that is made
 * for the fabric (bucket on a torus, hierarchical for an all-to-all over rails that no switch joins), and else the
 * preferred one of those that can do the operation. An all-reduce of S bytes by a ring over n ranks takes 2(n-1)/n x
 * S/B plus latency at B bytes per second. So it shows what the wires alone allow, and `nccl` what a library makes of
 * them.
 */
#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/collective/plan/given.h"

typedef struct {
  const char *algorithm;
} PlainParams;

static const FabParam plain_params[] = {
  { .key = "algorithm",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (PlainParams, algorithm),
    .fallback = "",
    .refers = FAB_REFERS_ALGORITHM,
    .help = "Use this algorithm only; empty: the first that supports the operation." },
  { .key = NULL },
};

typedef struct {
  FabLibrary base;
  PlainParams params;
} PlainLibrary;

static const FabAlgorithmEnv no_loss = { .net_stretch = 1 };

static gboolean
is_wanted (const PlainLibrary *self, const FabAlgorithmOps *algorithm)
{
  return self->params.algorithm == NULL || strcmp (self->params.algorithm, algorithm->info.name) == 0;
}

/* Returns the first algorithm that follows the fabric, else the first of all; NULL: none can do the operation. */
static const FabAlgorithmOps *
choose (const PlainLibrary *self, const FabGroup *group, FabOp op)
{
  const FabAlgorithmOps *first = NULL;

  for (guint i = 0; self->base.algorithms[i]; i++) {
    const FabAlgorithmOps *algorithm = self->base.algorithms[i];

    gboolean follows_fabric = algorithm->follows_fabric != NULL && algorithm->follows_fabric (group, op);

    if ((first != NULL && !follows_fabric) || !is_wanted (self, algorithm)
        || !algorithm->supports (group, op))
      continue;
    if (follows_fabric)
      return algorithm;
    first = algorithm;
  }
  return first;
}

static gboolean
no_algorithm (const PlainLibrary *self, FabOp op, guint n_ranks, GError **error)
{
  if (self->params.algorithm)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "collectives.algorithm: '%s' cannot do %s over the links between these %u ranks",
                      self->params.algorithm, fab_op_names[op], n_ranks);
  return fab_throw (error, FAB_ERROR_INPUT, "no algorithm can do %s over %u ranks", fab_op_names[op],
                    n_ranks);
}

static gboolean
plan_with (FabLibrary *library, const FabAlgorithmOps *algorithm, const FabGroup *group,
           const FabAlgorithmEnv *env, FabCollectivePlan *plan, GError **error)
{
  const FabCollectiveForm *form = fab_library_form (library, algorithm, group, plan->op, env, error);

  if (form == NULL)
    return FALSE;
  plan->algorithm = algorithm->info.name;
  plan->n_channels = form->n_channels;
  plan->footprint = form->footprint;
  plan->most_bytes_per_s = form->phases_bytes_per_s;
  plan->startup_ps = plan->latency_ps = fab_form_latency_ps (form);
  return TRUE;
}

static gboolean
plain_plan (FabLibrary *library, const FabGroup *group, FabOp op, G_GNUC_UNUSED FabBytes bytes,
            FabCollectivePlan *plan, GError **error)
{
  const PlainLibrary *self = (const PlainLibrary *) library;
  const FabAlgorithmOps *algorithm = choose (self, group, op);

  if (algorithm == NULL)
    return no_algorithm (self, op, plan->n_ranks, error);
  return plan_with (library, algorithm, group, &no_loss, plan, error);
}

static gboolean
plain_plan_by (FabLibrary *library, const FabGroup *group, const FabGiven *given, FabCollectivePlan *plan,
               GError **error)
{
  FabAlgorithmEnv env = no_loss;

  env.owner = given;
  return plan_with (library, &given->ops, group, &env, plan, error);
}

static FabLibrary *
plain_create (const FabModelInfo *const *algorithms, gconstpointer params)
{
  PlainLibrary *self = g_new0 (PlainLibrary, 1);

  fab_library_init (&self->base, &fab_library_plain, algorithms);
  self->params = *(const PlainParams *) params;
  return &self->base;
}

static void
plain_destroy (FabLibrary *library)
{
  fab_library_clear (library);
  g_free (library);
}

const FabLibraryOps fab_library_plain = {
  .info = { .name = "plain",
            .summary = "Textbook collectives: link latency and bytes, without software costs.",
            .doc = "docs/models/plain.md",
            .params = plain_params,
            .params_size = sizeof (PlainParams) },
  .create = plain_create,
  .plan = plain_plan,
  .plan_by = plain_plan_by,
  .destroy = plain_destroy,
};
