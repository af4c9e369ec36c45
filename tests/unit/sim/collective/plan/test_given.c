/* SPDX-License-Identifier: Apache-2.0 */
/* test_given.c - algorithms that files give: what they play like, and what is refused. */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "sim/collective/plan/given.h"
#include "tests/support/rig.h"

/* --- files --- */

#define STEP(s, type, src, src_at, dst, dst_at, block, step)                                     \
  "<step s=\"" #s "\" type=\"" type "\" srcbuf=\"" src "\" srcoff=\"" #src_at "\" dstbuf=\"" dst \
  "\" dstoff=\"" #dst_at "\" cnt=\"1\" depid=\"" #block "\" deps=\"" #step "\"/>\n"

#define HEAD(n, op) "<algo name=\"x\" ngpus=\"" n "\" nchunksperloop=\"2\" coll=\"" op "\" inplace=\"1\">\n"
#define GPU(id) "<gpu id=\"" #id "\" i_chunks=\"2\" o_chunks=\"0\" s_chunks=\"1\">\n"
#define TB(id, send, recv) "<tb id=\"" #id "\" send=\"" #send "\" recv=\"" #recv "\" chan=\"0\">\n"
#define END "</tb>\n</gpu>\n"
#define TWO_STEPS(type) STEP (0, type, "i", 0, "i", 0, -1, -1) STEP (1, type, "i", 1, "i", 1, -1, -1)

#define FREE_STEP                                                                               \
  "<step s=\"%u\" type=\"%s\" srcbuf=\"i\" srcoff=\"%u\" dstbuf=\"i\" dstoff=\"%u\" cnt=\"1\" " \
  "depid=\"-1\" deps=\"-1\"/>\n"

/* Ring over n ranks as MSCCL's compiler writes it: chunk r of rank r starts, n - 1 steps add, n - 1 steps copy. */
static char *
ring_text (guint n)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (
      text,
      "<algo name=\"r\" proto=\"LL\" ngpus=\"%u\" nchunksperloop=\"%u\" coll=\"allreduce\" inplace=\"1\">\n",
      n, n);
  for (guint r = 0; r < n; r++) {
    guint s = 0;

    g_string_append_printf (text, "<gpu id=\"%u\" i_chunks=\"%u\" o_chunks=\"0\" s_chunks=\"0\">\n", r, n);
    g_string_append_printf (text, "<tb id=\"0\" send=\"%u\" recv=\"%u\" chan=\"0\">\n", (r + 1) % n,
                            (r + n - 1) % n);
    for (guint k = 0; k < 2 * (n - 1); k++) {
      guint sent = (r + 2 * n - k) % n, got = (r + 2 * n - k - 1) % n;

      g_string_append_printf (text, FREE_STEP FREE_STEP, s, "s", sent, sent, s + 1, k < n - 1 ? "rrc" : "r",
                              got, got);
      s += 2;
    }
    g_string_append (text, "</tb>\n</gpu>\n");
  }
  g_string_append (text, "</algo>\n");
  return g_string_free (text, FALSE);
}

static FabGiven *
read_of (const char *text, const char *op, FabBytes bytes, char **message)
{
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  gint fd = g_file_open_tmp ("given-XXXXXX", &path, NULL);
  FabScheduleFile file = { .op = op, .size_bytes = bytes };
  FabGiven *given;

  assert_true (fd >= 0);
  g_close (fd, NULL);
  assert_true (g_file_set_contents (path, text, -1, NULL));
  file.path = path;
  given = fab_models.schedule_file->read (&file, &error);
  g_remove (path);
  if (message != NULL)
    *message = error != NULL
                 ? g_strdup (strstr (error->message, path) != NULL ? error->message + strlen (path) + 1
                                                                   : error->message)
                 : NULL;
  return given;
}

static FabGiven *
read_text (const char *text, const char *op, char **message)
{
  return read_of (text, op, 0, message);
}

/* The same ring as GOAL: a rank sends what it received before. Each message has 100 bytes, of 100 n. */
static char *
goal_ring_text (guint n)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "num_ranks %u\n", n);
  for (guint r = 0; r < n; r++) {
    g_string_append_printf (text, "rank %u {\n", r);
    for (guint k = 0; k < 2 * (n - 1); k++) {
      g_string_append_printf (text, "s%u: send 100b to %u tag 7\nr%u: recv 100b from %u tag 7\n", k,
                              (r + 1) % n, k, (r + n - 1) % n);
      if (k > 0)
        g_string_append_printf (text, "c%u: calc 5\nc%u requires r%u\ns%u requires c%u\ns%u requires s%u\n",
                                k, k, k - 1, k, k, k, k - 1);
    }
    g_string_append (text, "}\n");
  }
  return g_string_free (text, FALSE);
}

static void
assert_refused (const char *text, const char *message)
{
  g_autofree char *found = NULL;
  g_autoptr (FabGiven) given = read_text (text, NULL, &found);

  assert_null (given);
  assert_string_equal (found, message);
}

/* --- playing --- */

/* 1 byte per ps; a hop is two links of 50 ps. */
static Rig *
star (guint n_gpus, guint n_nodes)
{
  return rig_new (&(RigSpec){ .n_nodes = n_nodes,
                              .gpus_per_node = n_gpus,
                              .nics_per_node = n_nodes > 1 ? n_gpus : 0,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .gpu_latency_ps = 50,
                              .nic_bytes_per_s = FAB_PS_PER_S / 4,
                              .nic_latency_ps = 500 });
}

static void
note_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  fab_engine_stop (owner);
}

static FabTimePs
play (const Rig *rig, const FabNetOps *ops, FabSchedule *schedule, FabBytes bytes)
{
  RigNet net = rig_net (rig, ops);
  FabPlaySpec spec = { .bytes = bytes, .wire_factor = 1, .share = 1, .done = { note_end, net.engine, 0 } };
  FabTimePs end_ps;
  g_autoptr (FabPlay) played = fab_play_new (schedule, net.net, &spec);

  fab_engine_run (net.engine);
  end_ps = fab_engine_now (net.engine);
  rig_net_clear (&net);
  return end_ps;
}

static FabTimePs
play_given (const Rig *rig, const FabNetOps *ops, const FabGiven *given, FabBytes bytes)
{
  FabGroup group = rig_group (rig);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);

  assert_true (given->ops.schedule (&group, given->op, &(FabAlgorithmEnv){ .net_stretch = 1, .owner = given },
                                    1, schedule, NULL));
  return play (rig, ops, schedule, bytes);
}

/* 2 (n - 1) steps of 8000 / n bytes and 100 ps. As built in, to the picosecond, message by message and as a stream. */
static void
a_ring_is_the_ring_that_is_built_in (G_GNUC_UNUSED void **state)
{
  const FabNetOps *nets[] = { &fab_net_fluid, &fab_net_step, &fab_net_packet };

  for (guint n = 2; n <= 8; n *= 2) {
    g_autoptr (Rig) rig = star (n, 1);
    g_autofree char *text = ring_text (n);
    g_autoptr (FabGiven) given = read_text (text, NULL, NULL);
    FabGroup group = rig_group (rig);

    assert_non_null (given);
    assert_int_equal (given->messages->len, n * 2 * (n - 1));
    assert_string_equal (given->protocol, "ll");
    for (guint i = 0; i < G_N_ELEMENTS (nets); i++) {
      g_autoptr (FabSchedule) ring = fab_schedule_new (&rig->cluster);

      assert_true (fab_algorithm_ring.schedule (&group, FAB_OP_ALL_REDUCE,
                                                &(FabAlgorithmEnv){ .net_stretch = 1 }, 1, ring, NULL));
      assert_int_equal (play_given (rig, nets[i], given, 8000), play (rig, nets[i], ring, 8000));
    }
    assert_int_equal (play_given (rig, &fab_net_fluid, given, 8000), 2 * (n - 1) * (8000 / n + 100));
  }
}

static void
a_ring_of_goal_is_the_ring_of_msccl (G_GNUC_UNUSED void **state)
{
  const FabNetOps *nets[] = { &fab_net_fluid, &fab_net_step, &fab_net_packet };

  for (guint n = 2; n <= 8; n *= 2) {
    g_autoptr (Rig) rig = star (n, 1);
    g_autofree char *text = ring_text (n), *goal_text = goal_ring_text (n), *message = NULL;
    g_autoptr (FabGiven) given = read_text (text, NULL, NULL),
                         goal = read_of (goal_text, "all_reduce", 100 * n, &message);

    assert_null (message);
    assert_int_equal (goal->messages->len, given->messages->len);
    assert_int_equal (goal->n_channels, given->n_channels);
    for (guint i = 0; i < G_N_ELEMENTS (nets); i++)
      assert_int_equal (play_given (rig, nets[i], goal, 8000), play_given (rig, nets[i], given, 8000));
  }
}

/* As a stream: the footprint, the steps and the rate are those of the ring, and nothing waits. */
static void
the_form_of_a_ring_is_that_of_the_ring (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (4, 1);
  g_autofree char *text = ring_text (4);
  FabGiven *given = read_text (text, NULL, NULL);
  FabCollectivePlan by_file, own = rig_plan (rig, FAB_OP_ALL_REDUCE, 8000);
  FabGroup group = rig_group (rig);

  g_hash_table_remove_all (rig->plain->plans);
  fab_library_give (rig->plain, given);
  assert_true (fab_library_plan (rig->plain, &group, FAB_OP_ALL_REDUCE, 8000, &by_file, NULL));
  assert_ptr_equal (by_file.algorithm, given->name);
  assert_int_equal (by_file.startup_ps, own.startup_ps);
  assert_int_equal (fab_collective_plan_idle_ps (&by_file), fab_collective_plan_idle_ps (&own));
  assert_true (by_file.most_bytes_per_s <= 0);
  /* other operations are the library's own */
  assert_true (fab_library_plan (rig->plain, &group, FAB_OP_ALL_GATHER, 8000, &by_file, NULL));
  assert_string_equal (by_file.algorithm, "ring");
}

/* What a library asks of a form to estimate its time: steps, the kinds and the technology of their slowest hops, and
 * what wires and adapters add. In one node, and in two. */
static void
steps_of_a_file_are_of_the_kinds_of_the_ring (G_GNUC_UNUSED void **state)
{
  for (guint n_nodes = 1; n_nodes <= 2; n_nodes++) {
    g_autoptr (Rig) rig = star (4 / n_nodes, n_nodes);
    g_autofree char *text = ring_text (4);
    g_autoptr (FabGiven) given = read_text (text, NULL, NULL);
    FabGroup group = rig_group (rig);
    FabCollectiveForm by_file = { 0 }, own = { 0 };

    assert_true (given->ops.form (&group, given->op, &(FabAlgorithmEnv){ .net_stretch = 1, .owner = given },
                                  &by_file, NULL));
    assert_true (fab_algorithm_ring.form (&group, FAB_OP_ALL_REDUCE, &(FabAlgorithmEnv){ .net_stretch = 1 },
                                          &own, NULL));
    assert_ptr_equal (by_file.intra_technology, own.intra_technology);
    assert_non_null (own.intra_technology);
    assert_int_equal (by_file.intra_kind, own.intra_kind);
    assert_int_equal (by_file.inter_kind, own.inter_kind);
    assert_int_equal (by_file.intra_latency_ps, own.intra_latency_ps);
    assert_int_equal (by_file.inter_latency_ps, own.inter_latency_ps);
    assert_int_equal (by_file.inter_endpoint_ps, own.inter_endpoint_ps);
    assert_int_equal (by_file.n_intra_steps + by_file.n_inter_steps, 6);
    fab_footprint_free (by_file.footprint);
    fab_footprint_free (own.footprint);
  }
}

/* One message from 0 to 1 between two nodes of one GPU, over n adapters of each: 1 / n of the bytes on each adapter's
 * wires, all of them on the links of the GPUs. The footprint is what the stream puts on links, so that the rate is that
 * of the slowest: n ports of a quarter of a byte per ps, until they are as fast as a GPU's link of one byte per ps. */
static void
a_message_is_spread_over_the_adapters (G_GNUC_UNUSED void **state)
{
  for (guint n = 1; n <= 8; n *= 2) {
    g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 2,
                                               .gpus_per_node = 1,
                                               .nics_per_node = n,
                                               .gpu_bytes_per_s = FAB_PS_PER_S,
                                               .nic_bytes_per_s = FAB_PS_PER_S / 4 });
    g_autoptr (FabGiven) given = fab_given_new ("one", "here");
    g_autoptr (GArray) waits = g_array_new (FALSE, FALSE, sizeof (FabGivenWait));
    FabGroup group = rig_group (rig);
    FabCollectiveForm form = { 0 };

    fab_given_add (given, 0, 1, 1, waits);
    fab_given_finish (given);
    assert_true (given->ops.form (&group, FAB_OP_BROADCAST,
                                  &(FabAlgorithmEnv){ .net_stretch = 1, .owner = given }, &form, NULL));
    for (guint i = 0; i < form.footprint->n; i++) {
      const FabLink *link = fab_graph_link (rig->graph, form.footprint->links[i]);
      gboolean is_of_gpu = link->src == rig_gpu (rig, 0) || link->dst == rig_gpu (rig, 1);

      assert_true (fabs (form.footprint->weights[i] - (is_of_gpu ? 1 : 1.0 / n)) < 1e-12);
    }
    assert_true (fabs (form.footprint->rate_bytes_per_s / (double) FAB_PS_PER_S - MIN (n / 4.0, 1)) < 1e-9);
    assert_int_equal (form.n_inter_steps, 1);
    assert_int_equal (form.n_intra_steps, 0);
    fab_footprint_free (form.footprint);
  }
}

/* A message that waits until another has left its sender waits for what that one waited for, not for its arrival. */
static void
a_departure_is_no_step (G_GNUC_UNUSED void **state)
{
  for (gboolean is_departure = FALSE; is_departure <= TRUE; is_departure++) {
    g_autoptr (Rig) rig = star (4, 1);
    g_autoptr (FabGiven) given = fab_given_new ("two", "here");
    g_autoptr (GArray) none = g_array_new (FALSE, FALSE, sizeof (FabGivenWait)),
                       first = g_array_new (FALSE, FALSE, sizeof (FabGivenWait)),
                       second = g_array_new (FALSE, FALSE, sizeof (FabGivenWait)),
                       third = g_array_new (FALSE, FALSE, sizeof (FabGivenWait));
    FabGroup group = rig_group (rig);
    FabCollectiveForm form = { 0 };

    g_array_append_val (first, ((FabGivenWait){ fab_given_add (given, 0, 1, 1, none), FALSE }));
    g_array_append_val (second, ((FabGivenWait){ fab_given_add (given, 1, 2, 1, first), is_departure }));
    g_array_append_val (third, ((FabGivenWait){ fab_given_add (given, 1, 3, 1, second), FALSE }));
    fab_given_add (given, 3, 0, 1, third);
    fab_given_finish (given);
    assert_true (given->ops.form (&group, FAB_OP_BROADCAST,
                                  &(FabAlgorithmEnv){ .net_stretch = 1, .owner = given }, &form, NULL));
    assert_int_equal (form.n_intra_steps, is_departure ? 3 : 4);
    assert_int_equal (form.n_inter_steps, 0);
    assert_int_equal (form.intra_latency_ps, 100);
    fab_footprint_free (form.footprint);
  }
}

/* Two parts of 4000 bytes from 0 to 1 by one thread block: the second leaves when the first has left, 2 x 4000 + 100,
 * and a second hop that waits for each part, 1 to 2, ends one part and one latency later: 3 x 4000 + 2 x 100. */
static void
a_block_sends_one_after_another (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3, 1);
  g_autoptr (FabGiven) given = read_text (HEAD ("3", "broadcast") GPU (0) TB (0, 1, -1) TWO_STEPS ("s")
                                              END                                            /* */
                                                  GPU (1) TB (3, 2, 0) TWO_STEPS ("rcs") END /* */
                                                      GPU (2) TB (0, -1, 1) TWO_STEPS ("r") END "</algo>",
                                          "broadcast", NULL);

  assert_non_null (given);
  assert_int_equal (play_given (rig, &fab_net_fluid, given, 8000), 12200);
  assert_int_equal (play_given (rig, &fab_net_step, given, 8000), 12200);
}

/* Between nodes a message takes the NICs of its two GPUs. */
static void
messages_cross_nodes (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (2, 2);
  g_autofree char *text = ring_text (4);
  g_autoptr (FabGiven) given = read_text (text, NULL, NULL);

  assert_true (play_given (rig, &fab_net_fluid, given, 8000) > 6 * 2000 * 4);
}

/* --- what TACCL and TE-CCL write --- */

/* An all-gather between two GPUs in the shape of TACCL's ncclize, which TE-CCL uses too: every chunk of the input is
 * copied to its place in the output, and sent from there by a thread block of its own. `copies`: of GPU 1. */
static char *
ncclized_text (gboolean is_in_place, const char *copies)
{
  return g_strdup_printf (
      "<algo name=\"taccl\" nchannels=\"1\" nchunksperloop=\"2\" proto=\"Simple\" coll=\"allgather\" inplace=\"%d\" "
      "redop=\"nop\" ngpus=\"2\">\n"
      "<gpu id=\"0\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\">\n<copy i_off=\"0\" o_off=\"0\"/>\n" TB (
          0, -1, 1) STEP (0, "r", "o", 1, "o", 1, -1, -1) "</tb>\n" TB (1, 1, -1)
          STEP (0, "s", "o", 0, "o", 0, -1, -1) END
      "<gpu id=\"1\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\">\n%s" TB (0, -1, 0)
          STEP (0, "r", "o", 0, "o", 0, -1, -1) "</tb>\n" TB (1, 0, -1) STEP (0, "s", "o", 1, "o", 1, -1, -1)
              END "</algo>\n",
      is_in_place, copies);
}

static void
assert_ncclized_refused (gboolean is_in_place, const char *copies, const char *part)
{
  g_autofree char *text = ncclized_text (is_in_place, copies), *message = NULL;
  g_autoptr (FabGiven) given = read_text (text, NULL, &message);

  assert_null (given);
  if (strstr (message, part) == NULL)
    fail_msg ("'%s' is not in: %s", part, message);
}

/* Where input and output are two buffers, the copies are what makes the result right; where they are one, each chunk is
 * in its place already. */
static void
chunks_are_copied_before_the_first_step (G_GNUC_UNUSED void **state)
{
  for (gboolean is_in_place = FALSE; is_in_place <= TRUE; is_in_place++) {
    g_autofree char *text = ncclized_text (is_in_place, "<copy i_off=\"0\" o_off=\"1\"/>\n");
    g_autoptr (FabGiven) given = read_text (text, "all_gather", NULL);

    assert_non_null (given);
    assert_int_equal (given->n_ranks, 2);
  }
  assert_ncclized_refused (FALSE, "", "this is no all_gather: at the end chunk 1");
  assert_ncclized_refused (FALSE, "<copy i_off=\"0\" o_off=\"0\"/>\n",
                           "this is no all_gather: at the end chunk 1");
  assert_ncclized_refused (
      FALSE, "<copy i_off=\"0\" o_off=\"2\"/>\n",
      "chunk 0 of the input and 2 of the output: the buffers of gpu 1 have 1 and 2 chunks");
  assert_ncclized_refused (TRUE, "<copy i_off=\"0\"/>\n", "<copy> has no o_off");
  assert_ncclized_refused (TRUE, "<copy i_off=\"0\" o_off=\"1\"><step/></copy>\n",
                           "nothing stands inside <copy>");
  assert_ncclized_refused (TRUE, TB (5, -1, -1) "<copy i_off=\"0\" o_off=\"1\"/></tb>\n",
                           "<copy> where <step> is expected");
}

/* --- what is refused --- */

#define GOOD_0                          \
  GPU (0)                               \
  TB (0, 1, 1)                          \
  STEP (0, "s", "i", 0, "i", 0, -1, -1) \
  STEP (1, "rrcs", "i", 1, "i", 1, -1, -1) STEP (2, "r", "i", 0, "i", 0, -1, -1) END
#define GOOD_1                          \
  GPU (1)                               \
  TB (0, 0, 0)                          \
  STEP (0, "s", "i", 1, "i", 1, -1, -1) \
  STEP (1, "rrcs", "i", 0, "i", 0, -1, -1) STEP (2, "r", "i", 1, "i", 1, -1, -1) END
#define OTHER_1(first, second, third) GPU (1) TB (0, 0, 0) first second third END

static void
wrong_files_are_refused_at_their_place (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGiven) good = read_text (HEAD ("2", "allreduce") GOOD_0 GOOD_1 "</algo>", "all_reduce", NULL);

  assert_non_null (good);
  assert_refused (HEAD ("2", "allreduce") GOOD_0 OTHER_1 (STEP (0, "s", "i", 1, "i", 1, -1, -1),
                                                          STEP (1, "rrc", "i", 0, "i", 0, -1, -1),
                                                          STEP (2, "r", "i", 1, "i", 1, -1, -1)) "</algo>",
                  "6:1: a deadlock: gpu 0 waits here for a message of gpu 1 on channel 0 that never comes");
  assert_refused (
      HEAD ("2", "allreduce")
          GOOD_0 OTHER_1 (STEP (0, "s", "i", 1, "i", 1, -1, -1), STEP (1, "rcs", "i", 0, "i", 0, -1, -1),
                          STEP (2, "r", "i", 1, "i", 1, -1, -1)) "</algo>",
      "1:1: this is no all_reduce: at the end chunk 0 of the result of gpu 0 holds chunk 0 of the data, of 1 "
      "of 2 ranks");
  assert_refused (HEAD ("2", "allreduce") GOOD_0 OTHER_1 (STEP (0, "s", "i", 1, "i", 1, 0, 2),
                                                          STEP (1, "rrcs", "i", 0, "i", 0, -1, -1),
                                                          STEP (2, "r", "i", 1, "i", 1, -1, -1)) "</algo>",
                  "5:1: a deadlock: gpu 0 waits here for a message of gpu 1 on channel 0 that never comes");
  assert_refused (HEAD ("2", "allreduce") GOOD_0 OTHER_1 (STEP (0, "s", "i", 0, "i", 1, -1, -1),
                                                          STEP (1, "rrcs", "i", 0, "i", 0, -1, -1),
                                                          STEP (2, "r", "i", 1, "i", 1, -1, -1)) "</algo>",
                  "5:1: the step adds chunks that do not belong together: chunk 0 and chunk 1 of the data");
  assert_refused (HEAD ("2", "allreduce") GOOD_0 OTHER_1 (STEP (0, "s", "i", 1, "i", 1, -1, -1),
                                                          STEP (1, "rrcs", "i", 2, "i", 0, -1, -1),
                                                          STEP (2, "r", "i", 1, "i", 1, -1, -1)) "</algo>",
                  "12:1: chunks 2 to 2 of the input buffer of gpu 1, which has 2");
  assert_refused (HEAD ("2", "allreduce") GOOD_0 "</algo>",
                  "1:1: there is no <gpu id=\"1\">, though ngpus is 2");
  assert_refused (HEAD ("2", "allreduce") GOOD_0 GOOD_0 "</algo>", "9:1: gpu 0 is described twice");
  assert_refused (
      HEAD ("2", "custom") GOOD_0 GOOD_1 "</algo>",
      "1:1: coll=\"custom\" is not known; it is one of allreduce, allgather, reduce_scatter, reducescatter, "
      "alltoall, broadcast, reduce");
  assert_refused ("<algo name=\"x\" ngpus=\"2000000000\" nchunksperloop=\"2\" coll=\"allreduce\"/>",
                  "1:1: ngpus=\"2000000000\" is not a whole number from 2 to 65536");
  assert_refused (
      HEAD ("2", "allreduce") GOOD_0 GOOD_1,
      "16:2: this is no XML of MSCCL (<algo>, <gpu>, <tb>, <step>): a bracket or an end tag is wrong or missing");
  assert_refused (
      "hello",
      "is no schedule: it is neither XML of MSCCL (<algo ...>), nor JSON of TE-CCL (\"1-Epoch_Duration\"), "
      "nor one of Chakra's files (NAME.0.et), nor GOAL (num_ranks ...)");
}

#define GOAL_0 "num_ranks 2\nrank 0 {\ns: send 8b to 1 tag 1\nr: recv 8b from 1 tag 1\n"
#define GOAL_1 "}\nrank 1 {\ns: send 8b to 0 tag 1\nr: recv 8b from 0 tag 1\n"

static void
assert_goal_refused (const char *text, const char *op, FabBytes bytes, const char *message)
{
  g_autofree char *found = NULL;
  g_autoptr (FabGiven) given = read_of (text, op, bytes, &found);

  assert_null (given);
  assert_non_null (strstr (found, message));
}

static void
wrong_graphs_are_refused_at_their_node (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGiven) good = read_of (GOAL_0 GOAL_1 "}\n", "all_reduce", 8, NULL);

  assert_non_null (good);
  assert_goal_refused (GOAL_0 GOAL_1 "}\n", NULL, 8, "give `op`");
  assert_goal_refused (GOAL_0 GOAL_1 "}\n", "all_reduce", 0, "and `size`");
  assert_goal_refused (GOAL_0 "x: send 8b to 1 tag 2\n" GOAL_1 "}\n", "all_reduce", 8,
                       "rank 0: node 2 (send): rank 1 has no receive for this message");
  assert_goal_refused (GOAL_0 GOAL_1 "x: recv 8b from 0 tag 2\n}\n", "all_reduce", 8,
                       "rank 1: node 2 (recv): a deadlock: rank 0 never sends this message");
  assert_goal_refused (GOAL_0 "s requires r\n" GOAL_1 "s requires r\n}\n", "all_reduce", 8,
                       "a deadlock: it waits for itself, over other nodes");
  assert_goal_refused (GOAL_0 GOAL_1 "}\n", "all_reduce", 16,
                       "this is no all_reduce of 16 bytes: rank 0 receives 8 bytes, and needs at least 16");
  assert_goal_refused (
      "num_ranks 2\nrank 0 {\nr: recv 8b from 1 tag 1\n}\nrank 1 {\ns: send 8b to 0 tag 1\n}\n", "all_reduce",
      8, "this is no all_reduce: no data of rank 0 reach rank 1");
  assert_goal_refused ("num_ranks 3\nrank 0 {\n}\nrank 2 {\n}\n", "all_reduce", 8,
                       "this is rank 2, where rank 1 is expected");
}

/* The second block of gpu 0 sends chunk 1 before or after the first block has added to it. */
static void
a_race_is_found (G_GNUC_UNUSED void **state)
{
  g_autofree char *message = NULL;
  g_autoptr (FabGiven) given = read_text (
      HEAD ("2", "reduce") GPU (1) TB (0, 0, -1) STEP (0, "s", "i", 0, "i", 0, -1, -1)
          STEP (1, "s", "i", 1, "i", 1, -1, -1) END GPU (0) TB (0, -1, 1)
              STEP (0, "r", "i", 0, "s", 0, -1, -1)
                  STEP (1, "rrc", "i", 1, "i", 1, -1,
                        -1) "</tb>\n<tb id=\"1\" send=\"-1\" recv=\"-1\" chan=\"1\">\n" STEP (0, "nop", "i",
                                                                                              0, "i", 0, 0, 0)
                      STEP (1, "re", "s", 0, "i", 0, -1, -1) STEP (2, "cpy", "i", 0, "s", 0, -1, -1) END
      "</algo>",
      NULL, &message);

  assert_non_null (given);
  given = (fab_given_free (g_steal_pointer (&given)), NULL);
  given = read_text (
      HEAD ("2", "reduce") GPU (1) TB (0, 0, -1) STEP (0, "s", "i", 0, "i", 0, -1, -1)
          STEP (1, "s", "i", 1, "i", 1, -1, -1) END GPU (0) TB (0, -1, 1)
              STEP (0, "r", "i", 0, "s", 0, -1, -1)
                  STEP (1, "rrc", "i", 1, "i", 1, -1,
                        -1) "</tb>\n<tb id=\"1\" send=\"-1\" recv=\"-1\" chan=\"1\">\n" STEP (0, "re", "s", 0,
                                                                                              "i", 0, -1, -1)
                      END "</algo>",
      NULL, &message);
  assert_null (given);
  assert_non_null (
      strstr (message, "the step adds a chunk that holds nothing yet; in another order of the thread blocks "
                       "all is well, so that a dependency (depid, deps) is missing"));
}

static void
a_size_chooses_the_file (G_GNUC_UNUSED void **state)
{
  FabGiven given = { .n_ranks = 4, .op = FAB_OP_ALL_REDUCE, .from_bytes = 10, .to_bytes = 20 };

  assert_true (fab_given_fits (&given, 4, FAB_OP_ALL_REDUCE, 20));
  assert_false (fab_given_fits (&given, 4, FAB_OP_ALL_REDUCE, 21));
  assert_false (fab_given_fits (&given, 4, FAB_OP_ALL_REDUCE, 9));
  assert_false (fab_given_fits (&given, 8, FAB_OP_ALL_REDUCE, 15));
  assert_false (fab_given_fits (&given, 4, FAB_OP_BROADCAST, 15));
  given.to_bytes = 0;
  assert_true (fab_given_fits (&given, 4, FAB_OP_ALL_REDUCE, 1 << 30));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_ring_is_the_ring_that_is_built_in),
    cmocka_unit_test (a_ring_of_goal_is_the_ring_of_msccl),
    cmocka_unit_test (wrong_graphs_are_refused_at_their_node),
    cmocka_unit_test (the_form_of_a_ring_is_that_of_the_ring),
    cmocka_unit_test (steps_of_a_file_are_of_the_kinds_of_the_ring),
    cmocka_unit_test (a_message_is_spread_over_the_adapters),
    cmocka_unit_test (a_departure_is_no_step),
    cmocka_unit_test (a_block_sends_one_after_another),
    cmocka_unit_test (messages_cross_nodes),
    cmocka_unit_test (chunks_are_copied_before_the_first_step),
    cmocka_unit_test (wrong_files_are_refused_at_their_place),
    cmocka_unit_test (a_race_is_found),
    cmocka_unit_test (a_size_chooses_the_file),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
