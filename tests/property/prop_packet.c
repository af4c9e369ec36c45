/* SPDX-License-Identifier: Apache-2.0 */
/* prop_packet.c - the packet network against max-min fair sharing where both should agree, and what must hold always.
 *
 * On links without loss that serve who waits in turn, messages through one bottleneck share it as max-min says. So
 * each ends within 3 % of its fluid time, and the turn that each of the others may be ahead. Buffers are small against
 * messages: what waits in front of a bottleneck has its place in the row, whoever comes later.
 */
#include "tests/support/test.h"

#include "tests/support/load.h"
#include "tests/support/seeds.h"

enum { MOST = 24, MTU = 4096 };

typedef struct {
  Rig *rig;
  guint n;
  LoadItem items[MOST];
} Case;

static void
case_clear (Case *self)
{
  rig_free (self->rig);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Case, case_clear)

static void
add (Case *self, Random *random, guint from, guint to)
{
  self->items[self->n] = (LoadItem){
    .start_ps = random_below (random, 100000000),
    .transfer = { .src = rig_gpu (self->rig, from),
                  .dst = rig_gpu (self->rig, to),
                  .bytes = (FabBytes) random_scale (random, 4e6, 1e7),
                  .drive = FAB_DRIVE_COPY,
                  .flow_hash = self->n },
  };
  self->n++;
}

static Rig *
new_rig (Random *random, guint n_nodes, guint n_gpus)
{
  return rig_new (
      &(RigSpec){ .n_nodes = n_nodes,
                  .gpus_per_node = n_gpus,
                  .nics_per_node = n_nodes > 1,
                  .gpu_bytes_per_s = 100000000000,
                  .nic_bytes_per_s = random_between (random, 1, 8) * G_GUINT64_CONSTANT (12500000000),
                  .gpu_latency_ps = random_below (random, 50000),
                  .nic_latency_ps = random_below (random, 1000000),
                  .gpu_cost = 1 + random_below (random, 4) / 16.0,
                  .nic_cost = 1 + random_below (random, 4) / 16.0 });
}

/* Through one NIC to the other node; each GPU sends and receives once. */
static Case
dumbbell (Random *random)
{
  guint n = random_between (random, 1, 8);
  Case self = { .rig = new_rig (random, 2, n) };

  for (guint i = 0; i < n; i++)
    add (&self, random, i, n + i);
  return self;
}

static Case
incast (Random *random)
{
  guint n = random_between (random, 1, MOST - 1);
  Case self = { .rig = new_rig (random, 1, n + 1) };

  for (guint i = 0; i < n; i++)
    add (&self, random, i, n);
  return self;
}

/* Each to the one that is `step` further on: no two share a link. */
static Case
permutation (Random *random)
{
  guint n = random_between (random, 2, MOST), step = random_between (random, 1, n - 1);
  Case self = { .rig = new_rig (random, 1, n) };

  for (guint i = 0; i < n; i++)
    add (&self, random, i, (i + step) % n);
  return self;
}

static void
check_case (Case *self)
{
  FabTimePs fluid_ps[MOST];

  load_play (self->rig, &fab_net_fluid, self->items, self->n, NULL);
  for (guint i = 0; i < self->n; i++)
    fluid_ps[i] = self->items[i].end_ps - self->items[i].start_ps;
  load_play (self->rig, &fab_net_packet, self->items, self->n, NULL);
  for (guint i = 0; i < self->n; i++) {
    double packet_ps = (double) (self->items[i].end_ps - self->items[i].start_ps);
    double grace_ps = self->n * 4.0 * MTU * 1.25 / (double) self->rig->spec.nic_bytes_per_s * 1e12;

    if (fabs (packet_ps - (double) fluid_ps[i]) > 0.03 * (double) fluid_ps[i] + grace_ps)
      fail_msg ("message %u of %u takes %g ps, by max-min %g", i, self->n, packet_ps, (double) fluid_ps[i]);
  }
}

static void
check_dumbbell (Random *random)
{
  g_auto (Case) self = dumbbell (random);

  check_case (&self);
}

static void
check_incast (Random *random)
{
  g_auto (Case) self = incast (random);

  check_case (&self);
}

static void
check_permutation (Random *random)
{
  g_auto (Case) self = permutation (random);

  check_case (&self);
}

static void
a_bottleneck_is_shared_as_max_min_says (G_GNUC_UNUSED void **state)
{
  seeds_run (40, check_dumbbell);
  seeds_run (40, check_incast);
  seeds_run (40, check_permutation);
}

/* --- every byte once --- */

typedef struct {
  RigNet rig;
  guint n_ended;
  guint64 sum; /* of what ended when */
} Play;

static void
note_end (gpointer owner, guint64 index)
{
  Play *play = owner;

  play->n_ended++;
  play->sum = play->sum * 31 + (guint64) fab_engine_now (play->rig.engine) * (index + 1);
}

/* What links say that they carried is what the meter says: all that was sent, and again what was lost. */
static guint64
play_random (const Rig *rig, guint64 seed, const char *yaml)
{
  Play play = { .rig = rig_net_with (rig, &fab_net_packet, yaml) };
  guint n_links = fab_graph_n_links (rig->graph), n = fab_cluster_n_ranks (&rig->cluster);
  g_autofree FabLinkLoad *loads = g_new0 (FabLinkLoad, n_links);
  Random random = { seed };

  for (guint i = 0; i < MOST; i++) {
    guint from = random_below (&random, n), to = (from + random_between (&random, 1, n - 1)) % n;
    FabTransfer transfer = { .src = rig_gpu (rig, from),
                             .dst = rig_gpu (rig, to),
                             .bytes = (FabBytes) random_scale (&random, 1, 1e6),
                             .drive = FAB_DRIVE_COPY,
                             .flow_hash = i,
                             .done = { note_end, &play, i } };

    fab_net_send (play.rig.net, &transfer);
  }
  fab_engine_run (play.rig.engine);
  assert_int_equal (play.n_ended, MOST);
  fab_meter_take (play.rig.net->meter, loads);
  for (FabLinkId l = 0; l < n_links; l++) {
    FabLinkQueue queue = fab_net_packet.link_queue (play.rig.net, l);

    assert_near (loads[l].payload_bytes, (double) queue.carried_bytes, 0);
  }
  rig_net_clear (&play.rig);
  return play.sum;
}

static void
check_bytes (Random *random)
{
  static const char *const yamls[] = {
    "{flow_control: credit}",
    "{flow_control: credit, buffer: 8KiB, switching: store_and_forward}",
    "{flow_control: none}",
    "{flow_control: none, window: 16KiB}",
    "{flow_control: pfc, pause: 32KiB, resume: 16KiB}",
    "{flow_control: drop, queue: 32KiB, timeout: 20us}",
    "{flow_control: drop, queue: 8KiB, timeout: 20us, congestion: none}",
    "{flow_control: trim, queue: 16KiB}",
    "{flow_control: trim, memory: 64KiB, alpha: 0.5}",
    "{flow_control: pfc, memory: 1MB, alpha: 0.125}",
    "{flow_control: trim, queue: 16KiB, congestion: nscc}",
    "{flow_control: trim, queue: 16KiB, congestion: credit}",
    "{flow_control: pfc, congestion: {kind: credit, first: 0, outstanding: 0.1}}",
    "{flow_control: pfc, pause: 32KiB, resume: 16KiB, congestion: hpcc}",
    "{flow_control: pfc, pause: 32KiB, resume: 16KiB, congestion: swift}",
    "{flow_control: pfc, pause: 32KiB, resume: 16KiB, congestion: timely}",
    "{flow_control: credit, balance: least_queue}",
    "{doorbell: 200ns, message_gap: 50ns, completion: 100ns, pace: 70%}",
  };
  guint64 seed = random_next (random);
  Rig *rig = new_rig (random, random_between (random, 1, 3), random_between (random, 2, 5));

  for (guint y = 0; y < G_N_ELEMENTS (yamls); y++) {
    guint64 sum = play_random (rig, seed, yamls[y]);

    assert_true (sum == play_random (rig, seed, yamls[y]));
  }
  for (const FabModelInfo *const *control = fab_models.lists[FAB_MODEL_CONGESTION]; *control != NULL;
       control++) {
    g_autofree char *yaml = g_strdup_printf (
        "{flow_control: drop, queue: 16KiB, timeout: 20us, congestion: %s}", (*control)->name);

    assert_true (play_random (rig, seed, yaml) == play_random (rig, seed, yaml));
  }
  rig_free (rig);
}

static void
every_byte_arrives_once_and_at_the_same_time_again (G_GNUC_UNUSED void **state)
{
  seeds_run (20, check_bytes);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (a_bottleneck_is_shared_as_max_min_says),
    seeds_test (every_byte_arrives_once_and_at_the_same_time_again),
  };

  return cmocka_run_group_tests_name ("packet", tests, NULL, NULL);
}
