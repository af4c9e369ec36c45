/* SPDX-License-Identifier: Apache-2.0 */
/* test_paired.c - how far the difference of two scenarios may be off, when both are uncertain. */
#include "tests/support/test.h"

#include <math.h>

#include "models/models.h"
#include "sim/decision/paired.h"
#include "sim/run/pair.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* A step that is one all-reduce between two nodes, over this NIC. */
#define ALL_REDUCE_OF(nic_, size_)                                               \
  "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 2, nic: " nic_ "}\n" \
  "job: {kind: collective, operations: [{op: all_reduce, size: " size_ "}]}\n"
#define ALL_REDUCE(nic_) ALL_REDUCE_OF (nic_, "1GiB")
#define ON_H100(nic_)                                                            \
  "name: a\niterations: 1\ncluster: {node: dgx-h100, nodes: 2, nic: " nic_ "}\n" \
  "job: {kind: collective, operations: [{op: all_reduce, size: 1GiB}]}\n"

#define DDP(rest_)                                                                  \
  "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 2, nics_per_node: 1}\n" \
  "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024" rest_ "}\n"

static FabPairedBand
compare (const char *base_yaml, const char *other_yaml)
{
  const FabDecisionEnv env = { .registry = &fab_models, .n_threads = 1 };
  g_autoptr (Play) base = play_new (catalog, base_yaml, NULL), other = play_new (catalog, other_yaml, NULL);
  FabDrawTimes a, b;
  FabPairedBand band;
  GError *error = NULL;

  assert_true (fab_draw_play (&env, base->scenario, NULL, &a, &error));
  assert_true (fab_draw_play (&env, other->scenario, NULL, &b, &error));
  const FabPairedSide first = { base->scenario, &a.step_s, 1 }, second = { other->scenario, &b.step_s, 1 };
  g_autoptr (FabPaired) paired = fab_paired_new (&env, &first, &error);
  assert_non_null (paired);
  assert_true (fab_paired_compare (paired, &second, &band, &error));
  return band;
}

/* A scenario does not differ from itself, however uncertain it is. */
static void
everything_cancels_against_itself (G_GNUC_UNUSED void **state)
{
  FabPairedBand band = compare (DDP (""), DDP (""));

  assert_near (band.low_fraction, 0, 1e-9);
  assert_near (band.high_fraction, 0, 1e-9);
  assert_true (fab_paired_may_be_none (&band));
  assert_true (fab_paired_is_never_slower (&band));
}

/* The step is the collective: what both share cancels, and the ratio is off by what measured pairs are. */
static void
other_links_are_as_far_off_as_measured_pairs (G_GNUC_UNUSED void **state)
{
  FabPairedBand band = compare (ALL_REDUCE ("ib-hdr"), ALL_REDUCE ("ib-ndr"));
  FabPairEnds ends = fab_pair_of_collectives (catalog, FAB_PLAN_BETWEEN, (FabBytes) 1 << 30, FAB_PAIR_OTHER);

  assert_true (ends.low_factor < 1 && ends.high_factor > 1);
  assert_near (band.low_fraction, (1 + band.change.median) * ends.low_factor - 1, 2e-3);
  assert_near (1 + band.high_fraction, MIN ((1 + band.change.median) * ends.high_factor, 1), 2e-3);
  assert_int_equal (band.most, FAB_PAIRED_OTHER_COLLECTIVES);
}

/* Two sides that are the same but for their draws, of which one is 20 % slower and one 10 % faster: the band is that of
 * the draws, around their median. */
static void
draws_widen_the_band (G_GNUC_UNUSED void **state)
{
  const FabDecisionEnv env = { .registry = &fab_models, .n_threads = 1 };
  g_autoptr (Play) play = play_new (catalog, ALL_REDUCE ("ib-hdr"), NULL);
  FabDrawTimes times;
  FabPairedBand band;
  GError *error = NULL;

  assert_true (fab_draw_play (&env, play->scenario, NULL, &times, &error));
  const double steps_s[] = { 0.9 * times.step_s, times.step_s, 1.1 * times.step_s },
               others_s[] = { 0.9 * 1.2 * times.step_s, times.step_s, 1.1 * 0.9 * times.step_s };
  const FabPairedSide base = { play->scenario, steps_s, 3 }, other = { play->scenario, others_s, 3 };
  g_autoptr (FabPaired) paired = fab_paired_new (&env, &base, &error);
  assert_true (fab_paired_compare (paired, &other, &band, &error));
  assert_int_equal (band.change.n, 3);
  assert_true (fabs (band.change.median) < 1e-9);
  assert_near (band.low_fraction, -0.1, 1e-6);
  assert_near (band.high_fraction, 0.2, 1e-6);
  assert_near (band.worst_fraction, 0.2, 1e-6);
  assert_near (band.coverage_fraction, 0.9, 1e-12);
  assert_int_equal (band.most, FAB_PAIRED_DRAWS);
  assert_true (fab_paired_may_be_none (&band) && !fab_paired_is_never_slower (&band));
}

/* One play stands for every draw of the other side, also where the base has its median draw behind the first. */
static void
one_play_is_held_against_all_draws (G_GNUC_UNUSED void **state)
{
  const FabDecisionEnv env = { .registry = &fab_models, .n_threads = 1 };
  g_autoptr (Play) play = play_new (catalog, ALL_REDUCE ("ib-hdr"), NULL);
  FabDrawTimes times;
  FabPairedBand band;
  GError *error = NULL;

  assert_true (fab_draw_play (&env, play->scenario, NULL, &times, &error));
  const double steps_s[] = { 1.1 * times.step_s, 0.9 * times.step_s, times.step_s };
  g_autofree double *one_s = g_memdup2 (&times.step_s, sizeof times.step_s);
  const FabPairedSide base = { play->scenario, steps_s, 3 }, other = { play->scenario, one_s, 1 };
  g_autoptr (FabPaired) paired = fab_paired_new (&env, &base, &error);
  assert_true (fab_paired_compare (paired, &other, &band, &error));
  assert_near (band.low_fraction, 1 / 1.1 - 1, 1e-6);
  assert_near (band.high_fraction, 1 / 0.9 - 1, 1e-6);
}

/* A port of twice the rate with three seeds: with two of them the step is what it is, and with the last as long as
 * before (or a ten-thousandth longer than with the others). What the collectives and the draws may rise by is added in
 * squares, but in no play the step is longer than before, and so the band ends there. What changes most is named: the
 * collectives, also where the draws do next to nothing. */
static void
what_is_never_slower_ends_at_no_change (G_GNUC_UNUSED void **state)
{
  const FabDecisionEnv env = { .registry = &fab_models, .n_threads = 1 };
  g_autoptr (Play) slow = play_new (catalog, ALL_REDUCE ("ib-hdr"), NULL),
                   quick = play_new (catalog, ALL_REDUCE ("ib-ndr"), NULL);
  FabDrawTimes before, after;
  FabPairedBand drawn, steady;

  assert_true (fab_draw_play (&env, slow->scenario, NULL, &before, NULL));
  assert_true (fab_draw_play (&env, quick->scenario, NULL, &after, NULL));
  const double befores_s[] = { before.step_s, before.step_s, before.step_s },
               drawn_s[] = { after.step_s, after.step_s, before.step_s },
               steady_s[] = { after.step_s, after.step_s, 1.0001 * after.step_s };
  const FabPairedSide base = { slow->scenario, befores_s, 3 }, first = { quick->scenario, drawn_s, 3 },
                      second = { quick->scenario, steady_s, 3 };
  g_autoptr (FabPaired) paired = fab_paired_new (&env, &base, NULL);
  assert_true (fab_paired_compare (paired, &first, &drawn, NULL));
  assert_true (fab_paired_compare (paired, &second, &steady, NULL));
  assert_true (fab_paired_is_never_slower (&drawn));
  assert_true (fabs (drawn.high_fraction) < 1e-9 && fabs (drawn.worst_fraction) < 1e-9);
  assert_near (drawn.change.median, after.step_s / before.step_s - 1, 1e-9);
  assert_int_equal (drawn.most, FAB_PAIRED_OTHER_COLLECTIVES);
  assert_int_equal (steady.most, FAB_PAIRED_OTHER_COLLECTIVES);
}

#define SEND(link_)                                                                                             \
  "name: a\niterations: 1\ncollectives: plain\nlinks:\n"                                                        \
  "  - {name: sure, technology: InfiniBand, lanes: 1, signalling: 10Gb/s, latency: 1us}\n"                      \
  "  - {name: unsure, technology: InfiniBand, lanes: 1, signalling: 10Gb/s, latency: 1us, uncertainty: {rate: " \
  "20%}}\n"                                                                                                     \
  "  - {name: nearly, technology: InfiniBand, lanes: 1, signalling: 10Gb/s, latency: 1us, uncertainty: {rate: " \
  "0.0001%}}\n"                                                                                                 \
  "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: " link_                         \
  ", fabric: switch}\n"                                                                                         \
  "job: {kind: collective, operations: [{op: send_recv, size: 1GB}]}\n"

/* A link that is known to 20 % and that the other side does not have: at its ends the base takes 1 / 1.2 and 1 / 0.8
 * of the time, so that the ratio of both is 1.2 and 0.8 of what it is. This is added, in squares of logarithms, to what
 * else may be off, which a link that is known to a millionth shows. Where both have the link, it cancels. */
static void
links_of_one_side_do_not_cancel (G_GNUC_UNUSED void **state)
{
  FabPairedBand one = compare (SEND ("unsure"), SEND ("sure")),
                other = compare (SEND ("nearly"), SEND ("sure")),
                both = compare (SEND ("unsure"), SEND ("unsure"));
  double up = log1p (other.high_fraction), down = log1p (other.low_fraction);

  assert_near (log1p (one.high_fraction), sqrt (up * up + log (1.2) * log (1.2)), 1e-3);
  assert_near (log1p (one.low_fraction), -sqrt (down * down + log (0.8) * log (0.8)), 1e-3);
  assert_true (fabs (both.low_fraction) < 1e-9 && fabs (both.high_fraction) < 1e-9);
}

/* A network that sends messages is played as one of flows for this: what both sides share cancels too. */
static void
messages_cancel_as_flows_do (G_GNUC_UNUSED void **state)
{
  FabPairedBand same = compare ("fidelity: packet\n" ALL_REDUCE_OF ("ib-hdr", "1MiB"),
                                "fidelity: packet\n" ALL_REDUCE_OF ("ib-hdr", "1MiB"));

  assert_true (fabs (same.low_fraction) < 1e-9 && fabs (same.high_fraction) < 1e-9);
}

/* Faster ports of one technology have no end at which the collective takes longer than over the base's; slower ones and
 * those of another technology are as far off upwards as measured pairs are. */
static void
only_faster_ports_have_an_end (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *base, *other;
    gboolean is_faster;
    FabPairRelation relation;
  } cases[] = { { ALL_REDUCE ("ib-hdr"), ALL_REDUCE ("ib-xdr"), TRUE, FAB_PAIR_UNMEASURED }, /* 800 Gbit/s */
                { ALL_REDUCE ("ib-hdr"), ALL_REDUCE ("ib-ndr"), TRUE, FAB_PAIR_OTHER },
                { ALL_REDUCE ("ib-ndr"), ALL_REDUCE ("ib-hdr"), FALSE, FAB_PAIR_OTHER },
                { ON_H100 ("ib-hdr"), ON_H100 ("ib-ndr"), TRUE, FAB_PAIR_OTHER },
                { ON_H100 ("ib-ndr"), ON_H100 ("ib-hdr"), FALSE, FAB_PAIR_OTHER },
                { ALL_REDUCE ("roce-200"), ALL_REDUCE ("ib-hdr"), FALSE, FAB_PAIR_UNMEASURED } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabPairedBand band = compare (cases[i].base, cases[i].other);
    double ratio = 1 + band.change.median;
    FabPairEnds ends = fab_pair_of_collectives (catalog, FAB_PLAN_BETWEEN, (FabBytes) 1 << 30,
                                                cases[i].relation);

    assert_near (1 + band.low_fraction, ratio * ends.low_factor, 5e-3);
    assert_near (1 + band.high_fraction,
                 cases[i].is_faster ? MIN (ratio * ends.high_factor, 1) : ratio * ends.high_factor, 5e-3);
  }
}

/* Errors are alike below 256 KiB, below 64 MiB, and above: two sizes of one class, over the same links and by the same
 * algorithm, err in the same way, and those of two classes do not quite. */
static void
sizes_of_one_class_err_alike (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *base, *other;
    gboolean is_same;
  } cases[] = { { ALL_REDUCE_OF ("ib-hdr", "262143B"), ALL_REDUCE_OF ("ib-hdr", "262142B"), TRUE },
                { ALL_REDUCE_OF ("ib-hdr", "262143B"), ALL_REDUCE_OF ("ib-hdr", "262144B"), FALSE },
                { ALL_REDUCE_OF ("ib-hdr", "262144B"), ALL_REDUCE_OF ("ib-hdr", "262145B"), TRUE },
                { ALL_REDUCE_OF ("ib-hdr", "67108862B"), ALL_REDUCE_OF ("ib-hdr", "67108863B"), TRUE },
                { ALL_REDUCE_OF ("ib-hdr", "67108863B"), ALL_REDUCE_OF ("ib-hdr", "67108864B"), FALSE },
                { ALL_REDUCE_OF ("ib-hdr", "67108864B"), ALL_REDUCE_OF ("ib-hdr", "67108865B"), TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabPairedBand band = compare (cases[i].base, cases[i].other);

    assert_true (fabs (band.change.median) < 1e-3);
    assert_true ((band.high_fraction - band.low_fraction < 1e-3) == cases[i].is_same);
    if (cases[i].is_same)
      continue;
    /* At least as far off as measured pairs that are alike; bands of the two classes differ beside that. */
    FabPairEnds ends = fab_pair_of_collectives (catalog, FAB_PLAN_BETWEEN, i == 1 ? 262144 : 67108864,
                                                FAB_PAIR_ALIKE);
    assert_int_equal (band.most, FAB_PAIRED_OTHER_COLLECTIVES);
    assert_true (1 + band.high_fraction >= ends.high_factor && 1 + band.low_fraction <= ends.low_factor);
  }
}

/* More buckets of the same job: kernels are the same, and so are the links. */
static void
the_same_kernels_cancel (G_GNUC_UNUSED void **state)
{
  FabPairedBand band = compare (DDP (", bucket: 25MiB"), DDP (", bucket: 100MiB"));

  assert_true (band.high_fraction - band.low_fraction > 0);
  assert_true (band.most != FAB_PAIRED_OTHER_COMPUTE);
}

/* Another batch computes longer by a factor that is not quite sure. */
static void
other_kernels_do_not_quite (G_GNUC_UNUSED void **state)
{
  static const char
      alone[] = "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n"
                "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024}\n",
      twice[] = "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n"
                "job: {kind: ddp, model: gpt2-xl, micro_batch: 8, sequence: 1024}\n";
  FabPairedBand band = compare (alone, twice);
  FabPairEnds ends = fab_pair_of_compute (catalog, FAB_PAIR_ALIKE);

  assert_int_equal (band.most, FAB_PAIRED_OTHER_COMPUTE);
  assert_near (band.low_fraction, (1 + band.change.median) * ends.low_factor - 1, 2e-2);
  assert_near (band.high_fraction, (1 + band.change.median) * ends.high_factor - 1, 2e-2);
}

/* Another accelerator computes otherwise: its ends are those of pairs with nothing in common. */
static void
other_accelerators_are_further_off (G_GNUC_UNUSED void **state)
{
  static const char a100[] = "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n"
                             "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024}\n",
                    h100[] = "name: a\niterations: 1\ncluster: {node: dgx-h100, nodes: 1, gpus_per_node: 1}\n"
                             "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024}\n";
  FabPairedBand band = compare (h100, a100);
  FabPairEnds ends = fab_pair_of_compute (catalog, FAB_PAIR_OTHER),
              alike = fab_pair_of_compute (catalog, FAB_PAIR_ALIKE);

  assert_true (ends.high_factor > 1.05 * alike.high_factor);
  assert_int_equal (band.most, FAB_PAIRED_OTHER_COMPUTE);
  assert_near (1 + band.low_fraction, (1 + band.change.median) * ends.low_factor, 1e-2);
  assert_near (1 + band.high_fraction, (1 + band.change.median) * ends.high_factor, 1e-2);
}

#define MFU(cluster_)                                           \
  "name: a\niterations: 1\ncluster: {node: dgx-a100, " cluster_ \
  "}\njob: {kind: ddp, model: gpt2-xl, micro_batch: 1, sequence: 256, compute: {kind: mfu, mfu: 0.4}}\n"

/* Where one side has no collectives nothing of them cancels. Those of the base alone may be off by their own band, and
 * those of the other side alone by what differs as well. */
static void
collectives_of_one_side_do_not_cancel (G_GNUC_UNUSED void **state)
{
  FabPairedBand there = compare (MFU ("nodes: 1, gpus_per_node: 1"),
                                 MFU ("nodes: 2, gpus_per_node: 1, nics_per_node: 1")),
                back = compare (MFU ("nodes: 2, gpus_per_node: 1, nics_per_node: 1"),
                                MFU ("nodes: 1, gpus_per_node: 1"));
  double up = log1p (there.high_fraction) - log1p (there.change.median),
         down = log1p (back.change.median) - log1p (back.low_fraction);

  assert_true (there.change.median > 0.1 && down > 0.01);
  assert_true (up > 1.2 * down && up < 1.5 * down);
  assert_int_equal (there.most, FAB_PAIRED_COLLECTIVES);
  assert_int_equal (back.most, FAB_PAIRED_COLLECTIVES);
  assert_near (there.coverage_fraction, 0.9, 1e-12);
  assert_near (back.coverage_fraction, 0.9, 1e-12);
}

/* No change is within a band that comes nearer to it than what counts as none, from either side. */
static void
a_band_may_hold_no_change (G_GNUC_UNUSED void **state)
{
  const double least = FAB_DIFFERENCE_LEAST;
  const struct {
    double low, high;
    gboolean may_be_none;
  } rows[] = { { -0.1, 0.1, TRUE },           { 0.99 * least, 0.1, TRUE },  { least, 0.1, FALSE },
               { -0.1, -0.99 * least, TRUE }, { -0.1, -least, FALSE },      { 0.1, 0.2, FALSE },
               { -0.2, -0.1, FALSE },         { -0.5 * least, least, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabPairedBand band = { .low_fraction = rows[i].low, .high_fraction = rows[i].high };

    assert_int_equal (fab_paired_may_be_none (&band), rows[i].may_be_none);
  }
  for (guint cause = 0; cause < FAB_N_PAIRED; cause++)
    for (guint other = 0; other < cause; other++)
      assert_string_not_equal (fab_paired_most (&(FabPairedBand){ .most = (FabPairedCause) cause }),
                               fab_paired_most (&(FabPairedBand){ .most = (FabPairedCause) other }));
  assert_string_equal (fab_paired_most (&(FabPairedBand){ .most = FAB_PAIRED_DRAWS }), "the seeds");
  fab_paired_free (NULL);
}

/* A port of four times the rate does not make a job three times slower: the report of a user had -227 to 70.8 %. */
static void
a_faster_port_is_not_slower_for_what_both_share (G_GNUC_UNUSED void **state)
{
  FabPairedBand band = compare (
      DDP (""), "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 2, nics_per_node: 1, nic: ib-xdr}\n"
                "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024}\n");

  assert_true (band.change.median <= 0);
  assert_true (band.high_fraction < 0.05);
  assert_true (!fab_paired_is_never_slower (&band) || band.high_fraction <= FAB_DIFFERENCE_LEAST);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (everything_cancels_against_itself),
    cmocka_unit_test (other_links_are_as_far_off_as_measured_pairs),
    cmocka_unit_test (draws_widen_the_band),
    cmocka_unit_test (one_play_is_held_against_all_draws),
    cmocka_unit_test (what_is_never_slower_ends_at_no_change),
    cmocka_unit_test (links_of_one_side_do_not_cancel),
    cmocka_unit_test (messages_cancel_as_flows_do),
    cmocka_unit_test (only_faster_ports_have_an_end),
    cmocka_unit_test (sizes_of_one_class_err_alike),
    cmocka_unit_test (the_same_kernels_cancel),
    cmocka_unit_test (other_kernels_do_not_quite),
    cmocka_unit_test (other_accelerators_are_further_off),
    cmocka_unit_test (collectives_of_one_side_do_not_cancel),
    cmocka_unit_test (a_band_may_hold_no_change),
    cmocka_unit_test (a_faster_port_is_not_slower_for_what_both_share),
  };

  return play_run_tests ("paired", tests, &catalog);
}
