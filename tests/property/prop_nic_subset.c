/* SPDX-License-Identifier: Apache-2.0 */
/* prop_nic_subset.c - the NICs that remain of a few are the best choice of all, on nodes that are wired at random: the
 * fewest links from GPUs to NICs and from NICs to GPUs, then the least GPUs for the busiest NIC, then the most even
 * loads. One NIC, or all but one, are found by one exchange, so that no better choice is beyond reach. */
#include "tests/support/test.h"

#include "sim/assembly/nic_subset.h"
#include "tests/support/play.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog;

enum { N_SWITCHES = 2, MOST_GPUS = 4, MOST_NICS = 4, MOST_PARTS = MOST_GPUS + MOST_NICS + N_SWITCHES + 2 };

/* GPUs have the first numbers, then NICs, switches, a processor, and memory. */
typedef struct {
  guint n_gpus, n_nics, n;
  gboolean is_joined[MOST_PARTS][MOST_PARTS];
  guint distances[MOST_GPUS][MOST_NICS];
  GString *wires;
} Node;

static char *
name_of (const Node *node, guint part)
{
  static const char *const others[] = { "sw0", "sw1", "cpu", "ram" };

  return part < node->n_gpus                ? g_strdup_printf ("gpu%u", part)
       : part < node->n_gpus + node->n_nics ? g_strdup_printf ("nic%u", part - node->n_gpus)
                                            : g_strdup (others[part - node->n_gpus - node->n_nics]);
}

static void
join (Node *node, guint a, guint b)
{
  g_autofree char *from = name_of (node, a), *to = name_of (node, b);

  if (node->is_joined[a][b])
    return;
  node->is_joined[a][b] = node->is_joined[b][a] = TRUE;
  g_string_append_printf (node->wires, "%s{from: %s, to: %s, link: pcie4-x16}",
                          node->wires->len > 0 ? ", " : "", from, to);
}

/* Links from the GPU to each part, one more at a time: switches and the processor alone pass anything on. */
static void
measure (Node *node, guint gpu)
{
  guint levels[MOST_PARTS], first = node->n_gpus + node->n_nics;

  for (guint part = 0; part < node->n; part++)
    levels[part] = part == gpu ? 0 : node->n;
  for (guint level = 0; level < node->n; level++)
    for (guint a = 0; a < node->n; a++)
      for (guint b = 0; b < node->n; b++)
        if (levels[a] == level && node->is_joined[a][b]
            && (a == gpu || (a >= first && a < first + N_SWITCHES + 1)))
          levels[b] = MIN (levels[b], level + 1);
  for (guint nic = 0; nic < node->n_nics; nic++)
    node->distances[gpu][nic] = levels[node->n_gpus + nic];
}

static Node
draw_node (Random *random)
{
  Node node = { .n_gpus = random_between (random, 2, MOST_GPUS),
                .n_nics = random_between (random, 2, MOST_NICS),
                .wires = g_string_new (NULL) };
  guint first = node.n_gpus + node.n_nics, cpu = first + N_SWITCHES;

  node.n = cpu + 2;
  for (guint i = 0; i < N_SWITCHES; i++)
    join (&node, first + i, i > 0 && random_chance (random, 50) ? first : cpu);
  join (&node, cpu + 1, random_chance (random, 50) ? cpu : first);
  for (guint part = 0; part < first; part++) {
    gboolean is_beside = part >= node.n_gpus && random_chance (random, 15);

    join (&node, part,
          is_beside ? random_below (random, node.n_gpus)
                    : first + random_below (random, part < node.n_gpus ? 3 : 4));
    if (random_chance (random, 20))
      join (&node, part, first + random_below (random, N_SWITCHES + 1));
  }
  for (guint gpu = 0; gpu < node.n_gpus; gpu++)
    measure (&node, gpu);
  return node;
}

typedef struct {
  guint distance;
  double most, squares;
} Merit;

static Merit
merit_of (const Node *node, guint n_gpus, guint mask)
{
  double loads[MOST_NICS] = { 0 };
  Merit merit = { 0 };

  for (guint gpu = 0; gpu < n_gpus; gpu++) {
    guint least = G_MAXUINT, n = 0;

    for (guint nic = 0; nic < node->n_nics; nic++)
      if (mask & 1u << nic)
        least = MIN (least, node->distances[gpu][nic]);
    for (guint nic = 0; nic < node->n_nics; nic++)
      n += mask & 1u << nic && node->distances[gpu][nic] == least;
    for (guint nic = 0; nic < node->n_nics; nic++)
      if (mask & 1u << nic && node->distances[gpu][nic] == least)
        loads[nic] += 1.0 / n;
    merit.distance += least;
  }
  for (guint nic = 0; nic < node->n_nics; nic++) {
    guint least = G_MAXUINT;

    if (!(mask & 1u << nic))
      continue;
    for (guint gpu = 0; gpu < n_gpus; gpu++)
      least = MIN (least, node->distances[gpu][nic]);
    merit.distance += least;
    merit.most = MAX (merit.most, loads[nic]);
    merit.squares += loads[nic] * loads[nic];
  }
  return merit;
}

static gboolean
is_better (const Merit *a, const Merit *b)
{
  if (a->distance != b->distance)
    return a->distance < b->distance;
  if (fabs (a->most - b->most) > 1e-6)
    return a->most < b->most;
  return a->squares < b->squares - 1e-6;
}

static void
check_choice (Random *random)
{
  Node node = draw_node (random);
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: mine}\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
      "nodes:\n  - name: mine\n    accelerator: a100-sxm4-80gb\n    nic: ib-hdr\n"
      "    parts: [{name: gpu, kind: accelerator, count: %u}, {name: nic, kind: nic, count: %u},"
      " {name: sw, kind: switch, count: 2}, {name: cpu, kind: host}, {name: ram, kind: memory}]\n"
      "    wires: [%s]\n",
      node.n_gpus, node.n_nics, node.wires->str);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabNodeSpec *spec = fab_catalog_node (fab_scenario_catalog (play->scenario), "mine");

  for (guint n_gpus = 1; n_gpus <= node.n_gpus; n_gpus++)
    for (guint i = 0; i < 2; i++) {
      guint n = i == 0 ? 1 : node.n_nics - 1, mask = 0;
      g_autofree guint *chosen = fab_nic_subset (spec, n_gpus, n);

      for (guint k = 0; k < n; k++) {
        assert_true (chosen[k] < node.n_nics && (k == 0 || chosen[k] > chosen[k - 1]));
        mask |= 1u << chosen[k];
      }
      Merit merit = merit_of (&node, n_gpus, mask);
      for (guint other = 0; other < 1u << node.n_nics; other++) {
        Merit others = merit_of (&node, n_gpus, other);

        if ((guint) __builtin_popcount (other) == n && is_better (&others, &merit))
          fail_msg ("%u GPUs: NICs 0x%x are better than 0x%x of %s", n_gpus, other, mask, node.wires->str);
      }
    }
  g_string_free (node.wires, TRUE);
}

static void
what_remains_is_the_best_choice (G_GNUC_UNUSED void **state)
{
  seeds_run (100, check_choice);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { seeds_test (what_remains_is_the_best_choice) };

  return play_run_tests ("nic_subset", tests, &catalog);
}
