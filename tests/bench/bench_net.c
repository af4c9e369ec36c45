/* SPDX-License-Identifier: Apache-2.0 */
/* bench_net.c - the sharing solver alone, and the fluid network over it. */
#include "sim/solve/maxmin.h"
#include "tests/bench/bench.h"
#include "tests/support/random.h"
#include "tests/support/rig.h"

enum {
  N_HOSTS = 1024, /* in a fat tree of two layers: 32 leaves of 32 hosts, 32 spines */
  N_LEAVES = 32,
  N_SPINES = 32,
  N_FLOWS = 10 * N_HOSTS,
  FIRST_DOWN = N_HOSTS,
  FIRST_UPLINK = 2 * N_HOSTS,
  FIRST_DOWNLINK = FIRST_UPLINK + N_LEAVES * N_SPINES,
  N_LINKS = FIRST_DOWNLINK + N_LEAVES * N_SPINES,
  N_ROUNDS = 5,
};

typedef struct {
  guint starts[N_FLOWS + 1], links[4 * N_FLOWS];
  double capacity[N_LINKS], weights[4 * N_FLOWS], rates[N_FLOWS];
} FatTree;

/* Up to the spine that its hash chose and down again, or only through the leaf. */
static guint
add_flow (FatTree *tree, Random *random, guint n)
{
  guint src = random_below (random, N_HOSTS), dst = (src + random_between (random, 1, N_HOSTS - 1)) % N_HOSTS;
  guint spine = random_below (random, N_SPINES), hosts_per_leaf = N_HOSTS / N_LEAVES;
  guint src_leaf = src / hosts_per_leaf, dst_leaf = dst / hosts_per_leaf;

  tree->links[n++] = src;
  if (src_leaf != dst_leaf) {
    tree->links[n++] = FIRST_UPLINK + src_leaf * N_SPINES + spine;
    tree->links[n++] = FIRST_DOWNLINK + dst_leaf * N_SPINES + spine;
  }
  tree->links[n++] = FIRST_DOWN + dst;
  return n;
}

void
bench_maxmin (void)
{
  g_autofree FatTree *tree = g_new0 (FatTree, 1);
  g_autoptr (FabMaxmin) solver = fab_maxmin_new ();
  Random random = { 1 };
  double best_s = G_MAXDOUBLE;

  for (guint i = 0; i < N_LINKS; i++)
    tree->capacity[i] = 50e9;
  for (guint i = 0; i < G_N_ELEMENTS (tree->weights); i++)
    tree->weights[i] = 1;
  for (guint i = 0; i < N_FLOWS; i++)
    tree->starts[i + 1] = add_flow (tree, &random, tree->starts[i]);
  FabMaxminProblem problem = { .n_flows = N_FLOWS,
                               .n_links = N_LINKS,
                               .capacity = tree->capacity,
                               .starts = tree->starts,
                               .links = tree->links,
                               .weights = tree->weights };
  for (guint round = 0; round < 4 * N_ROUNDS; round++) {
    double since_s = bench_now_s ();

    fab_maxmin_solve (solver, &problem, tree->rates, NULL);
    best_s = MIN (best_s, bench_now_s () - since_s);
  }
  bench_row ("max-min, 10240 flows on 1024 hosts", best_s * 1e3, "ms", "%u entries, %.0f ns each",
             tree->starts[N_FLOWS], best_s * 1e9 / tree->starts[N_FLOWS]);
}

typedef struct {
  RigNet net;
  guint n_ends;
} Permutation;

static void
count_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  ((Permutation *) owner)->n_ends++;
}

static void
shuffle (Random *random, guint *order, guint n)
{
  for (guint i = 0; i < n; i++)
    order[i] = i;
  for (guint i = n - 1; i > 0; i--) {
    guint other = random_below (random, i + 1), kept = order[i];

    order[i] = order[other];
    order[other] = kept;
  }
}

/* Every GPU sends to one other, each another size; so every end changes rates. */
static double
play_permutation (const Rig *rig, guint64 seed)
{
  guint n = fab_cluster_n_ranks (&rig->cluster);
  g_autofree guint *order = g_new (guint, n);
  Permutation play = { rig_net (rig, &fab_net_fluid), 0 };
  Random random = { seed };
  double since_s = bench_now_s ();

  shuffle (&random, order, n);
  for (guint i = 0; i < n; i++) {
    FabTransfer transfer = { .src = rig_gpu (rig, i),
                             .dst = rig_gpu (rig, order[i]),
                             .drive = FAB_DRIVE_COPY,
                             .bytes = (FabBytes) random_scale (&random, 1e6, 1e9),
                             .done = { count_end, &play, 0 } };

    fab_net_send (play.net.net, &transfer);
  }
  fab_engine_run (play.net.engine);
  since_s = bench_now_s () - since_s;
  g_assert_cmpuint (play.n_ends, ==, n);
  rig_net_clear (&play.net);
  return since_s;
}

static void
bench_permutation (const Rig *rig)
{
  double best_s = G_MAXDOUBLE;

  for (guint round = 0; round < N_ROUNDS; round++)
    best_s = MIN (best_s, play_permutation (rig, 1));
  bench_row ("fluid, 1024 GPUs, each sends to another", best_s * 1e3, "ms", "%.0f us per send",
             best_s * 1e6 / fab_cluster_n_ranks (&rig->cluster));
}

static void
bench_ring (Rig *rig)
{
  double since_s = bench_now_s ();
  FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, 1000000000);
  double plan_s = bench_now_s () - since_s, best_s = G_MAXDOUBLE;
  FabStream stream = { .footprint = plan.footprint,
                       .bytes = 1000000000,
                       .startup_ps = plan.startup_ps,
                       .wire_factor = 1,
                       .share = 1 };

  for (guint round = 0; round < N_ROUNDS; round++) {
    since_s = bench_now_s ();
    rig_time_stream (rig, &fab_net_fluid, stream);
    best_s = MIN (best_s, bench_now_s () - since_s);
  }
  bench_row ("fluid, ring all-reduce over 1024 GPUs", best_s * 1e3, "ms", "planned once in %.2f ms",
             plan_s * 1e3);
}

void
bench_net (void)
{
  RigSpec spec = { .n_nodes = 128,
                   .gpus_per_node = 8,
                   .nics_per_node = 8,
                   .gpu_bytes_per_s = 300000000000,
                   .nic_bytes_per_s = 50000000000,
                   .gpu_latency_ps = 500000,
                   .nic_latency_ps = 1000000 };
  g_autoptr (Rig) rig = rig_new (&spec);

  bench_permutation (rig);
  bench_ring (rig);
}

static void
stop (gpointer engine, G_GNUC_UNUSED guint64 arg)
{
  fab_engine_stop (engine);
}

/* Every message of a ring all-reduce over 1024 hosts on two levels of switches, from the schedule to the last one. */
void
bench_step (void)
{
  RigSpec spec = { .n_nodes = N_HOSTS,
                   .gpus_per_node = 1,
                   .nics_per_node = 1,
                   .nodes_per_leaf = 32,
                   .gpu_bytes_per_s = 300000000000,
                   .nic_bytes_per_s = 50000000000,
                   .gpu_latency_ps = 500000,
                   .nic_latency_ps = 1000000 };
  g_autoptr (Rig) rig = rig_new (&spec);
  FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, 1 << 30);
  RigNet net = rig_net (rig, &fab_net_step);
  double since_s = bench_now_s ();
  g_autoptr (FabSchedule) schedule = fab_library_schedule (rig->plain, &plan, 1);
  guint64 n = fab_schedule_n_messages (schedule);
  g_autoptr (FabPlay) play = fab_play_new (
      schedule, net.net,
      &(FabPlaySpec){ .bytes = plan.bytes, .wire_factor = 1, .share = 1, .done = { stop, net.engine, 0 } });

  fab_engine_run (net.engine);
  since_s = bench_now_s () - since_s;
  rig_net_clear (&net);
  bench_row ("step, ring all-reduce over 1024 hosts", since_s * 1e3, "ms",
             "%" G_GUINT64_FORMAT " messages, %.0f ns each", n, since_s * 1e9 / (double) n);
}
