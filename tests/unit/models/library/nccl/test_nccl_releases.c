/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_releases.c - what models/library/nccl/versions.c says of each release, as the arrays of its
 * src/graph/tuning.cc have it: baseLat, hwLat, llMaxBws, perChMaxRingLL128Bws, perChMaxTreeLL128Bws, perChMaxTreeBws
 * and perChMaxNVLSTreeBws.
 *
 * A row holds from its release to the one before the next row, so that both ends are asked.
 */
#include "tests/unit/models/library/nccl/candidate.h"

enum { NEWEST = NCCL_NEWEST_VERSION };

typedef struct {
  guint first, last;
  double ll_GBps, ring_ll128[3], tree_ll128[3], tree_simple[3], nvls_tree[3];
} Caps;

static void
assert_three (const double *found, const double *expected)
{
  for (guint i = 0; i < 3; i++)
    assert_near (found[i], expected[i], 1e-12);
}

static void
assert_caps (const char *architecture, guint version, const Caps *expected)
{
  NcclCaps caps;

  nccl_caps (version, nccl_architecture (architecture), &caps);
  assert_near (caps.ll_GBps[0], expected->ll_GBps, 1e-12);
  assert_three (caps.ring_ll128_GBps, expected->ring_ll128);
  assert_three (caps.tree_ll128_GBps, expected->tree_ll128);
  assert_three (caps.tree_simple_GBps, expected->tree_simple);
  assert_three (caps.nvls_tree_GBps, expected->nvls_tree);
}

static void
assert_all_caps (const char *architecture, const Caps *rows, guint n)
{
  for (guint i = 0; i < n; i++) {
    assert_caps (architecture, rows[i].first, &rows[i]);
    assert_caps (architecture, rows[i].last, &rows[i]);
    assert_true (i + 1 == n || rows[i].last + 1 == rows[i + 1].first);
  }
}

/* Up to 2.17 the constants of 2.16.5; 2.18.6; 2.21.5; 2.28.3, which has the first caps of trees of switches. */
static void
caps_of_hopper_are_those_of_each_release (G_GNUC_UNUSED void **state)
{
  static const Caps rows[] = {
    { 21501, 21799, 87.7, { 20, 20, 20 }, { 20, 20, 20 }, { 24, 23.6, 17.8 }, { 0 } },
    { 21800, 22104, 87.7, { 36.7, 36.7, 36.7 }, { 36.7, 36.7, 29 }, { 38.7, 41.4, 36 }, { 0 } },
    { 22105, 22802, 141, { 36.7, 36.7, 36.7 }, { 36.7, 36.7, 29 }, { 38.7, 41.4, 36 }, { 0 } },
    { 22803, NEWEST, 141, { 36.7, 36.7, 36.7 }, { 36.7, 36.7, 29 }, { 38.7, 41.4, 36 }, { 0, 57.7, 45.5 } },
  };

  assert_all_caps ("hopper", rows, G_N_ELEMENTS (rows));
}

/* Twice Hopper's from 2.25.1 on; new ones in 2.28.3, 2.28.7 (two nodes), 2.28.9, 2.29.2, 2.29.7 and 2.30.3. */
static void
caps_of_blackwell_are_those_of_each_release (G_GNUC_UNUSED void **state)
{
  static const Caps rows[] = {
    { 22501, 22802, 282, { 73.4, 73.4, 73.4 }, { 73.4, 73.4, 58 }, { 77.4, 82.8, 72 }, { 0 } },
    { 22803, 22806, 282, { 73.4, 73.4, 73.4 }, { 55.6, 31.67, 20 }, { 70, 42.8, 24 }, { 0, 96, 43.1 } },
    { 22807, 22808, 282, { 73.4, 34.6, 73.4 }, { 55.6, 31.67, 20 }, { 70, 42.8, 24 }, { 0, 96, 43.1 } },
    { 22809, 22901, 282, { 73.4, 34.6, 73.4 }, { 55.6, 31.67, 20 }, { 70, 42.8, 24 }, { 0, 96, 43.8 } },
    { 22902, 22906, 282, { 34.5, 34.6, 34.5 }, { 55.6, 31.67, 20 }, { 70, 42.8, 24 }, { 0, 96, 43.8 } },
    { 22907, 23002, 282, { 40, 40, 40 }, { 55.6, 31.67, 20 }, { 70, 42.8, 24 }, { 0, 96, 43.8 } },
    { 23003, NEWEST, 282, { 40, 40, 40 }, { 55.6, 31.67, 20 }, { 70, 42.8, 24 }, { 0, 96, 80 } },
  };

  assert_all_caps ("blackwell", rows, G_N_ELEMENTS (rows));
}

/* Arrays of Volta and Ampere never changed, and RCCL has them for its own GPUs. */
static void
caps_of_older_gpus_are_the_same_in_all_releases (G_GNUC_UNUSED void **state)
{
  static const Caps volta = { 0, 0, 39, { 20, 20, 20 }, { 20, 20, 20 }, { 26.5, 18.5, 10 }, { 0 } },
                    ampere = { 0, 0, 87.7, { 20, 20, 20 }, { 20, 20, 20 }, { 24, 23.6, 17.8 }, { 0 } };

  for (guint version = 20703; version <= NEWEST; version++) {
    assert_caps ("volta", version, &volta);
    assert_caps ("ampere", version, &ampere);
    assert_caps ("cdna4", version, &ampere);
  }
}

/* --- latencies --- */

typedef struct {
  guint first, last;
  NcclTuning us; /* base, NVLink, PCI, network, each for LL, LL128, Simple */
} Latencies;

static void
assert_latencies (const CandidateSpec *spec, const NcclTuning *expected)
{
  Candidate one;

  candidate_make (&one, spec);
  assert_three (one.estimate.base_us, expected->base_us);
  assert_three (one.estimate.nvlink_us, expected->nvlink_us);
  assert_three (one.estimate.pci_us, expected->pci_us);
  assert_three (one.estimate.net_us, expected->net_us);
}

static void
assert_all_latencies (const char *model, guint gpus_per_node, const Latencies *rows, guint n)
{
  for (guint i = 0; i < n; i++) {
    CandidateSpec spec = { .architecture = "hopper",
                           .model = model,
                           .version = rows[i].first,
                           .n_nodes = 2,
                           .gpus_per_node = gpus_per_node };

    assert_latencies (&spec, &rows[i].us);
    spec.version = rows[i].last;
    assert_latencies (&spec, &rows[i].us);
    assert_true (i + 1 == n || rows[i].last + 1 == rows[i + 1].first);
  }
}

/* Simple of a tree: a chunk of 256 KiB passes (2.16), 2.18.6, as in 2.16 again (2.19 to 2.22), and 2.23.4. */
static void
latencies_of_trees_are_those_of_each_release (G_GNUC_UNUSED void **state)
{
  static const Latencies rows[] = {
    { 21501, 21799, { { 4.4, 4.4, 0 }, { .52, 1.25, 28 }, { 1, 1.9, 28 }, { 5, 8.5, 28 } } },
    { 21800, 21899, { { 6.8, 14, 0 }, { .6, 1.25, 4 }, { 1, 1.9, 6 }, { 5, 8.5, 14 } } },
    { 21900, 22299, { { 6.8, 14, 0 }, { .6, 1.25, 28 }, { 1, 1.9, 28 }, { 5, 8.5, 28 } } },
    { 22300, NEWEST, { { 6.8, 14, 8.4 }, { .6, 1.25, 4 }, { 1, 1.9, 4 }, { 5, 8.5, 14 } } },
  };

  assert_all_latencies ("tree", 8, rows, G_N_ELEMENTS (rows));
}

static void
latencies_of_rings_are_those_of_each_release (G_GNUC_UNUSED void **state)
{
  static const Latencies rows[] = {
    { 21501, 21799, { { 3.6, 10, 8.4 }, { .47, 1.9, 3.4 }, { 1, 2.5, 5.7 }, { 2.7, 4, 9.6 } } },
    { 21800, NEWEST, { { 6.6, 14, 8.4 }, { .6, 1.9, 3.4 }, { 1, 2.5, 5.7 }, { 2.7, 4, 14 } } },
  };

  assert_all_latencies ("ring", 8, rows, G_N_ELEMENTS (rows));
  assert_all_latencies ("ring", 2, rows, G_N_ELEMENTS (rows));
}

/* Since 2.23 a ring with one GPU per node has the network's latencies of a tree. */
static void
rings_of_single_gpus_cross_the_network_as_trees_do (G_GNUC_UNUSED void **state)
{
  static const Latencies rows[] = {
    { 21800, 22299, { { 6.6, 14, 8.4 }, { .6, 1.9, 3.4 }, { 1, 2.5, 5.7 }, { 2.7, 4, 14 } } },
    { 22300, NEWEST, { { 6.6, 14, 8.4 }, { .6, 1.9, 3.4 }, { 1, 2.5, 5.7 }, { 5, 8.5, 14 } } },
  };

  assert_all_latencies ("ring", 1, rows, G_N_ELEMENTS (rows));
}

/* 23 us of base up to 2.18, of NVLink in 2.19 and 2.20, 25 from 2.21 on. A step of trees between nodes has 19, 14 and
 * 20.9. */
static void
latencies_of_switches_are_those_of_each_release (G_GNUC_UNUSED void **state)
{
  static const Latencies one_node[] = {
    { 21700, 22104, { .nvlink_us = { 0, 0, 23 }, .net_us = { 0, 0, 18 } } },
    { 22105, NEWEST, { .nvlink_us = { 0, 0, 25 }, .net_us = { 0, 0, 18 } } },
  };
  static const Latencies trees[] = {
    { 21700, 21899, { .nvlink_us = { 0, 0, 23 }, .net_us = { 0, 0, 19 } } },
    { 21900, 22104, { .nvlink_us = { 0, 0, 23 }, .net_us = { 0, 0, 14 } } },
    { 22105, 22808, { .nvlink_us = { 0, 0, 25 }, .net_us = { 0, 0, 14 } } },
    { 22809, NEWEST, { .nvlink_us = { 0, 0, 25 }, .net_us = { 0, 0, 20.9 } } },
  };

  assert_all_latencies ("nvls", 8, one_node, G_N_ELEMENTS (one_node));
  assert_all_latencies ("nvls_tree", 8, trees, G_N_ELEMENTS (trees));
}

/* RCCL's constants have no history here: each algorithm has those of its row. */
static void
latencies_of_rccl_do_not_follow_releases (G_GNUC_UNUSED void **state)
{
  static const char *const models[] = { "ring", "tree" };

  for (guint i = 0; i < 4; i++) {
    CandidateSpec spec = { .architecture = "cdna2",
                           .model = models[i / 2],
                           .version = i % 2 == 0 ? 21000 : 22707,
                           .n_nodes = 2,
                           .gpus_per_node = 1 };

    assert_latencies (&spec, nccl_algorithm (spec.model)->rccl);
  }
}

/* --- names and numbers --- */

/* Every release from 2.0 to 2.30 is read as it is written; those before and after are not known. */
static void
every_release_is_read_as_it_is_written (G_GNUC_UNUSED void **state)
{
  for (guint version = NCCL_OLDEST_VERSION; version <= NEWEST; version++) {
    g_autofree char *text = nccl_version_text (version);

    assert_int_equal (nccl_version_parse (text), version);
  }
  assert_int_equal (nccl_version_parse ("2.0.0"), 20000);
  assert_int_equal (nccl_version_parse ("2.30"), 23099);
  assert_int_equal (nccl_version_parse ("1.9.9"), 0);
  assert_int_equal (nccl_version_parse ("2.31.0"), 0);
  assert_int_equal (nccl_version_parse ("2.7.100"), 0); /* would be 2.8.0 */
  assert_int_equal (nccl_version_parse ("2.7.3.1"), 0);
}

/* The first release that drives them is accepted, and the one before is not. */
static void
a_release_is_accepted_from_the_first_that_drives_the_gpus (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *architecture, *first, *before;
  } rows[] = { { "turing", "2.3.0", "2.2.99" },
               { "ampere", "2.7.3", "2.7.2" },
               { "ada", "2.14.8", "2.14.7" },
               { "hopper", "2.15.1", "2.15.0" },
               { "blackwell", "2.25.1", "2.25.0" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const NcclArchitecture *architecture = nccl_architecture (rows[i].architecture);
    NcclParams params = { .nccl_version = rows[i].first };
    g_autoptr (GError) error = NULL;

    assert_true (nccl_version_check (&params, architecture, NULL));
    params.nccl_version = rows[i].before;
    assert_false (nccl_version_check (&params, architecture, &error));
    assert_non_null (strstr (error->message, rows[i].first));
    params.nccl_version = NULL;
    assert_true (nccl_version_check (&params, architecture, NULL));
    assert_int_equal (nccl_version_of (&params, architecture), 23007);
  }
}

/* What a user has written stays; the channels' time is that of releases before 2.12, chunks those of before 2.22. */
static void
a_release_implies_what_its_host_did_up_to_its_last_patch (G_GNUC_UNUSED void **state)
{
  NcclParams old = { 0 }, chosen = { .issue_channel_ps = 7 }, channels = { 0 }, chunks = { 0 }, later = { 0 };

  nccl_version_apply (21199, &old);
  nccl_version_apply (21199, &chosen);
  nccl_version_apply (21200, &channels);
  nccl_version_apply (22199, &chunks);
  nccl_version_apply (22200, &later);
  assert_int_equal (old.issue_channel_ps, 220000);
  assert_int_equal (chosen.issue_channel_ps, 7);
  assert_int_equal (channels.issue_channel_ps, 0);
  assert_true (old.has_whole_chunks && channels.has_whole_chunks && chunks.has_whole_chunks);
  assert_false (later.has_whole_chunks);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (caps_of_hopper_are_those_of_each_release),
    cmocka_unit_test (caps_of_blackwell_are_those_of_each_release),
    cmocka_unit_test (caps_of_older_gpus_are_the_same_in_all_releases),
    cmocka_unit_test (latencies_of_trees_are_those_of_each_release),
    cmocka_unit_test (latencies_of_rings_are_those_of_each_release),
    cmocka_unit_test (rings_of_single_gpus_cross_the_network_as_trees_do),
    cmocka_unit_test (latencies_of_switches_are_those_of_each_release),
    cmocka_unit_test (latencies_of_rccl_do_not_follow_releases),
    cmocka_unit_test (every_release_is_read_as_it_is_written),
    cmocka_unit_test (a_release_is_accepted_from_the_first_that_drives_the_gpus),
    cmocka_unit_test (a_release_implies_what_its_host_did_up_to_its_last_patch),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
