/* SPDX-License-Identifier: Apache-2.0 */
/* test_verbs_trouble.c - what goes wrong with the verbs backend, and the sentence that it comes to at either end. */
#include "tests/support/fake_verbs/both_ends.h"
#include "tests/support/test.h"
#include "validate/measure/verbs/device.h"
#include "validate/measure/verbs/work.h"

typedef struct {
  const char *devices, *params[2], *cuda;
  FabMeasureKind kind;
  const char *messages[2]; /* parts of them; NULL: any */
} Failure;

static const Failure failures[] = {
  { "ib0 reg_errno=12",
    { NULL },
    NULL,
    0,
    { "128 KiB of memory cannot be registered: the limit of locked memory is" } },
  { "ib0 qp_errno=95", { NULL }, NULL, 0, { "ib0 has no reliable connections (RC); measure it with `ofi`" } },
  { "ib0 max_wr=64", { NULL }, NULL, 0, { "ib0 makes no queue pair of 128 sends and 0 receives" } },
  { "ib0 rtr_errno=110",
    { NULL },
    NULL,
    0,
    { "does not reach RTR (Connection timed out): is ib0:1 of 10.0.0.2" } },
  { "ib0 lid=0", { NULL }, NULL, 0, { "ib0:1 has no LID: no subnet manager runs on this fabric" } },
  { "roce0 link=roce gids=0",
    { NULL },
    NULL,
    0,
    { "roce0:1 has no GID of RoCE: give its network interface" } },
  { "roce0 link=roce", { "{gid_index: 9}" }, NULL, 0, { "roce0:1 has no GID 9; `show_gids` lists them" } },
  { "roce0 link=roce",
    { "{gid_index: 0}" },
    NULL,
    0,
    { "the GID of roce0:1 is of RoCE v1, that of roce0:1 at the other end of v2", "is of RoCE v2" } },
  { "ib0; roce0 link=roce",
    { "{device: ib0}", "{device: roce0}" },
    NULL,
    0,
    { NULL, "ib0:1 of the asking end is InfiniBand, and no active port here is" } },
  { "ib0",
    { NULL, "{device: ib7}" },
    NULL,
    0,
    { NULL, "no RDMA device is called 'ib7' here; there are ib0" } },
  { "iw0 transport=1", { NULL }, NULL, 0, { "iw0 is an iWARP device" } },
  { "ib0", { "{memory: gpu}" }, "count=0", 0, { "there is no GPU 0: this machine has 0" } },
  { "ib0",
    { "{memory: gpu}" },
    "rdma=0",
    0,
    { "GPU 0 does not support GPUDirect RDMA: measure with memory=host" } },
  { "ib0",
    { "{memory: gpu}" },
    "alloc=2",
    0,
    { "CUDA: no memory on the GPU for the messages: error 2, out of memory" } },
  { "ib0 reg_errno=14",
    { "{memory: gpu}" },
    "dmabuf=0",
    0,
    { "by dma-buf: CUDA: needs the open kernel modules and Linux 5.12: error 801, something else; by "
      "nvidia-peermem: Bad address (load the module" } },
  { "ib0 fail_after=5",
    { NULL },
    NULL,
    FAB_MEASURE_BANDWIDTH,
    { "ib0:1 to ib0:1 of 10.0.0.2: IBV_WC_RETRY_EXC_ERR (queue pair" } },
  { "ib0 fail_after=5",
    { NULL },
    NULL,
    FAB_MEASURE_LATENCY,
    { "vendor's code 0x81): the other end does not answer" } },
  { "ib0 fail_after=5 fail_status=10",
    { NULL },
    NULL,
    FAB_MEASURE_BANDWIDTH,
    { "IBV_WC_REM_ACCESS_ERR (queue pair" } },
  { "ib0 fail_after=5 fail_status=21",
    { NULL },
    NULL,
    FAB_MEASURE_BANDWIDTH,
    { "completion with status 21, general error" } },
  { "ib0 silent_after=70",
    { NULL },
    NULL,
    FAB_MEASURE_BANDWIDTH,
    { "nothing happened for 1 s (completed: 64 of 200)" } },
  { "ib0 silent_after=70",
    { "{method: send}" },
    NULL,
    FAB_MEASURE_BANDWIDTH,
    { NULL, "nothing happened for 1 s (received: 69 of 200)" } },
  { "ib0 silent_after=5",
    { NULL },
    NULL,
    FAB_MEASURE_EXCHANGE,
    { "(received: 4 of 200)", "(received: 4 of 200)" } },
};

static void
test_failures (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (failures); i++) {
    const Failure *row = &failures[i];
    const Sample samples[] = { { row->kind, 4096, 200 }, { .n_messages = 0 } };
    BothEnds both = { .devices = row->devices,
                      .params = { row->params[0], row->params[1] },
                      .timeout_s = 1,
                      .max_bytes = 4096,
                      .samples = samples };

    g_setenv ("FAB_FAKE_CUDA", row->cuda != NULL ? row->cuda : "", TRUE);
    both_ends_run (&both);
    for (guint end = 0; end < 2; end++)
      if (row->messages[end] != NULL
          && (both.errors[end] == NULL || strstr (both.errors[end], row->messages[end]) == NULL))
        fail_msg ("%s, end %u: '%s' is not in '%s'", row->devices, end, row->messages[end], both.errors[end]);
    both_ends_clear (&both);
  }
}

/* Nobody answers: the other end is gone. */
static void
test_peer_gone (G_GNUC_UNUSED void **state)
{
  static const Sample samples[] = { { FAB_MEASURE_BANDWIDTH, 4096, 200 }, { .n_messages = 0 } };
  BothEnds both = { .devices = "ib0", .max_bytes = 4096, .samples = samples, .is_peer_gone = TRUE };

  both_ends_run (&both);
  assert_true (both.is_open[0] && both.is_open[1]);
  assert_string_equal (both.errors[0], "the other end is gone");
  both_ends_clear (&both);
}

/* GPU memory cannot be watched: a write alone is not measured there. A read cannot be exchanged. */
static void
test_kinds (G_GNUC_UNUSED void **state)
{
  static const Sample samples[] = { { FAB_MEASURE_EXCHANGE, 8, 1 }, { .n_messages = 0 } };
  static const char *const params[] = { "{method: read}", "{memory: gpu}" };

  for (guint i = 0; i < G_N_ELEMENTS (params); i++) {
    BothEnds both = { .devices = "ib0", .params = { params[i] }, .max_bytes = 8, .samples = samples };

    both_ends_run (&both);
    assert_string_equal (both.errors[0], "ib0:1 was asked for messages that were not agreed on");
    both_ends_clear (&both);
  }
}

static void
assert_no_port (const char *devices, const char *device, gint64 port, const char *message)
{
  g_autoptr (GError) error = NULL;

  g_setenv ("FAB_FAKE_DEVICES", devices, TRUE);
  assert_null (fab_verbs_active_ports (device, port, &error));
  assert_string_equal (error->message, message);
}

static void
test_ports (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) names = NULL;

  assert_no_port (
      "", NULL, 0,
      "there is no RDMA device on this machine: `ibv_devices` lists none; it needs an InfiniBand or RoCE adapter "
      "and its driver (Debian: rdma-core ibverbs-providers)");
  assert_no_port ("ib0; ib1", "ib2", 0, "no RDMA device is called 'ib2' here; there are ib0, ib1");
  assert_no_port (
      "ib0 down=1; ib1 open_errno=13", NULL, 0,
      "no RDMA port is active: ib0:1 is down: cable, transceiver, or the switch's port; ib1 cannot be "
      "opened (Permission denied)");
  assert_no_port ("ib0", "ib0", 2, "ib0 has no port 2");
  g_setenv ("FAB_FAKE_DEVICES", "ib0 ports=2 down=1; ib1; roce0 link=roce", TRUE);
  names = fab_verbs_active_ports (NULL, 0, NULL);
  assert_int_equal (names->len, 3);
  assert_string_equal (names->pdata[0], "ib0:2");
  assert_string_equal (names->pdata[2], "roce0:1");
}

/* A control channel on which the other end has sent `data`. */
typedef struct {
  FabControl base;
  gconstpointer data;
} Canned;

static gboolean
canned_receive (FabControl *control, gpointer data, gsize size, G_GNUC_UNUSED GError **error)
{
  memcpy (data, ((Canned *) control)->data, size);
  return TRUE;
}

/* A request and a card with one word changed: only what the limits allow is taken. */
static void
test_hostile_words (G_GNUC_UNUSED void **state)
{
  static const struct {
    gsize offset;
    guint32 value;
    gboolean is_good;
  } rows[] = {
    { offsetof (FabVerbsRequest, method), FAB_VERBS_SEND, TRUE },
    { offsetof (FabVerbsRequest, method), FAB_VERBS_ALL, FALSE },
    { offsetof (FabVerbsRequest, magic), 0, FALSE },
    { offsetof (FabVerbsRequest, place), FAB_VERBS_GPU + 1, FALSE },
    { offsetof (FabVerbsRequest, mtu), IBV_MTU_4096 + 1, FALSE },
    { offsetof (FabVerbsRequest, n_queues), FAB_VERBS_MAX_QUEUES, TRUE },
    { offsetof (FabVerbsRequest, n_queues), FAB_VERBS_MAX_QUEUES + 1, FALSE },
    { offsetof (FabVerbsRequest, n_queues), 0, FALSE },
    { offsetof (FabVerbsRequest, window), 0, FALSE },
    { offsetof (FabVerbsRequest, window), FAB_VERBS_MAX_WINDOW + 1, FALSE },
    { offsetof (FabVerbsRequest, max_bytes), 0, FALSE },
    { offsetof (FabVerbsRequest, max_bytes) + 4, 1, FALSE }, /* 4 GiB more */
    { offsetof (FabVerbsRequest, name), 0x1b5b1b5b, FALSE }, /* an escape sequence */
  };
  static const FabVerbsRequest good = {
    .magic = FAB_VERBS_REQUEST, .max_bytes = 8, .n_queues = 1, .window = 1, .name = "ib0:1"
  };
  FabVerbsCard card = { .magic = FAB_VERBS_CARD, .mtu = IBV_MTU_4096, .name = "ib0:1" }, taken_card;
  Canned control = { .base = { .receive = canned_receive, .there = "10.0.0.2" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabVerbsRequest request = good, taken;
    g_autoptr (GError) error = NULL;

    memcpy ((char *) &request + rows[i].offset, &rows[i].value, sizeof rows[i].value);
    control.data = &request;
    assert_int_equal (fab_verbs_receive_request (&control.base, &taken, &error), rows[i].is_good);
    assert_int_equal (error == NULL, rows[i].is_good);
  }
  control.data = &card;
  assert_true (fab_verbs_receive_card (&control.base, &taken_card, NULL));
  card.mtu = 0;
  assert_false (fab_verbs_receive_card (&control.base, &taken_card, NULL));
  card.mtu = IBV_MTU_4096;
  memset (card.name, 'a', sizeof card.name); /* without an end */
  assert_false (fab_verbs_receive_card (&control.base, &taken_card, NULL));
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, both_ends_set_up, both_ends_tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = { TEST (test_failures), TEST (test_peer_gone), TEST (test_kinds),
                                      TEST (test_ports), TEST (test_hostile_words) };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
