/* SPDX-License-Identifier: Apache-2.0 */
/* test_network.c - the network alone: hosts that follow its clock, and hosts with a clock of their own. */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FABRICAST_UNSTABLE
#include <fabricast.h>

typedef struct {
  FabricastContext *context;
  FabricastScenario *scenario;
  FabricastNetwork *network;
} Fixture;

static int
setup (void **state)
{
  Fixture *self = calloc (1, sizeof *self);

  *state = self;
  return self == NULL || fabricast_context_new (NULL, &self->context, NULL) != FABRICAST_OK
      || fabricast_scenario_new (self->context, &self->scenario, NULL) != FABRICAST_OK
      || fabricast_scenario_assign (self->scenario, "cluster={node: dgx-a100, nodes: 2}", NULL)
             != FABRICAST_OK
      || fabricast_network_new (self->scenario, &self->network, NULL) != FABRICAST_OK;
}

static int
teardown (void **state)
{
  Fixture *self = *state;

  fabricast_network_free (self->network);
  fabricast_scenario_free (self->scenario);
  fabricast_context_free (self->context);
  free (self);
  return 0;
}

static void
note (void *user, int64_t time_ps)
{
  *(int64_t *) user = time_ps;
}

/* Two transfers that share the last link take, but for the latency, twice as long as one. */
static void
test_sharing (void **state)
{
  Fixture *f = *state;
  int64_t alone = 0, first = 0, second = 0, empty = 0, start;
  const uint64_t bytes = UINT64_C (1) << 30;

  assert_int_equal (fabricast_network_ranks (f->network), 16);
  assert_int_equal (fabricast_network_send (f->network, 0, 2, bytes, note, &alone, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_send (f->network, 3, 3, bytes, note, &empty, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
  assert_int_equal (empty, 0);
  assert_true (alone > 0);
  start = fabricast_network_now (f->network);
  assert_true (start == alone);
  assert_int_equal (fabricast_network_send (f->network, 0, 2, bytes, note, &first, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_send (f->network, 1, 2, bytes, note, &second, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
  assert_true (first == second);
  assert_true (fabs ((double) (first - start) / (double) alone - 2) < 0.01);
}

/* A host with a clock of its own asks for the next event and never goes beyond it. */
static void
test_host_clock (void **state)
{
  Fixture *f = *state;
  int64_t done = 0, bell = 0, next;

  assert_true (fabricast_network_next (f->network) == INT64_MAX);
  assert_int_equal (fabricast_network_send (f->network, 0, 8, 1 << 20, note, &done, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_at (f->network, 1000, note, &bell, NULL), FABRICAST_OK);
  for (int i = 0; i < 1000 && (next = fabricast_network_next (f->network)) != INT64_MAX; i++) {
    assert_true (next >= fabricast_network_now (f->network));
    assert_int_equal (fabricast_network_advance (f->network, next, NULL), FABRICAST_OK);
    assert_true (fabricast_network_now (f->network) == next);
  }
  assert_int_equal (bell, 1000);
  assert_true (done > 1000);
  assert_int_equal (fabricast_network_advance (f->network, done + 5, NULL), FABRICAST_OK);
  assert_true (fabricast_network_now (f->network) == done + 5);
}

/* A collective takes as long as in a job that does the same. */
static void
collective_as_in_job (Fixture *f, const char *fidelity)
{
  FabricastScenario *scenario = NULL;
  FabricastNetwork *network = NULL;
  FabricastResult *result = NULL;
  FabricastValue value = { .struct_size = sizeof value };
  int64_t done = 0;

  assert_int_equal (fabricast_scenario_copy (f->scenario, &scenario, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_scenario_assign (scenario, fidelity, NULL), FABRICAST_OK);
  assert_int_equal (
      fabricast_scenario_assign (scenario,
                                 "job={kind: collective, operations: [{op: all_reduce, size: 64MiB}]}", NULL),
      FABRICAST_OK);
  assert_int_equal (fabricast_run (scenario, NULL, &result, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_result_figure (result, "step_ps", &value, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_new (scenario, &network, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_collective (network, "all_reduce", NULL, 0, 64 << 20, note, &done,
                                                  NULL),
                    FABRICAST_OK);
  assert_int_equal (fabricast_network_advance (network, INT64_MAX, NULL), FABRICAST_OK);
  assert_true (done == value.whole);
  fabricast_network_free (network);
  fabricast_result_free (result);
  fabricast_scenario_free (scenario);
}

static void
test_collective_as_in_job (void **state)
{
  collective_as_in_job (*state, "fidelity=fluid");
  collective_as_in_job (*state, "fidelity=step");
}

typedef struct {
  FabricastNetwork *network;
  uint32_t n_ranks, step;
  unsigned n_waiting;
  int64_t end_ps;
} Ring;

static void arrived (void *user, int64_t time_ps);

static void
next_step (Ring *ring)
{
  ring->n_waiting = ring->n_ranks;
  for (uint32_t rank = 0; rank < ring->n_ranks; rank++)
    assert_int_equal (fabricast_network_send (ring->network, rank, (rank + 1) % ring->n_ranks, 1 << 20,
                                              arrived, ring, NULL),
                      FABRICAST_OK);
}

static void
arrived (void *user, int64_t time_ps)
{
  Ring *ring = user;

  ring->end_ps = time_ps;
  if (--ring->n_waiting == 0 && ++ring->step < 2 * (ring->n_ranks - 1))
    next_step (ring);
}

/* The host plays a ring by itself, in lockstep: every one of its 30 steps takes as long as the first. */
static void
test_ring_in_lockstep (void **state)
{
  Fixture *f = *state;
  Ring ring = { .network = f->network, .n_ranks = fabricast_network_ranks (f->network) };
  int64_t first;

  next_step (&ring);
  ring.step = 2 * (ring.n_ranks - 1) - 1; /* one step alone */
  assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
  first = ring.end_ps;
  ring.step = 0;
  next_step (&ring);
  assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
  assert_true (ring.end_ps - first == 30 * first);
}

enum { N_SENDS = 100 };

/* A hundred sends at once, to and from ranks that repeat, end when the same flows of a job end. */
static void
sends_as_in_job (Fixture *f, const char *fidelity)
{
  FabricastScenario *scenario = NULL;
  FabricastNetwork *network = NULL;
  FabricastResult *result = NULL;
  FabricastValue value = { .struct_size = sizeof value };
  char job[8192];
  size_t n = 0;
  int64_t ends[N_SENDS] = { 0 }, last = 0;

  n += (size_t) snprintf (job, sizeof job, "job={kind: traffic, pattern: pairs, size: 1KiB, pairs: [");
  for (unsigned i = 0; i < N_SENDS; i++)
    n += (size_t) snprintf (job + n, sizeof job - n, "%s{from: %u, to: %u, size: %uKiB}", i > 0 ? ", " : "",
                            i * 7 % 16, (i * 7 + 1 + i % 13) % 16, 64 + i * 10);
  snprintf (job + n, sizeof job - n, "]}");
  assert_int_equal (fabricast_scenario_copy (f->scenario, &scenario, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_scenario_assign (scenario, fidelity, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_scenario_assign (scenario, job, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_run (scenario, NULL, &result, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_result_figure (result, "step_ps", &value, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_new (scenario, &network, NULL), FABRICAST_OK);
  for (unsigned i = 0; i < N_SENDS; i++)
    assert_int_equal (fabricast_network_send (network, i * 7 % 16, (i * 7 + 1 + i % 13) % 16,
                                              (64 + i * 10) * UINT64_C (1024), note, &ends[i], NULL),
                      FABRICAST_OK);
  assert_int_equal (fabricast_network_advance (network, INT64_MAX, NULL), FABRICAST_OK);
  for (unsigned i = 0; i < N_SENDS; i++) {
    assert_true (ends[i] > 0);
    last = ends[i] > last ? ends[i] : last;
  }
  assert_true (last == value.whole);
  fabricast_network_free (network);
  fabricast_result_free (result);
  fabricast_scenario_free (scenario);
}

static void
test_sends_as_in_job (void **state)
{
  sends_as_in_job (*state, "fidelity=fluid");
  sends_as_in_job (*state, "fidelity=step");
}

static void
reenter (void *user, int64_t time_ps)
{
  assert_int_equal (fabricast_network_advance (user, time_ps + 1, NULL), FABRICAST_MISUSE);
}

/* Of a stream over one good link and this one, in either order. */
static void
stream_is_misuse (FabricastNetwork *network, uint32_t link, double weight)
{
  const uint32_t links[] = { link, 0, link };
  const double weights[] = { weight, 1, weight };
  int64_t done = 0;

  for (int i = 0; i < 2; i++) {
    FabricastError *error = NULL;

    assert_int_equal (fabricast_network_stream (network, links + i, weights + i, 2, 1, 0, note, &done,
                                                &error),
                      FABRICAST_MISUSE);
    assert_non_null (error);
    fabricast_error_free (error);
  }
}

/* Each of the three conditions of a stream alone: its link is there, its weight is finite, and above 0. */
static void
test_streams_that_cannot_be (void **state)
{
  Fixture *f = *state;
  FabricastTable *table = NULL;
  const uint32_t link = 0;
  const double weight = 1;
  int64_t done = 0;

  assert_int_equal (fabricast_network_table (f->network, "link", &table, NULL), FABRICAST_OK);
  uint32_t n_links = (uint32_t) fabricast_table_rows (table);
  fabricast_table_free (table);
  stream_is_misuse (f->network, n_links, 1);
  stream_is_misuse (f->network, 0, 0);
  stream_is_misuse (f->network, 0, -1);
  stream_is_misuse (f->network, 0, (double) NAN);
  stream_is_misuse (f->network, 0, (double) INFINITY);
  assert_int_equal (fabricast_network_stream (f->network, &link, &weight, 0, 1, 0, note, &done, NULL),
                    FABRICAST_MISUSE);
  assert_int_equal (fabricast_network_stream (f->network, &link, &weight, 1, 1, -1, note, &done, NULL),
                    FABRICAST_MISUSE);
  assert_int_equal (fabricast_network_stream (f->network, &link, &weight, 1, UINT64_C (1) << 63, 0, note,
                                              &done, NULL),
                    FABRICAST_MISUSE);
  assert_int_equal (fabricast_network_next (f->network), INT64_MAX); /* none of them was begun */
  const uint32_t last = n_links - 1;
  assert_int_equal (fabricast_network_stream (f->network, &last, &weight, 1, 1, 0, note, &done, NULL),
                    FABRICAST_OK);
}

static void
test_misuse (void **state)
{
  Fixture *f = *state;
  const uint32_t order[] = { 1, 0 }, link = 0;
  const double weight = 1;
  int64_t done = 0;
  FabricastTable *table = NULL;

  assert_int_equal (fabricast_network_send (f->network, 0, 99, 1, note, &done, NULL), FABRICAST_MISUSE);
  assert_int_equal (fabricast_network_at (f->network, -1, note, &done, NULL), FABRICAST_MISUSE);
  assert_int_equal (fabricast_network_at (f->network, 1, NULL, NULL, NULL), FABRICAST_MISUSE);
  assert_int_equal (fabricast_network_collective (f->network, "sum", NULL, 0, 1, note, &done, NULL),
                    FABRICAST_INPUT);
  assert_int_equal (fabricast_network_collective (f->network, "all_reduce", order, 2, 1, note, &done, NULL),
                    FABRICAST_MISUSE);
  assert_int_equal (fabricast_network_at (f->network, 7, reenter, f->network, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_stream (f->network, &link, &weight, 1, 1 << 20, 5, note, &done, NULL),
                    FABRICAST_OK);
  assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
  assert_true (done > 5);
  assert_int_equal (fabricast_network_table (f->network, "link", &table, NULL), FABRICAST_OK);
  assert_true (fabricast_table_rows (table) > 16);
  fabricast_table_free (table);
  /* What is under way is dropped, and nobody is told. */
  assert_int_equal (fabricast_network_send (f->network, 0, 8, 1 << 20, reenter, f->network, NULL),
                    FABRICAST_OK);
}

/* Ranks ascend, each is there, and one is enough. */
static void
test_groups (void **state)
{
  Fixture *f = *state;
  const struct {
    uint32_t ranks[3];
    size_t n;
    int status;
  } cases[] = { { { 0, 2, 5 }, 3, FABRICAST_OK },     { { 0, 5, 2 }, 3, FABRICAST_MISUSE },
                { { 3, 2, 5 }, 3, FABRICAST_MISUSE }, { { 0, 1 }, 2, FABRICAST_OK },
                { { 0, 15 }, 2, FABRICAST_OK },       { { 1, 1 }, 2, FABRICAST_MISUSE },
                { { 1, 0 }, 2, FABRICAST_MISUSE },    { { 0, 16 }, 2, FABRICAST_MISUSE },
                { { 16, 0 }, 1, FABRICAST_MISUSE },   { { 0, 0 }, 0, FABRICAST_MISUSE },
                { { 15, 0 }, 1, FABRICAST_OK } };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t done = -1;
    FabricastError *error = NULL;

    assert_int_equal (fabricast_network_collective (f->network, "all_reduce", cases[i].ranks, cases[i].n,
                                                    1 << 20, note, &done, &error),
                      cases[i].status);
    if (error != NULL)
      assert_string_equal (fabricast_error_message (error),
                           "the ranks must be in ascending order, from 0 to 15");
    fabricast_error_free (error);
    assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
    assert_int_equal (done >= 0, cases[i].status == FABRICAST_OK);
  }
}

/* A group has its own plan, whichever were asked for before: two GPUs of different nodes take as long after two of one
 * node as in a new network, and more than those. */
static void
test_groups_are_told_apart (void **state)
{
  Fixture *f = *state;
  const uint32_t within[] = { 0, 1 }, between[] = { 0, 8 };
  const uint32_t *const groups[] = { between, within, between, within };
  int64_t took[4], begun = 0;

  for (size_t i = 0; i < 4; i++) {
    int64_t done = -1;

    assert_int_equal (fabricast_network_collective (f->network, "all_reduce", groups[i], 2, 1 << 24, note,
                                                    &done, NULL),
                      FABRICAST_OK);
    assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
    took[i] = done - begun;
    begun = done;
  }
  assert_int_equal (took[0], took[2]);
  assert_int_equal (took[1], took[3]);
  assert_true (took[0] > 2 * took[1]);
}

/* What moves nothing ends at once, and somebody is told all the same. */
static void
test_nothing_takes_no_time (void **state)
{
  Fixture *f = *state;
  const uint32_t link = 0;
  const double weight = 1;

  for (int64_t at = 0; at < 3000; at += 1000) {
    int64_t ends[4] = { -1, -1, -1, -1 };

    assert_int_equal (fabricast_network_advance (f->network, at, NULL), FABRICAST_OK);
    assert_int_equal (fabricast_network_now (f->network), at);
    assert_int_equal (fabricast_network_send (f->network, 3, 3, 1 << 20, note, &ends[0], NULL), FABRICAST_OK);
    assert_int_equal (fabricast_network_send (f->network, 3, 4, 0, note, &ends[1], NULL), FABRICAST_OK);
    assert_int_equal (fabricast_network_collective (f->network, "all_reduce", NULL, 0, 0, note, &ends[2],
                                                    NULL),
                      FABRICAST_OK);
    assert_int_equal (fabricast_network_stream (f->network, &link, &weight, 1, 0, 7, note, &ends[3], NULL),
                      FABRICAST_OK);
    assert_int_equal (fabricast_network_next (f->network), at);
    assert_int_equal (fabricast_network_advance (f->network, at, NULL), FABRICAST_OK);
    for (int i = 0; i < 4; i++)
      assert_int_equal (ends[i], at);
    assert_int_equal (fabricast_network_next (f->network), INT64_MAX);
  }
  FabricastError *error = NULL;
  assert_int_equal (fabricast_network_advance (f->network, 1999, &error), FABRICAST_MISUSE);
  assert_string_equal (fabricast_error_message (error), "1999 ps is in the past: it is 2000 ps");
  fabricast_error_free (error);
  assert_int_equal (fabricast_network_at (f->network, 1999, note, NULL, &error), FABRICAST_MISUSE);
  assert_string_equal (fabricast_error_message (error), "1999 ps is in the past: it is 2000 ps");
  fabricast_error_free (error);
  assert_int_equal (fabricast_network_send (f->network, 16, 0, 1, note, NULL, &error), FABRICAST_MISUSE);
  assert_string_equal (fabricast_error_message (error),
                       "from 16 to 0: the ranks are 0 to 15, and 2^63 - 1 bytes are the most");
  fabricast_error_free (error);
  assert_int_equal (fabricast_network_send (f->network, 0, 1, UINT64_C (1) << 63, note, NULL, NULL),
                    FABRICAST_MISUSE);
}

/* One byte more over a link of n bytes a second takes 1/n of a second, after the startup. */
static void
test_streams (void **state)
{
  Fixture *f = *state;
  FabricastTable *table = NULL;
  FabricastColumn column = { .struct_size = sizeof column };
  int64_t rate = 0, ends[3] = { 0 };
  const uint32_t link = 0;
  const double weights[] = { 1, 1, 2 };

  assert_int_equal (fabricast_network_table (f->network, "link", &table, NULL), FABRICAST_OK);
  for (size_t i = 0; fabricast_table_column (table, i, &column); i++)
    rate = strcmp (column.name, "line_rate_bytes_per_s") == 0 ? column.whole[0] : rate;
  for (size_t i = 0; i < 3; i++) { /* the same again after 1 ms, and of two bytes for each */
    int64_t start = fabricast_network_now (f->network), startup = i == 1 ? INT64_C (1000000000) : 0;

    assert_int_equal (fabricast_network_stream (f->network, &link, &weights[i], 1, 1 << 30, startup, note,
                                                &ends[i], NULL),
                      FABRICAST_OK);
    assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
    ends[i] -= start;
  }
  assert_true (rate > 0 && ends[0] > 0);
  assert_true (ends[1] - ends[0] == INT64_C (1000000000));
  assert_true (llabs (ends[2] - 2 * ends[0]) <= 2);
  assert_int_equal (fabricast_network_table (f->network, "links", &table, NULL), FABRICAST_INPUT);
  fabricast_table_free (table);
}

/* --- what the clock cannot hold --- */

static void
assert_too_long (int status, FabricastError *error)
{
  static const char begin[] = "the traffic could last until day ",
                    end[] = " of simulated time, and the clock holds 53; send fewer bytes";
  const char *message = fabricast_error_message (error);

  assert_int_equal (status, FABRICAST_UNSUPPORTED);
  assert_int_equal (strncmp (message, begin, strlen (begin)), 0);
  assert_non_null (strstr (message, end));
  fabricast_error_free (error);
}

#define ASSERT_TOO_LONG(call)       \
  do {                              \
    FabricastError *told = NULL;    \
    int status = call;              \
                                    \
    assert_too_long (status, told); \
  } while (0)

/* 2^63 ps are 106 days. What would last longer than half of them is refused, and nothing has begun: too many bytes, too
 * long a startup, too much for a link, and anything once the clock is there. */
static void
test_more_than_the_clock_holds (void **state)
{
  Fixture *f = *state;
  const uint32_t links[] = { 0, 0 };
  const double large[] = { 1e308, 1e308 }, weights[] = { 1, 1 };
  int64_t done = -1;
  FabricastError *error = NULL;

  ASSERT_TOO_LONG (fabricast_network_send (f->network, 0, 1, INT64_MAX, note, &done, &told));
  ASSERT_TOO_LONG (
      fabricast_network_stream (f->network, links, weights, 2, 1, INT64_MAX, note, &done, &told));
  ASSERT_TOO_LONG (
      fabricast_network_stream (f->network, links, weights, 2, INT64_MAX, 1, note, &done, &told));
  ASSERT_TOO_LONG (fabricast_network_stream (f->network, links, large, 2, 1, 0, note, &done, &told));
  assert_int_equal (fabricast_network_collective (f->network, "all_reduce", NULL, 0, INT64_MAX, note, &done,
                                                  &error),
                    FABRICAST_INPUT);
  assert_non_null (strstr (fabricast_error_message (error), "takes longer than 53 days"));
  fabricast_error_free (error);
  assert_int_equal (fabricast_network_send (f->network, 0, 1, INT64_MAX, note, &done, NULL),
                    FABRICAST_UNSUPPORTED);
  assert_int_equal (fabricast_network_next (f->network), INT64_MAX);
  assert_int_equal (fabricast_network_advance (f->network, INT64_MAX - 1, NULL), FABRICAST_OK);
  ASSERT_TOO_LONG (fabricast_network_send (f->network, 0, 1, 1, note, &done, &told));
  ASSERT_TOO_LONG (fabricast_network_collective (f->network, "all_reduce", NULL, 0, 1, note, &done, &told));
  assert_int_equal (done, -1);
  assert_int_equal (fabricast_network_send (f->network, 1, 1, 1, note, &done, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
  assert_int_equal (done, INT64_MAX - 1);
}

/* A stream that waits for 30 days leaves no time for another one beside it, nor for one of 30 days after it, but
 * for one of 20 days. */
static void
test_time_is_left_when_traffic_has_ended (void **state)
{
  Fixture *f = *state;
  const int64_t day = INT64_C (86400) * INT64_C (1000000000000);
  const uint32_t link = 0;
  const double weight = 1;
  int64_t done = -1;

  assert_int_equal (fabricast_network_stream (f->network, &link, &weight, 1, 1, 30 * day, note, &done, NULL),
                    FABRICAST_OK);
  ASSERT_TOO_LONG (fabricast_network_stream (f->network, &link, &weight, 1, 1, 30 * day, note, &done, &told));
  assert_int_equal (fabricast_network_stream (f->network, &link, &weight, 1, 1, 20 * day, note, &done, NULL),
                    FABRICAST_OK);
  assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
  assert_true (done >= 30 * day && done < 31 * day);
  ASSERT_TOO_LONG (fabricast_network_stream (f->network, &link, &weight, 1, 1, 30 * day, note, &done, &told));
  assert_int_equal (fabricast_network_stream (f->network, &link, &weight, 1, 1, 20 * day, note, &done, NULL),
                    FABRICAST_OK);
  assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
  assert_true (done >= 50 * day && done < 51 * day);
}

/* A byte that puts 10^12 bytes on a link takes as long as 10^12 bytes. */
static void
test_a_byte_may_be_heavy (void **state)
{
  Fixture *f = *state;
  const uint64_t bytes[] = { 1, UINT64_C (1000000000000) };
  const double weights[] = { 1e12, 1 };
  const uint32_t link = 0;
  int64_t took[2], begun = 0;

  for (int i = 0; i < 2; i++) {
    int64_t done = -1;

    assert_int_equal (fabricast_network_stream (f->network, &link, &weights[i], 1, bytes[i], 0, note, &done,
                                                NULL),
                      FABRICAST_OK);
    assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
    took[i] = done - begun;
    begun = done;
  }
  assert_true (took[0] > INT64_C (1000000000000)); /* some seconds */
  assert_true (fabs ((double) took[0] / (double) took[1] - 1) < 1e-9);
}

/* --- what the network is told while it advances --- */

static void
free_network (void *user, int64_t time_ps)
{
  Fixture *f = user;

  (void) time_ps;
  fabricast_network_free (f->network);
}

/* A network that a function frees is freed when it has advanced; until then the others are called. */
static void
test_free_while_advancing (void **state)
{
  Fixture *f = *state;
  int64_t before = -1, after = -1, never = -1;

  assert_int_equal (fabricast_network_at (f->network, 1, note, &before, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_at (f->network, 2, free_network, f, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_at (f->network, 3, note, &after, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_at (f->network, 5, note, &never, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_advance (f->network, 4, NULL), FABRICAST_OK);
  f->network = NULL;
  assert_int_equal (before, 1);
  assert_int_equal (after, 3);
  assert_int_equal (never, -1);
}

/* Whoever is told nothing is not called, and the others are. */
static void
test_nobody_is_told (void **state)
{
  Fixture *f = *state;
  int64_t done = -1, alone = -1;

  assert_int_equal (fabricast_network_send (f->network, 0, 8, 1 << 20, note, &alone, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_send (f->network, 0, 8, 1 << 20, NULL, NULL, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_send (f->network, 0, 0, 1 << 20, NULL, NULL, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_send (f->network, 2, 2, 1 << 20, note, &done, NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
  assert_int_equal (done, alone);
  assert_int_equal (fabricast_network_now (f->network), 2 * alone);
}

/* Nothing is known of no network, and to free none is allowed. */
static void
test_no_network (void **state)
{
  (void) state;
  assert_int_equal (fabricast_network_ranks (NULL), 0);
  assert_int_equal (fabricast_network_now (NULL), 0);
  assert_true (fabricast_network_next (NULL) == INT64_MAX);
  fabricast_network_free (NULL);
}

/* A scenario that changes while it runs belongs to a run; one that is mistaken makes no network. Where the only
 * port of a node is dead from the start, no path leads there. */
static void
test_scenarios_that_are_no_network (void **state)
{
  static const struct {
    const char *key;
    int status;
    const char *words;
  } cases[] = {
    { "cluster.nodes=0", FABRICAST_INPUT, "nodes" },
    { "faults=[{what: nic, name: node0/nic0, rate: 50%, at: 1ms}]", FABRICAST_UNSUPPORTED,
      "which belong to a run" },
    { "neighbours=[{name: n, nodes: 1, first: 1, job: {kind: collective, operations: [{op: all_reduce, size: 1B}]}}]",
      FABRICAST_UNSUPPORTED, "which belong to a run" },
  };
  Fixture *f = *state;

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FabricastScenario *scenario = NULL;
    FabricastNetwork *network = NULL;
    FabricastError *error = NULL;

    assert_int_equal (fabricast_scenario_copy (f->scenario, &scenario, NULL), FABRICAST_OK);
    assert_int_equal (fabricast_scenario_assign (scenario, cases[i].key, NULL), FABRICAST_OK);
    assert_int_equal (fabricast_network_new (scenario, &network, &error), cases[i].status);
    assert_null (network);
    if (strstr (fabricast_error_message (error), cases[i].words) == NULL)
      fail_msg ("%s", fabricast_error_message (error));
    fabricast_error_free (error);
    fabricast_scenario_free (scenario);
  }
}

/* Messages between all pairs of a ring of 12 x 2 wait for each other in a circle where a link has one lane: nothing is
 * due, and what waits is counted. Up to a time of the host nobody can tell whether it waits forever. */
static void
test_jams (void **state)
{
  static const char *const words[] = { "1 transfer waits forever, because no event is due",
                                       "2 transfers wait forever, because no event is due" };
  Fixture *f = *state;

  for (int n = 1; n <= 2; n++) {
    FabricastScenario *scenario = NULL;
    FabricastNetwork *network = NULL;
    FabricastError *error = NULL;
    int64_t done = -1;

    assert_int_equal (fabricast_scenario_new (f->context, &scenario, NULL), FABRICAST_OK);
    assert_int_equal (
        fabricast_scenario_assign (scenario,
                                   "cluster={node: dgx-h100, gpus_per_node: 1, nics_per_node: 1, nodes: 24,"
                                   " fabric: {kind: torus, dimensions: 2, x: 12, y: 2}}",
                                   NULL),
        FABRICAST_OK);
    assert_int_equal (fabricast_scenario_assign (scenario, "fidelity={kind: packet, buffer: 8KiB, lanes: 1}",
                                                 NULL),
                      FABRICAST_OK);
    assert_int_equal (fabricast_scenario_assign (scenario, "collectives=plain", NULL), FABRICAST_OK);
    assert_int_equal (fabricast_network_new (scenario, &network, NULL), FABRICAST_OK);
    for (int i = 0; i < n; i++)
      assert_int_equal (fabricast_network_collective (network, "all_to_all", NULL, 0, 4000000, note, &done,
                                                      NULL),
                        FABRICAST_OK);
    assert_int_equal (fabricast_network_advance (network, INT64_C (1000000000000), NULL), FABRICAST_OK);
    assert_int_equal (fabricast_network_advance (network, INT64_MAX, &error), FABRICAST_HUNG);
    assert_string_equal (fabricast_error_message (error), words[n - 1]);
    assert_int_equal (done, -1);
    fabricast_error_free (error);
    fabricast_network_free (network);
    fabricast_scenario_free (scenario);
  }
}

static void
look (void *user, int64_t time_ps)
{
  (void) time_ps;
  *(int *) user = fegetround ();
}

/* A host that rounds upward finds its environment in its functions, and after each call. */
static void
test_environment (void **state)
{
  Fixture *f = *state;
  int found[3] = { -1, -1, -1 };

  fesetround (FE_UPWARD);
  assert_int_equal (fabricast_network_at (f->network, 5, look, &found[0], NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_send (f->network, 0, 1, 100, look, &found[1], NULL), FABRICAST_OK);
  assert_int_equal (fabricast_network_collective (f->network, "all_reduce", NULL, 0, 100, look, &found[2],
                                                  NULL),
                    FABRICAST_OK);
  assert_int_equal (fabricast_network_advance (f->network, INT64_MAX, NULL), FABRICAST_OK);
  assert_int_equal (fegetround (), FE_UPWARD);
  fesetround (FE_TONEAREST);
  for (int i = 0; i < 3; i++)
    assert_int_equal (found[i], FE_UPWARD);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_sharing, setup, teardown),
    cmocka_unit_test_setup_teardown (test_host_clock, setup, teardown),
    cmocka_unit_test_setup_teardown (test_collective_as_in_job, setup, teardown),
    cmocka_unit_test_setup_teardown (test_ring_in_lockstep, setup, teardown),
    cmocka_unit_test_setup_teardown (test_sends_as_in_job, setup, teardown),
    cmocka_unit_test_setup_teardown (test_streams_that_cannot_be, setup, teardown),
    cmocka_unit_test_setup_teardown (test_misuse, setup, teardown),
    cmocka_unit_test_setup_teardown (test_groups, setup, teardown),
    cmocka_unit_test_setup_teardown (test_groups_are_told_apart, setup, teardown),
    cmocka_unit_test_setup_teardown (test_nothing_takes_no_time, setup, teardown),
    cmocka_unit_test_setup_teardown (test_streams, setup, teardown),
    cmocka_unit_test_setup_teardown (test_environment, setup, teardown),
    cmocka_unit_test_setup_teardown (test_more_than_the_clock_holds, setup, teardown),
    cmocka_unit_test_setup_teardown (test_time_is_left_when_traffic_has_ended, setup, teardown),
    cmocka_unit_test_setup_teardown (test_a_byte_may_be_heavy, setup, teardown),
    cmocka_unit_test_setup_teardown (test_free_while_advancing, setup, teardown),
    cmocka_unit_test_setup_teardown (test_nobody_is_told, setup, teardown),
    cmocka_unit_test (test_no_network),
    cmocka_unit_test_setup_teardown (test_jams, setup, teardown),
    cmocka_unit_test_setup_teardown (test_scenarios_that_are_no_network, setup, teardown),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
