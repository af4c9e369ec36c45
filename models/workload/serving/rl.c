/* SPDX-License-Identifier: Apache-2.0 */
/* rl.c - a step of reinforcement learning: ranks that generate, ranks that train, and the weights that go from these to
 * those. The times of generating and of training are given: this job asks what the weights cost on the network.
 */
#include <math.h>

#include "models/models.h"
#include "models/workload/serving/flows.h"
#include "sim/base/error.h"
#include "sim/base/param.h"
#include "sim/collective/plan/concurrent_groups.h"

typedef enum { RL_SYNCHRONOUS, RL_ONE_STEP_OFF, RL_BACKGROUND } RlMode;
typedef enum { RL_PULL, RL_BROADCAST } RlMethod;

typedef struct {
  const char *model;
  gint64 trainers, replica, bits;
  gint mode, method;
  FabTimePs generation_ps, training_ps, setup_ps;
  FabBytes bucket;
} RlParams;

static const char *const mode_names[] = { "synchronous", "one_step_off", "background", NULL };
static const char *const method_names[] = { "pull", "broadcast", NULL };

#define ROW(field_) G_STRUCT_OFFSET (RlParams, field_)

static const FabParam rl_params[] = {
  { .key = "model",
    .type = FAB_PARAM_TEXT,
    .offset = ROW (model),
    .refers = FAB_REFERS_MODEL,
    .is_in_title = TRUE,
    .help = "Model entry, of the catalogue or of this file's `models`. All of its parameters are sent." },
  { .key = "trainers",
    .type = FAB_PARAM_COUNT,
    .offset = ROW (trainers),
    .min = 1,
    .max = 1e6,
    .is_in_title = TRUE,
    .help =
        "Ranks that train: the first ones. All others generate. Each trainer has an equal part of the weights." },
  { .key = "replica",
    .type = FAB_PARAM_COUNT,
    .offset = ROW (replica),
    .fallback = "0",
    .max = 1e6,
    .help =
        "Generating ranks that share a copy of the weights (tensor and expert parallelism); 0: all of them share "
        "one." },
  { .key = "method",
    .type = FAB_PARAM_CHOICE,
    .offset = ROW (method),
    .fallback = "pull",
    .choices = method_names,
    .is_in_title = TRUE,
    .help =
        "pull: each generating rank reads its part from the trainers that have it, by RDMA. broadcast: the first "
        "trainer broadcasts all weights to all generating ranks, bucket by bucket, after the trainers have gathered "
        "it." },
  { .key = "mode",
    .type = FAB_PARAM_CHOICE,
    .offset = ROW (mode),
    .fallback = "synchronous",
    .choices = mode_names,
    .is_in_title = TRUE,
    .help =
        "synchronous: generate, then train, then send. one_step_off: generate and train at the same time, then "
        "send. background: send after training while generation goes on." },
  { .key = "generation",
    .type = FAB_PARAM_TIME,
    .offset = ROW (generation_ps),
    .fallback = "0s",
    .help = "Time of generating the rollouts of a step." },
  { .key = "training",
    .type = FAB_PARAM_TIME,
    .offset = ROW (training_ps),
    .fallback = "0s",
    .help = "Time of a training step, rewards and log-probabilities included." },
  { .key = "bits",
    .type = FAB_PARAM_COUNT,
    .offset = ROW (bits),
    .fallback = "16",
    .min = 1,
    .max = 64,
    .help = "Bits of a parameter as it is sent." },
  { .key = "bucket",
    .type = FAB_PARAM_BYTES,
    .offset = ROW (bucket),
    .fallback = "1GB",
    .min = 1,
    .max = 1e18,
    .help = "broadcast: bytes of one broadcast." },
  { .key = "setup",
    .type = FAB_PARAM_TIME,
    .offset = ROW (setup_ps),
    .fallback = "0s",
    .help = "Software time before each broadcast or pull, for names, shapes and registration of "
            "memory." },
  { .key = NULL },
};

typedef struct {
  const RlParams *params;
  Flows flows;
  double bytes; /* of all weights */
  guint n_trainers, n_generators, replica;
  guint train_class, generate_class;
  guint train, generate; /* streams */
  FabTaskId start, trained, generated;
  GArray *ends; /* FabTaskId: with which the weights have arrived */
} Rl;

static gboolean
starts_with_training (const Rl *self)
{
  return self->params->mode == RL_BACKGROUND;
}

static gboolean
add_pull (Rl *self, guint trainer, guint generator, double bytes, GError **error)
{
  Flow flow = { .rank_class = self->train_class,
                .target_class = self->generate_class,
                .from = trainer,
                .to = self->n_trainers + generator,
                .bytes = (FabBytes) bytes,
                .setup_ps = self->params->setup_ps,
                .start = self->start,
                .after = &self->trained };
  FlowStreams streams = { .is_there = FALSE };
  FabTaskId task;

  if (!flows_add (&self->flows, &flow, &streams, error))
    return FALSE;
  task = fab_dag_builder_last (self->flows.builder, streams.sends);
  if (!starts_with_training (self))
    fab_dag_builder_after (self->flows.builder, task, self->generated);
  g_array_append_val (self->ends, task);
  return TRUE;
}

/* The parts of a trainer and of a generating rank are intervals of the weights; they send what is in both. */
static gboolean
add_pulls (Rl *self, GError **error)
{
  for (guint g = 0; g < self->n_generators; g++) {
    double from = (double) (g % self->replica) / self->replica,
           to = (double) (g % self->replica + 1) / self->replica;
    guint first = (guint) (from * self->n_trainers),
          end = MIN ((guint) ceil (to * self->n_trainers), self->n_trainers);

    for (guint t = first; t < end; t++) {
      double share = MIN (to, (double) (t + 1) / self->n_trainers)
                   - MAX (from, (double) t / self->n_trainers);

      if (share * self->bytes >= 1 && !add_pull (self, t, g, share * self->bytes, error))
        return FALSE;
    }
  }
  return TRUE;
}

/* One group: the first trainer and all generating ranks. */
static FabConcurrentGroups *
broadcast_group (const Rl *self)
{
  g_autofree guint *ranks = g_new (guint, self->n_generators + 1);
  FabConcurrentGroups *group;

  ranks[0] = 0;
  for (guint g = 0; g < self->n_generators; g++)
    ranks[g + 1] = self->n_trainers + g;
  group = fab_concurrent_groups_new (self->flows.env->cluster, ranks, 1, self->n_generators + 1);
  return fab_concurrent_groups_keep (self->flows.env->library, group);
}

/* The trainers gather a bucket, and it goes out while they gather the next one. */
static gboolean
add_broadcasts (Rl *self, GError **error)
{
  FabDagBuilder *builder = self->flows.builder;
  FabLibrary *library = self->flows.env->library;
  FabConcurrentGroups *group = broadcast_group (self), *trainers = NULL;
  guint send = fab_dag_builder_stream (builder, self->train_class, "broadcast");
  guint receive = fab_dag_builder_stream (builder, self->generate_class, "broadcast");
  guint gather = fab_dag_builder_stream (builder, self->train_class, "gather");
  double left = self->bytes;

  if (self->n_trainers > 1) {
    g_autofree guint *ranks = g_new (guint, self->n_trainers);

    for (guint t = 0; t < self->n_trainers; t++)
      ranks[t] = t;
    trainers = fab_concurrent_groups_new (self->flows.env->cluster, ranks, 1, self->n_trainers);
    trainers = fab_concurrent_groups_keep (library, trainers);
  }
  for (guint k = 0; left >= 1; k++, left -= (double) self->params->bucket) {
    FabBytes bytes = (FabBytes) MIN (left, (double) self->params->bucket);
    FabCollectivePlan plan;
    FabTaskId task, gathered = self->trained;
    guint message;

    if (k >= FLOWS_MAX)
      return fab_throw (error, FAB_ERROR_INPUT, "job: these are more than %d buckets", FLOWS_MAX);
    if (trainers != NULL) {
      if (!fab_concurrent_groups_plan (trainers, library, FAB_OP_ALL_GATHER, bytes, &plan, error))
        return FALSE;
      gathered = fab_dag_builder_join (builder, gather,
                                       fab_dag_builder_collective (builder, &plan, FAB_DIMENSION_DATA,
                                                                   g_strdup_printf ("gather%u", k)));
      if (k == 0)
        fab_dag_builder_after (builder, gathered, self->trained);
    }
    if (!fab_concurrent_groups_plan (group, library, FAB_OP_BROADCAST, bytes, &plan, error))
      return FALSE;
    plan.startup_ps = fab_ps_add (plan.startup_ps, self->params->setup_ps);
    message = fab_dag_builder_collective (builder, &plan, FAB_DIMENSION_OTHER,
                                          g_strdup_printf ("broadcast%u", k));
    task = fab_dag_builder_join (builder, send, message);
    fab_dag_builder_after (builder, task, gathered);
    fab_dag_builder_after (builder, fab_dag_builder_join (builder, receive, message), self->start);
    if (k == 0 && !starts_with_training (self))
      fab_dag_builder_after (builder, task, self->generated);
  }
  FabTaskId last = fab_dag_builder_last (builder, send);
  g_array_append_val (self->ends, last);
  return TRUE;
}

/* Generating and training, each on its ranks. The next step begins when all of this one has ended. */
static gboolean
add_step (Rl *self, GError **error)
{
  FabDagBuilder *builder = self->flows.builder;
  const RlParams *p = self->params;
  FabTaskId end;

  self->train_class = fab_dag_builder_class (builder, "trainers", 0, self->n_trainers);
  self->train = fab_dag_builder_stream (builder, self->train_class, "compute");
  self->generate_class = fab_dag_builder_class (builder, "generators", self->n_trainers, self->n_generators);
  self->generate = fab_dag_builder_stream (builder, self->generate_class, "compute");
  self->start = fab_dag_builder_work (builder, self->generate, FAB_SPAN_LOAD, 0, g_strdup ("start"));
  self->generated = fab_dag_builder_work (builder, self->generate, FAB_SPAN_COMPUTE, p->generation_ps,
                                          g_strdup ("generate"));
  self->trained = fab_dag_builder_work (builder, self->train, FAB_SPAN_COMPUTE, p->training_ps,
                                        g_strdup ("train"));
  if (p->mode == RL_SYNCHRONOUS)
    fab_dag_builder_after (builder, self->trained, self->generated);
  if (!(p->method == RL_PULL ? add_pulls (self, error) : add_broadcasts (self, error)))
    return FALSE;
  end = fab_dag_builder_work (builder, self->generate, FAB_SPAN_LOAD, 0, g_strdup ("end"));
  fab_dag_builder_after (builder, end, self->trained);
  for (guint i = 0; i < self->ends->len; i++)
    fab_dag_builder_after (builder, end, g_array_index (self->ends, FabTaskId, i));
  fab_dag_builder_after_previous (builder, self->start, end);
  fab_dag_builder_after (builder, self->trained, self->start);
  return TRUE;
}

static gboolean
check_ranks (Rl *self, GError **error)
{
  guint n_ranks = fab_cluster_n_ranks (self->flows.env->cluster);

  if (self->params->trainers >= n_ranks)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "job: trainers: %" G_GINT64_FORMAT " leaves no rank to generate; the machine has %u",
                      self->params->trainers, n_ranks);
  self->n_trainers = (guint) self->params->trainers;
  self->n_generators = n_ranks - self->n_trainers;
  self->replica = self->params->replica > 0 ? (guint) self->params->replica : self->n_generators;
  if (self->n_generators % self->replica != 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "job: %u generating ranks cannot be divided into replicas of %u", self->n_generators,
                      self->replica);
  return TRUE;
}

static gboolean
rl_build (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder, FabJobTotals *totals,
          GError **error)
{
  const RlParams *p = params;
  g_autoptr (FabFootprintBuilder) footprints = fab_footprint_builder_new (env->cluster->graph);
  g_autoptr (FabLayerStack) stack = env->expand_model (env->catalog, p->model, 1024);
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (FabTaskId));
  Rl self = { .params = p,
              .flows = { .env = env, .builder = builder, .footprints = footprints },
              .bytes = (double) stack->parameters * (double) p->bits / 8,
              .ends = ends };

  totals->parameters = stack->parameters;
  return check_ranks (&self, error) && add_step (&self, error);
}

const FabWorkloadOps fab_workload_rl = {
  .info = { .name = "rl",
            .summary = "A step of reinforcement learning: generate, train, send the weights.",
            .doc = "docs/models/rl.md",
            .params = rl_params,
            .params_size = sizeof (RlParams) },
  .build = rl_build,
};
