/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/buckets.h"

#include "models/workload/training/streams.h"

enum { DENSE, EXPERTS, N_SORTS };

/* The buckets of one sort of tensors: experts, or all others. */
typedef struct {
  FabConcurrentGroups *concurrent_groups;
  StreamKind stream;
  const char *name; /* "bucket", "experts" */
  FabBytes filled_bytes;
  guint n_closed, n_closed_in_pass;
  GArray *held; /* FabBytes: buckets that are closed and not reduced yet */
} Sort;

struct _Buckets {
  Stage *stage;
  BucketsParams params;
  Sort sorts[N_SORTS];
  GArray *launched; /* FabTaskId: reductions so far */
};

Buckets *
buckets_new (Stage *stage, const BucketsParams *params)
{
  Buckets *self = g_new0 (Buckets, 1);
  gboolean has_experts = layout_has_expert_groups (&stage->train->layout);

  self->stage = stage;
  self->params = *params;
  self->launched = g_array_new (FALSE, FALSE, sizeof (FabTaskId));
  self->sorts[DENSE] = (Sort){ .stream = STREAM_DATA, .name = "bucket" };
  self->sorts[EXPERTS] = (Sort){ .stream = STREAM_EXPERT_DATA, .name = "experts" };
  for (guint i = 0; i < N_SORTS; i++)
    self->sorts[i].held = g_array_new (FALSE, FALSE, sizeof (FabBytes));
  self->sorts[DENSE].concurrent_groups = stage_data_concurrent_groups (
      stage, params->part == DATA_ONE ? DATA_ALL : params->part, params->block);
  if (has_experts)
    self->sorts[EXPERTS].concurrent_groups = stage_expert_data_concurrent_groups (stage);
  return self;
}

void
buckets_free (gpointer data)
{
  Buckets *self = data;

  for (guint i = 0; i < N_SORTS; i++)
    g_array_unref (self->sorts[i].held);
  g_array_unref (self->launched);
  g_free (self);
}

static void
launch (Buckets *self, Sort *sort, FabBytes bytes)
{
  Comm comm = { sort->stream, FAB_DIMENSION_DATA, sort->concurrent_groups, self->params.op, bytes };
  char *name = g_strdup_printf ("%s%u", sort->name, sort->n_closed++);
  gboolean is_own = self->params.send != NULL && sort == &self->sorts[DENSE];
  FabTaskId task = self->stage->last_compute; /* a rank that shares with nobody has its gradients by itself */

  if (is_own ? self->params.send (self->stage, bytes, name, &task)
             : stage_comm_of_pass (self->stage, &comm, self->stage->train->env->library, name, &task))
    g_array_append_val (self->launched, task);
  if (self->params.sent != NULL && self->params.sent (self->stage, bytes, &task))
    g_array_append_val (self->launched, task);
}

static void
close_bucket (Buckets *self, Sort *sort)
{
  if (self->params.overlaps)
    launch (self, sort, sort->filled_bytes);
  else
    g_array_append_val (sort->held, sort->filled_bytes);
  sort->filled_bytes = 0;
  sort->n_closed_in_pass++;
}

void
buckets_add (Buckets *self, guint layer, guint index)
{
  const Train *train = self->stage->train;
  const FabTensor *tensor = fab_layer_tensor (fab_layer_stack_layer (train->stack, layer), index);
  if (tensor->is_frozen)
    return;
  gboolean is_expert = tensor->kind == FAB_TENSOR_EXPERT && layout_has_expert_groups (&train->layout);
  Sort *sort = &self->sorts[is_expert ? EXPERTS : DENSE];
  FabBytes cap = sort->n_closed_in_pass == 0 ? self->params.first_bytes : self->params.bytes;
  FabBytes bytes = train_tensor_parameters (train, tensor) * self->params.bytes_per_parameter;

  if (self->params.is_closed_before && cap > 0 && sort->filled_bytes > 0 && sort->filled_bytes + bytes > cap)
    close_bucket (self, sort);
  sort->filled_bytes += bytes;
  if (!self->params.is_closed_before && cap > 0 && sort->filled_bytes >= cap)
    close_bucket (self, sort);
}

void
buckets_close (Buckets *self)
{
  for (guint i = 0; i < N_SORTS; i++)
    if (self->sorts[i].filled_bytes > 0)
      close_bucket (self, &self->sorts[i]);
}

void
buckets_flush (Buckets *self)
{
  buckets_close (self);
  for (guint i = 0; i < N_SORTS; i++) {
    Sort *sort = &self->sorts[i];

    for (guint k = 0; k < sort->held->len; k++)
      launch (self, sort, g_array_index (sort->held, FabBytes, k));
    g_array_set_size (sort->held, 0);
  }
}

void
buckets_end_pass (Buckets *self, gboolean is_last)
{
  buckets_flush (self);
  for (guint i = 0; i < N_SORTS; i++)
    self->sorts[i].n_closed_in_pass = 0;
  if (!is_last)
    buckets_wait (self);
}

gboolean
buckets_are_under_way (const Buckets *self)
{
  return self->launched->len > 0;
}

void
buckets_wait (Buckets *self)
{
  for (guint i = 0; i < self->launched->len; i++)
    stage_wait (self->stage, g_array_index (self->launched, FabTaskId, i));
  g_array_set_size (self->launched, 0);
}
