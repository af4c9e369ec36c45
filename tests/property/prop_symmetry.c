/* SPDX-License-Identifier: Apache-2.0 */
/* prop_symmetry.c - what must not matter does not, at every fidelity, with random flows between hosts:
 *
 *   - hosts that are alike may be numbered otherwise, and every flow takes as long as before;
 *   - flows of ranks that are placed alike take the same time;
 *   - flows of twice the size take no less time, and where bytes count about twice as long;
 *   - links carry each flow's bytes once per hop of its way, and a host's link in carries what is sent to the host.
 */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/play.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog;

static const char *const fidelities[] = { "analytic", "fluid", "step", "packet" };

/* One switch: all hosts are alike, and each pair has one way. */
#define SWITCH "{node: dgx-h100, nodes: 8, gpus_per_node: 1, nics_per_node: 1, fabric: switch}"
/* Two leaves with an oversubscribed uplink each; the ways in a leaf are shorter. */
#define LEAVES                                                      \
  "{node: dgx-h100, nodes: 8, gpus_per_node: 1, nics_per_node: 1, " \
  "fabric: {kind: leaf_spine, nodes_per_leaf: 4, oversubscription: 4}, route: shortest}"

enum { N_HOSTS = 8 /* of both */, MOST_FLOWS = 16 };

typedef struct {
  guint from, to;
  FabBytes bytes;
  FabTimePs took_ps; /* filled by play_flows */
} Flow;

/* Plays the flows, all at once. Returns the bytes of each link (of the names of its ends), and fills took_ps. (transfer
 * full) */
static GHashTable *
play_flows (const char *cluster, const char *fidelity, Flow *flows, guint n)
{
  g_autoptr (GString) yaml = g_string_new ("name: t\niterations: 1\n");
  GHashTable *carried = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  g_string_append_printf (
      yaml, "cluster: %s\nfidelity: %s\njob: {kind: traffic, pattern: pairs, size: 1B, pairs: [", cluster,
      fidelity);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (yaml, "{from: %u, to: %u, size: %" G_GUINT64_FORMAT "B},", flows[i].from,
                            flows[i].to, flows[i].bytes);
  g_string_append (yaml, "]}\n");
  g_autoptr (Play) play = play_new (catalog, yaml->str, NULL);
  assert_true (fab_simulation_step (play->simulation));
  const FabProbe *probe = fab_simulation_probe (play->simulation);
  const FabGraph *graph = fab_simulation_cluster (play->simulation)->graph;
  assert_int_equal (probe->collectives->len, n);
  for (guint i = 0; i < n; i++) {
    const FabCollectiveRecord *record = &g_array_index (probe->collectives, FabCollectiveRecord, i);

    assert_int_equal (record->bytes, flows[i].bytes);
    flows[i].took_ps = record->end_ps - record->start_ps;
  }
  for (guint i = 0; i < probe->link_loads->len; i++) {
    const FabLinkLoadRecord *load = &g_array_index (probe->link_loads, FabLinkLoadRecord, i);
    const FabLink *link = fab_graph_link (graph, load->link);
    g_autofree char *from = fab_graph_vertex_name (graph, link->src),
                    *to = fab_graph_vertex_name (graph, link->dst);
    FabBytes *bytes = g_new (FabBytes, 1);

    *bytes = load->bytes;
    g_hash_table_insert (carried, g_strdup_printf ("%s %s", from, to), bytes);
  }
  return carried;
}

/* Flows between different hosts; a pair may have several. */
static guint
random_flows (Random *random, Flow *flows)
{
  guint n = random_between (random, 2, MOST_FLOWS);

  for (guint i = 0; i < n; i++) {
    flows[i].from = random_below (random, N_HOSTS);
    flows[i].to = (flows[i].from + random_between (random, 1, N_HOSTS - 1)) % N_HOSTS;
    flows[i].bytes = (FabBytes) random_scale (random, 1e3, 2e6);
  }
  return n;
}

static void
assert_same_time (const char *what, const char *fidelity, const Flow *a, const Flow *b)
{
  if (ABS (a->took_ps - b->took_ps) > 2)
    fail_msg ("%s, %s: %u to %u, %" G_GUINT64_FORMAT " bytes took %" G_GINT64_FORMAT
              " ps, and %u to %u %" G_GINT64_FORMAT,
              what, fidelity, a->from, a->to, a->bytes, a->took_ps, b->from, b->to, b->took_ps);
}

/* --- hosts by other numbers --- */

static void
check_other_numbers (Random *random)
{
  Flow flows[MOST_FLOWS], other[MOST_FLOWS];
  guint n = random_flows (random, flows), hosts[N_HOSTS];

  for (guint i = 0; i < N_HOSTS; i++) {
    guint at = random_below (random, i + 1);

    hosts[i] = hosts[at];
    hosts[at] = i;
  }
  for (guint i = 0; i < n; i++)
    other[i] = (Flow){ hosts[flows[i].from], hosts[flows[i].to], flows[i].bytes, 0 };
  for (guint f = 0; f < G_N_ELEMENTS (fidelities); f++) {
    g_autoptr (GHashTable) a = play_flows (SWITCH, fidelities[f], flows, n);
    g_autoptr (GHashTable) b = play_flows (SWITCH, fidelities[f], other, n);

    assert_int_equal (g_hash_table_size (a), g_hash_table_size (b));
    for (guint i = 0; i < n; i++)
      assert_same_time ("other numbers", fidelities[f], &flows[i], &other[i]);
  }
}

static void
numbers_do_not_matter (G_GNUC_UNUSED void **state)
{
  seeds_run (6, check_other_numbers);
}

/* --- ranks that are placed alike --- */

static void
check_alike (Random *random)
{
  guint distance = random_between (random, 1, N_HOSTS - 1);
  FabBytes bytes = (FabBytes) random_scale (random, 1e3, 1e7);

  for (guint f = 0; f < G_N_ELEMENTS (fidelities); f++) {
    Flow flows[N_HOSTS];

    for (guint i = 0; i < N_HOSTS; i++)
      flows[i] = (Flow){ i, (i + distance) % N_HOSTS, bytes, 0 };
    g_autoptr (GHashTable) carried = play_flows (SWITCH, fidelities[f], flows, N_HOSTS);
    for (guint i = 1; i < N_HOSTS; i++)
      assert_same_time ("a shift", fidelities[f], &flows[0], &flows[i]);
  }
}

static void
ranks_that_are_alike_fare_alike (G_GNUC_UNUSED void **state)
{
  seeds_run (6, check_alike);
}

/* --- twice the size --- */

/* The last flow to end is bound by bytes where it takes many times its latency. */
static FabTimePs
last_ps (const Flow *flows, guint n)
{
  FabTimePs last = 0;

  for (guint i = 0; i < n; i++)
    last = MAX (last, flows[i].took_ps);
  return last;
}

static void
check_twice (Random *random)
{
  Flow flows[MOST_FLOWS], twice[MOST_FLOWS];
  guint n = random_flows (random, flows);

  flows[0].bytes = 20 * 1000 * 1000; /* so that the whole is bound by bytes */
  for (guint i = 0; i < n; i++)
    twice[i] = (Flow){ flows[i].from, flows[i].to, 2 * flows[i].bytes, 0 };
  for (guint f = 0; f < G_N_ELEMENTS (fidelities); f++) {
    g_autoptr (GHashTable) a = play_flows (LEAVES, fidelities[f], flows, n);
    g_autoptr (GHashTable) b = play_flows (LEAVES, fidelities[f], twice, n);
    double ratio = (double) last_ps (twice, n) / (double) last_ps (flows, n);

    if (!(ratio > 1.8 && ratio < 2.1))
      fail_msg ("%s: %u flows of twice the size end after %.3f times the time", fidelities[f], n, ratio);
    if (f > 1)
      continue; /* packets of several flows may meet otherwise, so that single ones gain */
    for (guint i = 0; i < n; i++)
      assert_true (twice[i].took_ps >= flows[i].took_ps);
  }
}

static void
twice_the_size_takes_about_twice_as_long (G_GNUC_UNUSED void **state)
{
  seeds_run (6, check_twice);
}

/* --- conservation --- */

static guint64
sum_of (GHashTable *carried)
{
  GHashTableIter iter;
  gpointer bytes;
  guint64 sum = 0;

  g_hash_table_iter_init (&iter, carried);
  while (g_hash_table_iter_next (&iter, NULL, &bytes))
    sum += *(FabBytes *) bytes;
  return sum;
}

/* What goes into a NIC from outside its node. */
static guint64
into_host (GHashTable *carried, guint host)
{
  g_autofree char *nic = g_strdup_printf (" node%u/nic0", host), *own = g_strdup_printf ("node%u/", host);
  GHashTableIter iter;
  gpointer name, bytes;
  guint64 sum = 0;

  g_hash_table_iter_init (&iter, carried);
  while (g_hash_table_iter_next (&iter, &name, &bytes))
    if (g_str_has_suffix (name, nic) && !g_str_has_prefix (name, own))
      sum += *(FabBytes *) bytes;
  return sum;
}

/* The hops of each flow are those that it has alone, where they are a whole number. */
static void
check_conserved (Random *random)
{
  static const char *const clusters[] = { SWITCH, LEAVES };

  const char *cluster = clusters[random_below (random, 2)];
  Flow flows[MOST_FLOWS];
  guint n = random_flows (random, flows);

  for (guint f = 0; f < G_N_ELEMENTS (fidelities); f++) {
    guint64 expected = 0;

    for (guint i = 0; i < n; i++) {
      Flow alone = flows[i];
      g_autoptr (GHashTable) carried = play_flows (cluster, fidelities[f], &alone, 1);
      guint64 sum = sum_of (carried);

      assert_true (sum % alone.bytes == 0 && sum / alone.bytes >= 4); /* GPU, NIC, switch, NIC, GPU */
      assert_int_equal (g_hash_table_size (carried), sum / alone.bytes);
      expected += sum;
    }
    g_autoptr (GHashTable) carried = play_flows (cluster, fidelities[f], flows, n);
    assert_int_equal (sum_of (carried), expected);
    for (guint host = 0; host < N_HOSTS; host++) {
      guint64 sent = 0;

      for (guint i = 0; i < n; i++)
        sent += flows[i].to == host ? flows[i].bytes : 0;
      assert_int_equal (into_host (carried, host), sent);
    }
  }
}

static void
no_byte_is_lost (G_GNUC_UNUSED void **state)
{
  seeds_run (6, check_conserved);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (numbers_do_not_matter),
    seeds_test (ranks_that_are_alike_fare_alike),
    seeds_test (twice_the_size_takes_about_twice_as_long),
    seeds_test (no_byte_is_lost),
  };

  return play_run_tests ("symmetry", tests, &catalog);
}
