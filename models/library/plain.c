/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c - the first algorithm that can do it, and no software at all.
 *
 *   startup = intra steps x longest intra hop + inter steps x longest inter hop      (link latencies)
 *
 * The textbook's collective: 2(n-1)/n x S/B + latency for a ring. To see what the wires alone
 * allow; `nccl` says what a library makes of them.
 */
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/work/collective.h"

static const FabAlgorithmEnv no_loss = { .net_stretch = 1 };

static gboolean
plain_plan (FabLibrary *library, const FabGroup *group, FabOp op, G_GNUC_UNUSED FabBytes bytes,
            FabCollectivePlan *plan, GError **error)
{
  for (guint i = 0; library->algorithms[i]; i++) {
    const FabAlgorithmOps *algorithm = (const FabAlgorithmOps *) library->algorithms[i];
    const FabCollectiveForm *form;

    if (!algorithm->supports (group, op))
      continue;
    form = fab_library_form (library, algorithm, group, op, &no_loss, error);
    if (form == NULL)
      return FALSE;
    plan->algorithm = algorithm->info.name;
    plan->n_channels = form->n_channels;
    plan->footprint = form->footprint;
    plan->startup_ps = plan->latency_ps = fab_form_latency_ps (form);
    return TRUE;
  }
  return fab_throw (error, FAB_ERROR_INPUT, "no algorithm can do %s over %u ranks", fab_op_names[op],
                    plan->n_ranks);
}

static FabLibrary *
plain_create (const FabModelInfo *const *algorithms, G_GNUC_UNUSED gconstpointer params)
{
  FabLibrary *self = g_new0 (FabLibrary, 1);

  fab_library_init (self, &fab_library_plain, algorithms);
  return self;
}

static void
plain_destroy (FabLibrary *library)
{
  fab_library_clear (library);
  g_free (library);
}

const FabLibraryOps fab_library_plain = {
  .info = { .name = "plain",
            .summary = "Textbook collectives: link latencies and bytes, no software.",
            .doc = "docs/models/plain.md" },
  .create = plain_create,
  .plan = plain_plan,
  .destroy = plain_destroy,
};
