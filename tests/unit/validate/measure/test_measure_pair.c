/* SPDX-License-Identifier: Apache-2.0 */
/* test_measure_pair.c - two ends over a socketpair: they agree, or both say why not. The messages are made up. */
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "tests/support/test.h"
#include "validate/measure/control_tcp.h"
#include "validate/measure/frame.h"
#include "validate/measure/host_run.h"
#include "validate/measure/pair.h"

#define MS_PS (G_GINT64_CONSTANT (1000000000))

/* --- a control channel --- */

typedef struct {
  FabControl base;
  int fd;
} PipeControl;

static gboolean
pipe_send (FabControl *control, gconstpointer data, gsize size, GError **error)
{
  gssize n = send (((PipeControl *) control)->fd, data, size, MSG_NOSIGNAL);

  return n == (gssize) size || fab_socket_ended (control->there, error);
}

static gboolean
pipe_receive (FabControl *control, gpointer data, gsize size, GError **error)
{
  return recv (((PipeControl *) control)->fd, data, size, MSG_WAITALL) == (gssize) size
      || fab_socket_ended (control->there, error);
}

static void
pipe_close (FabControl *control)
{
  char rest[4096];

  shutdown (((PipeControl *) control)->fd, SHUT_WR);
  while (recv (((PipeControl *) control)->fd, rest, sizeof rest, 0) > 0) {}
  close (((PipeControl *) control)->fd);
}

static PipeControl
pipe_control (int fd, const char *here, const char *there)
{
  return (PipeControl){ { .send = pipe_send,
                          .receive = pipe_receive,
                          .close = pipe_close,
                          .here = (char *) here,
                          .there = (char *) there },
                        fd };
}

/* --- an end --- */

typedef struct {
  FabPair base;
  gboolean is_asking;
  guint *n_moves;
} Pair;

typedef enum { NOTHING, OPEN_THERE, OPEN_HERE, MOVE_THERE, MOVE_HERE } Trouble;

typedef struct {
  Trouble trouble;
  guint n_moves;
} Params;

extern const FabPairOps fake_ops, other_ops;

static const FabBytes sizes[] = { 8, 512 };
static guint n_sizes = G_N_ELEMENTS (sizes);
static const char *system_here = "machine one", *system_there = "machine two";
static FabBytes largest = 512;

static FabTimePs slow_ps, fast_ps; /* what the first 21 moves take, and the others; 0: as they are */

static FabPair *
fake_open (FabControl *control, gconstpointer params, const FabMeasurePlan *plan, FabBytes max_bytes,
           gboolean is_asking, GError **error)
{
  const Params *p = params;
  char word[100000] = { 0 };
  Pair *self;

  assert_true (plan->window == 7 && plan->timeout_s == 5 && max_bytes == largest);
  if (p->trouble == (is_asking ? OPEN_HERE : OPEN_THERE)) {
    fab_throw (error, FAB_ERROR_UNSUPPORTED, "no device");
    return NULL;
  }
  memset (word, is_asking ? 'a' : 's', sizeof word); /* more than fits into a frame */
  if (is_asking ? !control->send (control, word, sizeof word, error)
                : !control->receive (control, word, sizeof word, error))
    return NULL;
  if (word[sizeof word - 1] != 'a') {
    fab_throw (error, FAB_ERROR_IO, "wrong word");
    return NULL;
  }
  self = g_new0 (Pair, 1);
  *self = (Pair){ { &fake_ops }, is_asking, (guint *) &p->n_moves };
  return &self->base;
}

static gboolean
fake_move (FabPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
           GError **error)
{
  Pair *self = (Pair *) pair;
  const Params *p = (const Params *) (gpointer) ((char *) self->n_moves - G_STRUCT_OFFSET (Params, n_moves));

  if (++*self->n_moves == 3 && p->trouble == (self->is_asking ? MOVE_HERE : MOVE_THERE))
    return fab_throw (error, FAB_ERROR_IO, "the cable was pulled");
  *elapsed_ps = kind == FAB_MEASURE_LATENCY ? n_messages * 2 * MS_PS /* a round trip of 2 ms */
                                            : 2 * MS_PS + n_messages * (gint64) size_bytes * MS_PS;
  if (fast_ps > 0)
    *elapsed_ps = *self->n_moves <= 21 ? slow_ps : fast_ps;
  return TRUE;
}

static void
fake_describe (G_GNUC_UNUSED const FabPair *pair, FabSeries *series)
{
  series->method = g_strdup ("made up");
}

const FabPairOps fake_ops = {
  .open = fake_open,
  .move = fake_move,
  .describe = fake_describe,
  .close = (void (*) (FabPair *)) g_free,
  .can = { [FAB_MEASURE_LATENCY] = TRUE, [FAB_MEASURE_BANDWIDTH] = TRUE },
  .name = "fake",
};

const FabPairOps other_ops = { .name = "other", .open = fake_open };

/* --- both ends --- */

typedef struct {
  int fds[2];
  const FabPairOps *serving_ops;
  Params here, there;
  GError *error_here, *error_there;
  gboolean is_measured, is_served;
  char *path;
  FabSamples *samples;
} Rig;

static const gboolean two_kinds[FAB_N_MEASURE_KINDS] = {
  [FAB_MEASURE_LATENCY] = TRUE, [FAB_MEASURE_BANDWIDTH] = TRUE
};

static const FabHostLimits limits = {
  .precision_fraction = 0.02, .min_samples = 6, .max_samples = 6, .max_time_ps = FAB_TIME_MAX
};

static gpointer
serving_end (gpointer data)
{
  Rig *rig = data;
  PipeControl control = pipe_control (rig->fds[1], "there", "here");
  const FabMeasurePlan plan = { .timeout_s = 99, .window = 99 };
  FabMeasureHost *host = fab_host_new (&plan, &limits, NULL, &(FabHostPerson){ 0 });

  host->system = system_there;
  rig->is_served = fab_pair_serve (host, rig->serving_ops, &control.base, &rig->there, &rig->error_there);
  control.base.close (&control.base);
  fab_host_free (host);
  return NULL;
}

static void
asking_end (Rig *rig)
{
  PipeControl control = pipe_control (rig->fds[0], "here", "there");
  const FabMeasurePlan plan = {
    .sizes_bytes = sizes, .n_sizes = n_sizes, .kinds = two_kinds, .window = 7, .timeout_s = 5
  };
  FabMeasureHost *host = fab_host_new (&plan, &limits, rig->samples, &(FabHostPerson){ 0 });

  host->system = system_here;
  rig->is_measured = fab_pair_measure (host, "fake", &fake_ops, &control.base, &rig->here, &rig->error_here);
  control.base.close (&control.base);
  fab_host_free (host);
}

static void
run_both (Rig *rig, const FabPairOps *serving_ops, Trouble trouble)
{
  rig->serving_ops = serving_ops;
  rig->here.trouble = rig->there.trouble = trouble;
  GThread *thread = g_thread_new ("serving", serving_end, rig);
  asking_end (rig);
  g_thread_join (thread);
}

static int
set_up (void **state)
{
  Rig *rig = g_new0 (Rig, 1);

  close (g_file_open_tmp ("fab-pair-XXXXXX", &rig->path, NULL));
  rig->samples = fab_samples_open (rig->path, FAB_SAMPLES_WRITE, NULL);
  *state = rig;
  return rig->samples ? socketpair (AF_UNIX, SOCK_STREAM, 0, rig->fds) : -1;
}

static int
tear_down (void **state)
{
  Rig *rig = *state;

  g_clear_error (&rig->error_here);
  g_clear_error (&rig->error_there);
  fab_samples_free (rig->samples);
  unlink (rig->path);
  g_free (rig->path);
  g_free (rig);
  return 0;
}

static void
assert_says (const GError *error, const char *what)
{
  assert_non_null (error);
  if (strstr (error->message, what) == NULL)
    fail_msg ("'%s' does not say '%s'", error->message, what);
}

/* --- what they do together --- */

static const FabMeasuredSeries *
find_kind (const GPtrArray *all, FabMeasureKind kind)
{
  for (guint i = 0; i < all->len; i++)
    if (((const FabMeasuredSeries *) g_ptr_array_index (all, i))->series.kind == kind)
      return g_ptr_array_index (all, i);
  return NULL;
}

/* Latency is half the round trip; bandwidth times are less one round trip: 2 ms + n x 8 ms - 2 ms is 8 ms each. */
static void
test_both_measure (void **state)
{
  Rig *rig = *state;

  run_both (rig, &fake_ops, NOTHING);
  assert_true (rig->is_measured && rig->is_served);
  assert_int_equal (rig->here.n_moves, rig->there.n_moves);
  g_autoptr (GPtrArray) all = fab_samples_load (rig->samples, NULL);
  const FabMeasuredSeries *latency = find_kind (all, FAB_MEASURE_LATENCY);
  const FabMeasuredSeries *bandwidth = find_kind (all, FAB_MEASURE_BANDWIDTH);
  assert_int_equal (all->len, 2);
  assert_int_equal (latency->points->len, 2);
  assert_int_equal (g_array_index (latency->points, FabMeasuredPoint, 0).time_ps, MS_PS);
  assert_int_equal (g_array_index (bandwidth->points, FabMeasuredPoint, 0).time_ps, 8 * MS_PS);
  assert_int_equal (g_array_index (bandwidth->points, FabMeasuredPoint, 1).time_ps, 512 * MS_PS);
  assert_string_equal (latency->series.system, "machine one and machine two");
  assert_string_equal (latency->series.method, "made up");
  assert_string_equal (latency->series.to, "there");
  assert_int_equal (bandwidth->series.window, 7);
}

/* What is measured is of both machines, or of one where they have one name or one has none. */
static void
test_names_of_machines (void **state)
{
  static const char *const cases[][3] = {
    { "one", "two", "one and two" }, { "one", "one", "one" }, { "one", NULL, "one" },
    { NULL, "two", "two" },          { "", "two", "two" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    if (i > 0) {
      tear_down (state);
      assert_int_equal (set_up (state), 0);
    }
    Rig *rig = *state;
    system_here = cases[i][0];
    system_there = cases[i][1];
    run_both (rig, &fake_ops, NOTHING);
    system_here = "machine one";
    system_there = "machine two";
    assert_true (rig->is_measured && rig->is_served);
    g_autoptr (GPtrArray) all = fab_samples_load (rig->samples, NULL);
    const char *system = find_kind (all, FAB_MEASURE_LATENCY)->series.system;
    if (g_strcmp0 (system, cases[i][2]) != 0)
      fail_msg ("%u: %s", i, system);
  }
}

/* Both ends make room for the largest message, also where there is one size alone. */
static void
test_one_size (void **state)
{
  Rig *rig = *state;

  n_sizes = 1;
  largest = sizes[0];
  run_both (rig, &fake_ops, NOTHING);
  n_sizes = G_N_ELEMENTS (sizes);
  largest = sizes[n_sizes - 1];
  assert_true (rig->is_measured && rig->is_served);
}

/* --- how long a round trip is --- */

/* A host that moves one message for each kind, where another one would measure all sizes. */
typedef struct {
  FabMeasureHost base;
  Rig *rig;
  FabTimePs stream_ps; /* what a message of a kind that streams takes */
  guint n_kinds, windows[FAB_N_MEASURE_KINDS];
  FabTimePs min_sample_ps[FAB_N_MEASURE_KINDS], elapsed_ps[FAB_N_MEASURE_KINDS];
  GString *notes;
} Watcher;

static gboolean
watch (FabMeasureHost *host, const FabSeries *series, G_GNUC_UNUSED FabBytes max_bytes, FabTimedFunc func,
       gpointer data, GError **error)
{
  Watcher *self = (Watcher *) host;
  FabTimePs probed_ps = fast_ps;
  gboolean is_moved;

  self->n_kinds++;
  self->windows[series->kind] = series->window;
  self->min_sample_ps[series->kind] = host->min_sample_ps;
  assert_true (series->n_ranks == 2 && series->n_pairs == 1);
  fast_ps = slow_ps = self->stream_ps;
  is_moved = func (data, 8, 1, &self->elapsed_ps[series->kind], error);
  fast_ps = probed_ps;
  return is_moved;
}

static void
keep_note (FabMeasureHost *host, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_string_append_vprintf (((Watcher *) host)->notes, format, arguments);
  va_end (arguments);
}

/* Before the first kind that is no latency, 21 round trips warm up and 21 are timed; their median is taken off what
 * streams, where it is less than half of that. A sample of a kind that streams is 50 of them long, and 20 ms at
 * least. */
static void
test_round_trips_are_taken_off (void **state)
{
  static const struct {
    FabTimePs round_trip_ps, stream_ps, rest_ps, min_sample_ps;
  } cases[] = {
    { 2 * MS_PS, 4 * MS_PS, 4 * MS_PS, 100 * MS_PS },
    { 2 * MS_PS, 4 * MS_PS + 1, 2 * MS_PS + 1, 100 * MS_PS },
    { 2 * MS_PS, MS_PS, MS_PS, 100 * MS_PS },
    { MS_PS / 10, 3 * MS_PS, 2 * MS_PS + 9 * (MS_PS / 10), 20 * MS_PS },
  };
  static const gboolean kinds[][FAB_N_MEASURE_KINDS] = {
    { [FAB_MEASURE_BANDWIDTH] = TRUE, [FAB_MEASURE_EXCHANGE] = TRUE, [FAB_MEASURE_PRODUCT] = TRUE },
    { [FAB_MEASURE_LATENCY] = TRUE },
    { [FAB_MEASURE_BIDIRECTIONAL] = TRUE, [FAB_MEASURE_COLLECTIVE] = TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds) * G_N_ELEMENTS (cases); i++) {
    guint at = i / G_N_ELEMENTS (kinds), which = i % G_N_ELEMENTS (kinds);
    const FabMeasurePlan plan = {
      .sizes_bytes = sizes, .n_sizes = n_sizes, .kinds = kinds[which], .window = 7, .timeout_s = 5
    };

    if (i > 0) {
      tear_down (state);
      assert_int_equal (set_up (state), 0);
    }
    Rig *rig = *state;
    PipeControl control = pipe_control (rig->fds[0], "here", "there");
    Watcher watcher = { .base = { .plan = &plan, .measure = watch, .note = keep_note },
                        .rig = rig,
                        .stream_ps = cases[at].stream_ps,
                        .notes = g_string_new (NULL) };
    rig->serving_ops = &fake_ops;
    slow_ps = 100 * MS_PS;
    fast_ps = cases[at].round_trip_ps;
    GThread *thread = g_thread_new ("serving", serving_end, rig);
    gboolean is_measured = fab_pair_measure (&watcher.base, "fake", &fake_ops, &control.base, &rig->here,
                                             &rig->error_here);
    control.base.close (&control.base);
    g_thread_join (thread);
    assert_int_equal (is_measured, which < 2);
    assert_int_equal (rig->is_served, TRUE);
    assert_int_equal (watcher.base.min_sample_ps, 0);
    assert_int_equal (watcher.n_kinds, which < 2);
    assert_int_equal (rig->here.n_moves, which == 0 ? 43 : which == 1);
    assert_string_equal (watcher.notes->str, which == 0   ? "fake does not measure exchange."
                                             : which == 2 ? "fake does not measure bidirectional."
                                                          : "");
    if (which == 0) {
      assert_int_equal (watcher.elapsed_ps[FAB_MEASURE_BANDWIDTH], cases[at].rest_ps);
      assert_int_equal (watcher.min_sample_ps[FAB_MEASURE_BANDWIDTH], cases[at].min_sample_ps);
      assert_int_equal (watcher.windows[FAB_MEASURE_BANDWIDTH], 7);
    } else if (which == 1) {
      assert_int_equal (watcher.elapsed_ps[FAB_MEASURE_LATENCY], cases[at].stream_ps / 2);
      assert_int_equal (watcher.min_sample_ps[FAB_MEASURE_LATENCY], 0);
      assert_int_equal (watcher.windows[FAB_MEASURE_LATENCY], 1);
    } else {
      assert_says (rig->error_here, "fake measures none of the kinds that were asked for");
    }
    slow_ps = fast_ps = 0;
    g_string_free (watcher.notes, TRUE);
  }
}

static void
test_trouble_is_told_at_both_ends (void **state)
{
  static const struct {
    Trouble trouble;
    const char *here, *there;
  } rows[] = {
    { OPEN_THERE, "gave up: no device", "no device" },
    { OPEN_HERE, "no device", "gave up: no device" },
    { MOVE_THERE, "gave up: the cable was pulled", "the cable was pulled" },
    { MOVE_HERE, "the cable was pulled", "gave up: the cable was pulled" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Rig *rig;

    if (i > 0) {
      tear_down (state);
      assert_int_equal (set_up (state), 0);
    }
    rig = *state;
    run_both (rig, &fake_ops, rows[i].trouble);
    assert_false (rig->is_measured || rig->is_served);
    assert_says (rig->error_here, rows[i].here);
    assert_says (rig->error_there, rows[i].there);
  }
}

static void
test_another_backend (void **state)
{
  Rig *rig = *state;

  run_both (rig, &other_ops, NOTHING);
  assert_says (rig->error_there, "this end measures with 'other' and here with 'fake'; use the same on both");
  assert_says (rig->error_here, "use the same on both");
}

/* --- an end that is played --- */

static void
test_other_end_dies (void **state)
{
  Rig *rig = *state;
  PipeControl there = pipe_control (rig->fds[1], "there", "here");

  assert_true (fab_frame_send_type (&there.base, FAB_FRAME_WELCOME, NULL));
  shutdown (rig->fds[1], SHUT_WR);
  asking_end (rig);
  close (rig->fds[1]);
  assert_says (rig->error_here, "there ended the connection");
}

static void
test_strangers (void **state)
{
  static const char http[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
  Rig *rig = *state;

  assert_int_equal (write (rig->fds[1], http, sizeof http), sizeof http);
  shutdown (rig->fds[1], SHUT_WR);
  asking_end (rig);
  close (rig->fds[1]);
  assert_says (rig->error_here, "is not `fabricast measure`");
}

/* Agrees with the serving end on messages of up to 512 bytes, and asks for something. */
static void
ask_for (Rig *rig, const FabFrame *asked)
{
  PipeControl here = pipe_control (rig->fds[0], "here", "there");
  const FabFrame hello = { .type = FAB_FRAME_HELLO,
                           .number = 5,
                           .count = 7,
                           .size_bytes = 512,
                           .n_data = 5,
                           .data = (char *) "fake\n" };
  char word[100000];
  GThread *thread;

  rig->serving_ops = &fake_ops;
  thread = g_thread_new ("serving", serving_end, rig);
  memset (word, 'a', sizeof word);
  FabControl *framed = fab_framed_control_new (&here.base);
  assert_true (fab_frame_send (&here.base, &hello, NULL) && framed->send (framed, word, sizeof word, NULL));
  assert_true (fab_frame_send_type (&here.base, FAB_FRAME_OPENED, NULL)
               && fab_frame_send (&here.base, asked, NULL)
               && fab_frame_send_type (&here.base, FAB_FRAME_BYE, NULL));
  shutdown (rig->fds[0], SHUT_WR);
  g_thread_join (thread);
  framed->close (framed);
  close (rig->fds[0]);
}

/* A GO for more than was agreed on would write behind buffers, one for another kind would call what is not there. */
static void
test_more_than_agreed (void **state)
{
  static const struct {
    FabFrame asked;
    gboolean is_agreed;
  } rows[] = {
    { { .type = FAB_FRAME_GO, .number = FAB_MEASURE_LATENCY, .count = 1, .size_bytes = 512 }, TRUE },
    { { .type = FAB_FRAME_GO, .number = FAB_MEASURE_LATENCY, .count = 1, .size_bytes = 513 }, FALSE },
    { { .type = FAB_FRAME_GO, .number = FAB_MEASURE_LATENCY, .count = 0, .size_bytes = 8 }, FALSE },
    { { .type = FAB_FRAME_GO,
        .number = FAB_MEASURE_BANDWIDTH,
        .count = FAB_FRAME_MAX_MESSAGES,
        .size_bytes = 8 },
      TRUE },
    { { .type = FAB_FRAME_GO,
        .number = FAB_MEASURE_LATENCY,
        .count = FAB_FRAME_MAX_MESSAGES + 1,
        .size_bytes = 8 },
      FALSE },
    { { .type = FAB_FRAME_GO, .number = FAB_MEASURE_EXCHANGE, .count = 1, .size_bytes = 8 }, FALSE },
    { { .type = FAB_FRAME_GO, .number = FAB_N_MEASURE_KINDS, .count = 1, .size_bytes = 8 }, FALSE },
    { { .type = FAB_FRAME_READY, .number = FAB_MEASURE_LATENCY, .count = 1, .size_bytes = 8 }, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Rig *rig;

    if (i > 0) {
      tear_down (state);
      assert_int_equal (set_up (state), 0);
    }
    rig = *state;
    ask_for (rig, &rows[i].asked);
    if (!rows[i].is_agreed)
      assert_says (rig->error_there, "not agreed on");
    assert_int_equal (rig->is_served, rows[i].is_agreed);
    assert_int_equal (rig->there.n_moves, rows[i].is_agreed);
  }
}

/* Backends make buffers of twice the largest size: twice this one is 16 bytes in 64 bits. */
static void
check_hello_is_refused (Rig *rig, FabBytes size_bytes, guint32 window, const char *why)
{
  PipeControl here = pipe_control (rig->fds[0], "here", "there");
  g_auto (FabFrame) answer = { 0 };
  const FabFrame hello = { .type = FAB_FRAME_HELLO,
                           .number = 5,
                           .count = window,
                           .size_bytes = size_bytes,
                           .n_data = 5,
                           .data = (char *) "fake\n" };
  GThread *thread;

  rig->serving_ops = &fake_ops;
  thread = g_thread_new ("serving", serving_end, rig);
  assert_true (fab_frame_send (&here.base, &hello, NULL));
  shutdown (rig->fds[0], SHUT_WR);
  g_thread_join (thread);
  close (rig->fds[0]);
  assert_false (rig->is_served);
  assert_says (rig->error_there, why);
}

static void
test_a_size_whose_double_wraps (void **state)
{
  check_hello_is_refused (*state, ((FabBytes) 1 << 63) + 8, 7, "messages of up to 16 GiB");
}

static void
test_a_size_beyond_the_largest (void **state)
{
  check_hello_is_refused (*state, FAB_PAIR_MAX_BYTES + 1, 7, "messages of up to 16 GiB");
}

static void
test_too_many_under_way (void **state)
{
  check_hello_is_refused (*state, 512, FAB_FRAME_MAX_WINDOW + 1, "this end takes up to 65536 (--window)");
}

/* --- a listener --- */

/* It is handed over as ended at once, and holds no place for the time that an introduction may take. */
static void
test_an_end_within_the_introduction (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  FabListener *listener = fab_listener_new (":0", 1, NULL, &error);
  g_autofree char *port = g_strdup_printf ("%u", fab_listener_port (listener));
  int fd = fab_socket_connect ("127.0.0.1", port, NULL, 1, NULL, &error);
  g_auto (FabFrame) frame = { 0 };
  FabControl *control;

  assert_int_equal (send (fd, "FABM", 4, 0), 4);
  shutdown (fd, SHUT_WR);
  control = fab_listener_accept (listener, 2, NULL, &error);
  if (control == NULL)
    fail_msg ("%s", error->message);
  assert_false (fab_frame_receive (control, &frame, &error));
  control->close (control);
  close (fd);
  fab_listener_free (listener);
}

/* --- addresses --- */

static void
test_addresses (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *host, *port;
  } rows[] = {
    { "node8", "node8", NULL },        { "node8:1", "node8", "1" },
    { ":7471", NULL, "7471" },         { "[fe80::1]:65535", "fe80::1", "65535" },
    { "fe80::1", "fe80::1", NULL },    { "[::]", "::", NULL },
    { "10.9.0.1:0", "10.9.0.1", "0" },
  };
  static const char *const bad[] = { "node:65536", "node:", "node:x", "[fe80::1", "[::1]7471" };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *host = NULL, *port = NULL;

    assert_true (fab_address_parse (rows[i].text, &host, &port, NULL));
    if (g_strcmp0 (host, rows[i].host) != 0 || g_strcmp0 (port, rows[i].port) != 0)
      fail_msg ("%s is %s and %s", rows[i].text, host, port);
  }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree char *host = NULL, *port = NULL;
    g_autoptr (GError) error = NULL;

    assert_false (fab_address_parse (bad[i], &host, &port, &error));
    assert_says (error, bad[i]);
    if (i < 3) { /* what is no port */
      g_autofree char *port_text = g_strdup_printf (": '%s' is not a port;", strchr (bad[i], ':') + 1);

      assert_says (error, port_text);
    }
  }
}

static guint
count_open_files (void)
{
  g_autoptr (GDir) files = g_dir_open ("/proc/self/fd", 0, NULL);
  guint n = 0;

  while (files != NULL && g_dir_read_name (files) != NULL)
    n++;
  return n;
}

/* Who asks again and again for an end that is not up yet must not run out of files. */
static void
test_a_refused_connection_leaves_nothing_open (G_GNUC_UNUSED void **state)
{
  struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr = { htonl (INADDR_LOOPBACK) } };
  socklen_t size = sizeof here;
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); /* bound, and nobody listens */
  guint n_before;

  assert_int_equal (bind (fd, (struct sockaddr *) &here, size), 0);
  assert_int_equal (getsockname (fd, (struct sockaddr *) &here, &size), 0);
  g_autofree char *peer = g_strdup_printf ("127.0.0.1:%u", ntohs (here.sin_port));
  n_before = count_open_files ();
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GError) error = NULL;

    assert_null (fab_control_connect (peer, 5, NULL, &error));
    assert_non_null (strstr (error->message, "start `fabricast measure"));
  }
  assert_int_equal (count_open_files (), n_before);
  close (fd);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_both_measure, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_names_of_machines, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_one_size, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_round_trips_are_taken_off, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_trouble_is_told_at_both_ends, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_another_backend, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_other_end_dies, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_strangers, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_more_than_agreed, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_a_size_whose_double_wraps, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_a_size_beyond_the_largest, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_too_many_under_way, set_up, tear_down),
    cmocka_unit_test (test_an_end_within_the_introduction),
    cmocka_unit_test (test_addresses),
    cmocka_unit_test (test_a_refused_connection_leaves_nothing_open),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
