/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/memo/plan_ids.h"

#include <string.h>

/* What a network is told of a collective; compared byte by byte. */
typedef struct {
  gconstpointer footprint, messages, make, owner;
  const char *traffic;
  FabBytes bytes;
  FabTimePs startup_ps, latency_ps, steps_ps, fill_ps;
  double wire_factor, most_bytes_per_s, pace_bytes_per_s, intra_cost, inter_cost;
  guint64 n_connections, n_chunks, is_pipeline, number;
} PlanKey;

struct _FabPlanIds {
  GHashTable *known; /* of PlanKey, which are keys and values */
};

guint
fab_words_hash (const guint64 *words, gsize n)
{
  const guint64 odd = 0x9e3779b97f4a7c15U; /* 2^64 over the golden ratio */
  guint64 sum = n;

  for (gsize i = 0; i < n; i++)
    sum = (sum ^ words[i]) * odd ^ sum >> 29;
  return (guint) (sum ^ sum >> 32);
}

static guint
key_hash (gconstpointer data)
{
  return fab_words_hash (data, G_STRUCT_OFFSET (PlanKey, number) / sizeof (guint64));
}

static gboolean
key_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, G_STRUCT_OFFSET (PlanKey, number)) == 0;
}

FabPlanIds *
fab_plan_ids_new (void)
{
  FabPlanIds *self = g_new0 (FabPlanIds, 1);

  self->known = g_hash_table_new_full (key_hash, key_equal, g_free, NULL);
  return self;
}

void
fab_plan_ids_free (FabPlanIds *self)
{
  g_hash_table_unref (self->known);
  g_free (self);
}

guint32
fab_plan_ids_find (FabPlanIds *self, const FabCollectivePlan *plan, const char *traffic)
{
  PlanKey key = {
    .footprint = plan->footprint,
    .messages = plan->messages,
    .make = (gconstpointer) plan->steps.make,
    .owner = plan->steps.owner,
    .traffic = traffic,
    .bytes = plan->bytes,
    .startup_ps = plan->startup_ps,
    .latency_ps = plan->latency_ps,
    .steps_ps = plan->steps.steps_ps,
    .fill_ps = plan->steps.fill_ps,
    .wire_factor = plan->wire_factor,
    .most_bytes_per_s = plan->most_bytes_per_s,
    .pace_bytes_per_s = plan->steps.pace_bytes_per_s,
    .intra_cost = plan->steps.intra_cost,
    .inter_cost = plan->steps.inter_cost,
    .n_connections = plan->n_connections,
    .n_chunks = plan->steps.n_chunks,
    .is_pipeline = plan->steps.is_pipeline != FALSE,
    .number = g_hash_table_size (self->known),
  };
  const PlanKey *known = g_hash_table_lookup (self->known, &key);

  if (known == NULL)
    g_hash_table_add (self->known, g_memdup2 (&key, sizeof key));
  return (guint32) (known != NULL ? known->number : key.number);
}
