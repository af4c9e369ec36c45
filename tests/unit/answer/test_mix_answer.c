/* SPDX-License-Identifier: Apache-2.0 */
/* test_mix_answer.c - the jobs that a mix draws or reads, its figures, and what no mix can be. */
#include "tests/support/test.h"

#include <glib/gstdio.h>

#include "answer/mix_losses.h"
#include "sim/base/error.h"
#include "tests/unit/answer/mixes.h"

static FabCatalog *catalog;

static Play *
load (const char *more)
{
  g_autofree char *yaml = g_strconcat ("name: mixed\n" CLUSTER EXCHANGE "\n", more, NULL);

  return play_new (catalog, yaml, NULL);
}

static double
mean_gap (const FabMixAnswer *self, guint which, guint *n, double *work_mean, double *work_log_sd)
{
  double last_s = 0, sum = 0, squares = 0, work = 0;

  *n = 0;
  for (guint i = 0; i < self->jobs->len; i++) {
    const FabMixJob *job = job_at (self, i);

    if (job->kind != which)
      continue;
    assert_true (job->submit_s > last_s);
    last_s = job->submit_s;
    work += job->work_s;
    sum += log (job->work_s);
    squares += log (job->work_s) * log (job->work_s);
    (*n)++;
  }
  *work_mean = work / *n;
  *work_log_sd = sqrt (MAX (squares / *n - sum / *n * (sum / *n), 0));
  return last_s / *n;
}

/* Exponential gaps, and log-normal lengths: means within four standard errors. The jobs of a kind do not change when
 * another kind is added behind it; another seed gives others. */
static void
jobs_arrive_at_random (G_GNUC_UNUSED void **state)
{
  static const char two[] =
      "mix:\n  jobs:\n    - {name: a, nodes: 1, count: 2000, every: 10min, work: 30s, priority: 3, " RING
      "}\n"
      "    - {name: b, nodes: 2, count: 1000, every: 20min, work: 50s, spread: 0.5, priority: 7, " RING "}\n";
  static const char one[] =
      "mix:\n  jobs:\n    - {name: a, nodes: 1, count: 2000, every: 10min, work: 30s, priority: 3, " RING
      "}\n";
  g_autofree char *seeded = g_strconcat ("seed: 2\n", one, NULL);
  g_autoptr (Play) play = load (two), alone = load (one), other = load (seeded);
  g_autoptr (FabMixAnswer) self = good (play->scenario), without = good (alone->scenario),
                           reseeded = good (other->scenario);
  double mean, sd;
  guint n;

  assert_near (mean_gap (self, 0, &n, &mean, &sd), 600, 4 / sqrt (2000));
  assert_int_equal (n, 2000);
  assert_near (mean, 30, 1e-12);
  assert_near (sd + 1, 1, 1e-6);
  assert_near (mean_gap (self, 1, &n, &mean, &sd), 1200, 4 / sqrt (1000));
  assert_int_equal (n, 1000);
  assert_near (mean, 50, 4 * sqrt (exp (0.25) - 1) / sqrt (1000));
  assert_near (sd, 0.5, 4 / sqrt (2 * 1000));
  assert_int_equal (self->jobs->len, 3000);
  guint k = 0, n_equal = 0;
  for (guint i = 0; i < self->jobs->len; i++) {
    const FabMixJob *job = job_at (self, i);

    assert_true (i == 0 || job->submit_s >= job_at (self, i - 1)->submit_s);
    assert_int_equal (job->n_nodes, job->kind == 0 ? 1 : 2);
    assert_int_equal (job->priority, job->kind == 0 ? 3 : 7);
    if (job->kind == 0) {
      assert_true (job->submit_s == job_at (without, k)->submit_s);
      n_equal += job->submit_s == job_at (reseeded, k++)->submit_s;
    }
  }
  assert_int_equal (n_equal, 0);
  assert_int_equal (kind_at (self, 0)->n_jobs, 2000);
  assert_int_equal (kind_at (self, 1)->n_jobs, 1000);
  double less = 0; /* gaps are exponential: 1 - 1/e of them are shorter than the mean */
  for (guint i = 1; i < without->jobs->len; i++)
    less += job_at (without, i)->submit_s - job_at (without, i - 1)->submit_s < 600;
  assert_near (less / 1999, 1 - exp (-1), 4 * sqrt (0.37 / 0.63 / 2000));
}

/* --- figures --- */

static int
order (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* The least of n sorted values that `fraction` of them do not exceed. */
static double
nearest (double *values, guint n, double fraction)
{
  qsort (values, n, sizeof *values, order);
  for (guint i = 0; i < n; i++)
    if ((i + 1.0) / n >= fraction - 1e-12)
      return values[i];
  return 0;
}

static void
check_figures (const FabMixAnswer *self, const FabMixFigures *told, guint which)
{
  double waits[4096], slowdowns[4096], busy = 0, useful = 0, wait = 0, slowdown = 0, groups = 0;
  double places = 0, sharing = 0, undone = 0, down = 0, checkpoint = 0, slowed = 0;
  guint n = 0, failures = 0, preempted = 0;

  for (guint i = 0; i < self->jobs->len; i++) {
    const FabMixJob *job = job_at (self, i);
    const FabMixOutcome *outcome = &self->play->outcomes[i];

    if (which != G_MAXUINT && job->kind != which)
      continue;
    waits[n] = outcome->end_s - outcome->busy_s - job->submit_s;
    slowdowns[n++] = outcome->busy_s / job->work_s;
    wait += waits[n - 1];
    slowdown += slowdowns[n - 1];
    groups += outcome->n_groups;
    busy += outcome->busy_s * job->n_nodes;
    useful += job->work_s * job->n_nodes;
    places += outcome->places_lost_s * job->n_nodes;
    sharing += outcome->sharing_lost_s * job->n_nodes;
    undone += outcome->undone_s * job->n_nodes;
    down += outcome->down_s * job->n_nodes;
    checkpoint += outcome->checkpoint_s * job->n_nodes;
    slowed += outcome->slowed_s * job->n_nodes;
    failures += outcome->n_failures;
    preempted += outcome->n_preempted;
  }
  assert_int_equal (told->n_jobs, n);
  assert_int_equal (told->n_failures, failures);
  assert_int_equal (told->n_preempted, preempted);
  const double pairs[][2] = {
    { told->busy_s, busy },
    { told->useful_s, useful },
    { told->places_lost_s, places },
    { told->sharing_lost_s, sharing },
    { told->undone_s, undone },
    { told->down_s, down },
    { told->checkpoint_s, checkpoint },
    { told->slowed_s, slowed },
    { told->mean_wait_s, n > 0 ? wait / n : 0 },
    { told->mean_slowdown, n > 0 ? slowdown / n : 0 },
    { told->mean_groups, n > 0 ? groups / n : 0 },
    { told->median_wait_s, nearest (waits, n, 0.5) },
    { told->p95_wait_s, nearest (waits, n, 0.95) },
    { told->max_wait_s, nearest (waits, n, 1) },
    { told->p95_slowdown, nearest (slowdowns, n, 0.95) },
    { told->max_slowdown, nearest (slowdowns, n, 1) },
  };
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    if (fabs (pairs[i][0] - pairs[i][1]) > 1e-9 * MAX (fabs (pairs[i][1]), 1e-6))
      fail_msg ("figure %u of kind %d is %.12g, not %.12g", i, (int) which, pairs[i][0], pairs[i][1]);
}

static void
check_fractions (const FabMixAnswer *self)
{
  double all = self->n_nodes * self->span_s;

  assert_near (self->span_s, self->play->last_s - self->play->first_s, 1e-12);
  assert_near (self->used_fraction, self->all.busy_s / all, 1e-12);
  assert_near (self->useful_fraction, self->all.useful_s / all, 1e-12);
  assert_near (self->away_fraction + 1, self->play->away_s / all + 1, 1e-12);
  for (guint g = 0; g < self->machine.n_groups; g++)
    assert_true (self->play->group_load[g] <= self->play->group_load[self->busiest]);
}

/* What another rule would give is what a mix of that rule gives. */
static void
check_changes (const Play *play, const FabMixAnswer *self, const char *const *names)
{
  guint i = 0;

  for (; names[i] != NULL; i++) {
    assert_true (i < self->changes->len);
    const FabMixChange *change = &g_array_index (self->changes, FabMixChange, i);
    g_autoptr (FabScenario) copy = fab_scenario_copy (play->scenario);
    g_autoptr (GError) error = NULL;

    assert_string_equal (change->name, names[i]);
    assert_near (change->used_fraction, change->figures.busy_s / (self->n_nodes * change->span_s), 1e-12);
    assert_near (change->useful_fraction, change->figures.useful_s / (self->n_nodes * change->span_s), 1e-12);
    if (strcmp (change->name, "uplinks that never bind") == 0) {
      assert_null (change->edit);
      assert_true (change->figures.places_lost_s == 0 && change->figures.sharing_lost_s == 0);
      continue;
    }
    if (strcmp (change->name, "nothing fails") == 0) {
      assert_null (change->edit);
      assert_true (change->figures.n_failures == 0 && change->figures.undone_s == 0);
      continue;
    }
    if (!fab_scenario_assign (copy, change->edit, &error) || !fab_scenario_check (copy, &error))
      fail_msg ("%s", error->message);
    g_autoptr (FabMixAnswer) other = good (copy);
    assert_near (change->span_s, other->span_s, 1e-12);
    assert_near (change->figures.busy_s, other->all.busy_s, 1e-12);
    assert_near (change->figures.mean_wait_s + 1, other->all.mean_wait_s + 1, 1e-12);
    assert_near (change->figures.max_slowdown, other->all.max_slowdown, 1e-12);
    assert_int_equal (change->figures.n_preempted, other->all.n_preempted);
  }
  assert_int_equal (self->changes->len, i);
}

/* The rules of the scenario. */
static FabMixRules
rules_of (const Play *play)
{
  const FabScenarioSpec *spec = fab_scenario_spec (play->scenario);

  return (FabMixRules){ .placement = (FabMixPlacement) spec->mix.placement,
                        .order = (FabMixOrder) spec->mix.order,
                        .has_backfill = spec->mix.has_backfill,
                        .has_preemption = spec->mix.has_preemption,
                        .has_failures = spec->reliability.failures != NULL,
                        .n_spares = (guint) spec->reliability.spares,
                        .seed = (guint64) spec->seed };
}

/* The jobs of the answer by other rules. (transfer full) */
static FabMixPlay *
played_by (const FabMixAnswer *self, const FabMixRules *rules)
{
  g_autofree FabMixKind *tables = g_new (FabMixKind, self->kinds->len);

  for (guint i = 0; i < self->kinds->len; i++)
    tables[i] = kind_at (self, i)->table;
  return fab_mix_play (&self->machine, tables, (const FabMixJob *) self->jobs->data, self->jobs->len, rules,
                       NULL);
}

/* As if all that send take the same uplinks, played by hand. */
static void
check_worst (const Play *play, const FabMixAnswer *self)
{
  FabMixRules rules = rules_of (play);
  double sharing = 0;

  rules.is_crowded = TRUE;
  g_autoptr (FabMixPlay) crowded = played_by (self, &rules);
  for (guint i = 0; i < self->jobs->len; i++)
    sharing += crowded->outcomes[i].sharing_lost_s * job_at (self, i)->n_nodes;
  assert_near (self->worst.sharing_lost_s, sharing, 1e-9);
  assert_near (self->worst_span_s, crowded->last_s - crowded->first_s, 1e-12);
}

static void
figures_are_those_of_the_jobs (G_GNUC_UNUSED void **state)
{
  static const char *const placements[] = { "packed", "spread", "first", "random" };
  static const char *const orders[] = { "fifo", "priority", "shortest" };

  for (guint i = 0; i < 12; i++) {
    gboolean is_priority = i % 3 == 1, has_backfill = i % 2 == 0, has_preemption = is_priority && i > 5;
    g_autofree char *rules = g_strdup_printf ("  placement: %s\n  order: %s\n  backfill: %s\n%s",
                                              placements[i / 3], orders[i % 3],
                                              has_backfill ? "true" : "false",
                                              has_preemption ? "  preempt: true\n" : "");
    g_autofree char *text = g_strconcat (THREE_KINDS, rules, NULL);
    g_autoptr (Play) play = load (text);
    g_autoptr (FabMixAnswer) self = good (play->scenario);
    const char *names[8];
    guint n = 0;
    static const char *const placed[] = { "placement packed", "placement spread", "placement first",
                                          "placement random" };

    for (guint p = 0; p < 4; p++)
      if (p != i / 3)
        names[n++] = placed[p];
    names[n++] = has_backfill ? "without backfilling" : "with backfilling";
    if (is_priority)
      names[n++] = has_preemption ? "without preemption" : "with preemption";
    names[n++] = "uplinks that never bind";
    names[n] = NULL;
    check_figures (self, &self->all, G_MAXUINT);
    for (guint k = 0; k < 3; k++)
      check_figures (self, &self->by_kind[k], k);
    check_fractions (self);
    check_worst (play, self);
    check_changes (play, self, names);
  }
}

/* --- failures --- */

#define TRAINING                                                                                   \
  "job: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 1024, compute: {kind: mfu, mfu: 40%}, " \
  "checkpoint: {to: network, total: 10GB/s}}"

/* Two hundred failures a year of each node, of which each takes the node, and a hundred planned stops. A kind of four
 * nodes has four times as many. All rules of the scenario hold, and where nothing fails nobody is undone. */
static void
jobs_fail_as_the_scenario_says (G_GNUC_UNUSED void **state)
{
  static const char yaml[] =
      "name: failing\nseed: 3\n" CLUSTER TRAINING
      "\nfailures: [{name: ours, classes: [{name: a, per: node, per_year: 200, repair: true}, "
      "{name: b, per: node, per_year: 100, does: planned}]}]\n"
      "reliability: {failures: ours, detection: 10min, restart: 5min, repair: 4h, spares: 1}\n"
      "mix: {jobs: [{name: one, nodes: 1, count: 30, every: 2h, work: 20h, " TRAINING
      "}, {name: four, nodes: 4, count: 20, every: 4h, work: 30h, " TRAINING "}]}\n";
  static const char *const names[] = { "placement spread",    "placement first", "placement random",
                                       "without backfilling", "nothing fails",   "uplinks that never bind" };
  const double year_s = 365.25 * 86400;
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  g_autoptr (FabMixAnswer) self = good (play->scenario);
  FabMixRules rules[G_N_ELEMENTS (names)];

  for (guint i = 0; i < 2; i++) {
    const FabMixFailures *failures = &kind_at (self, i)->failures;

    assert_ptr_equal (kind_at (self, i)->table.failures, failures);
    assert_near (failures->stops_per_s * year_s, i == 0 ? 200 : 800, 1e-9);
    assert_near (failures->breaks_per_s * year_s, i == 0 ? 200 : 800, 1e-9);
    assert_near (failures->planned_per_s * year_s, i == 0 ? 100 : 400, 1e-9);
    assert_near (failures->repair_s, 4 * 3600, 1e-12);
    assert_near (failures->detection_s, 600, 1e-12);
  }
  check_figures (self, &self->all, G_MAXUINT);
  check_fractions (self);
  check_worst (play, self);
  assert_true (self->all.n_failures > 10 && self->all.undone_s > 0);
  assert_int_equal (self->changes->len, G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    rules[i] = rules_of (play);
  rules[0].placement = FAB_MIX_SPREAD;
  rules[1].placement = FAB_MIX_FIRST;
  rules[2].placement = FAB_MIX_RANDOM;
  rules[3].has_backfill = FALSE;
  rules[4].has_failures = FALSE;
  rules[5].is_ideal = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const FabMixChange *change = &g_array_index (self->changes, FabMixChange, i);
    g_autoptr (FabMixPlay) other = played_by (self, &rules[i]);
    double busy_s = 0;

    for (guint k = 0; k < self->jobs->len; k++)
      busy_s += job_at (self, k)->n_nodes * other->outcomes[k].busy_s;
    assert_string_equal (change->name, names[i]);
    assert_int_equal (change->edit == NULL, i > 3);
    assert_near (change->figures.busy_s, busy_s, 1e-12);
    assert_near (change->span_s, other->last_s - other->first_s, 1e-12);
    assert_int_equal (change->figures.n_failures, other->n_failures);
    assert_int_equal (other->n_failures > 0, i != 4);
  }
}

/* The mean of one job is its own, and a kind of which none came has zeros. */
static void
kinds_of_one_job_and_of_none (G_GNUC_UNUSED void **state)
{
  static const char few[] = "mix:\n  jobs:\n    - {name: many, nodes: 8, count: 5, every: 1s, work: 1h, " RING
                            "}\n"
                            "    - {name: single, nodes: 8, count: 1, every: 10s, work: 1h, " RING "}\n"
                            "    - {name: nobody, nodes: 2, count: 0, " RING "}\n";
  g_autoptr (Play) play = load (few);
  g_autoptr (FabMixAnswer) self = good (play->scenario);

  for (guint k = 0; k < 3; k++)
    check_figures (self, &self->by_kind[k], k);
  assert_int_equal (self->by_kind[1].n_jobs, 1);
  assert_true (self->by_kind[1].mean_wait_s > 60
               && self->by_kind[1].mean_wait_s == self->by_kind[1].max_wait_s);
  assert_true (self->by_kind[2].n_jobs == 0 && self->by_kind[2].mean_slowdown == 0);
}

/* --- logs --- */

/* The path of a log in a file of its own. (transfer full) */
static char *
write_log (const char *text)
{
  char *path = NULL;
  int file = g_file_open_tmp ("mix-XXXXXX.csv", &path, NULL);

  assert_true (file >= 0 && g_close (file, NULL) && g_file_set_contents (path, text, -1, NULL));
  return path;
}

static FabMixAnswer *
logged (const char *rows, Play **play, GError **error)
{
  g_autofree char *path = write_log (rows);
  g_autofree char *text = g_strdup_printf (
      "mix:\n  log: %s\n  jobs:\n    - {name: one, nodes: 1, priority: 9, " RING "}\n"
      "    - {name: four, nodes: 4, " RING "}\n",
      path);

  *play = load (text);
  FabMixAnswer *self = answer_of ((*play)->scenario, error);
  g_remove (path);
  return self;
}

/* By name, or else the kind whose nodes are nearest in proportion; the first of two that are as near. Times count from
 * the first row, and jobs that are larger than the machine are counted alone. */
static void
jobs_of_a_log (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Play) play = NULL;
  g_autoptr (FabMixAnswer) self = logged (
      "submit,duration,nodes,kind,priority\n"
      "100,50,1,,4\n110,60,2,,0\n120,70,3,,0\n130,80,8,,0\n140,90,1,four,2\n150,100,8,one,0\n160,5,9,,0\n170,5,4,,0\n",
      &play, &error);
  static const struct {
    double submit_s, work_s;
    guint n_nodes, kind;
    gint64 priority;
  } wanted[] = { { 0, 50, 1, 0, 4 },  { 10, 60, 2, 0, 0 },  { 20, 70, 3, 1, 0 }, { 30, 80, 8, 1, 0 },
                 { 40, 90, 1, 1, 2 }, { 50, 100, 8, 0, 0 }, { 70, 5, 4, 1, 0 } };

  if (self == NULL)
    fail_msg ("%s", error->message);
  assert_int_equal (self->n_cut, 1);
  assert_int_equal (self->jobs->len, G_N_ELEMENTS (wanted));
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++) {
    assert_true (job_at (self, i)->submit_s == wanted[i].submit_s
                 && job_at (self, i)->work_s == wanted[i].work_s);
    assert_int_equal (job_at (self, i)->n_nodes, wanted[i].n_nodes);
    assert_int_equal (job_at (self, i)->kind, wanted[i].kind);
    assert_int_equal (job_at (self, i)->priority, wanted[i].priority);
  }
  assert_int_equal (kind_at (self, 0)->n_jobs, 3);
  assert_int_equal (kind_at (self, 1)->n_jobs, 4);
}

/* Jobs that never ran are left out; those that failed or were stopped for others count, and are counted apart. */
static void
what_became_of_jobs_of_a_log (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Play) play = NULL;
  g_autoptr (FabMixAnswer) self = logged (
      "submit,start,end,nodes,state,user\n0,10,60,1,COMPLETED,a\n1,10,60,1,FAILED,a\n"
      "2,10,60,1,CANCELLED,a\n3,10,60,1,PREEMPTED,a\n4,,,2,PENDING,a\n5,,,2,PENDING,a\n6,,,2,PENDING,a\n",
      &play, &error);

  if (self == NULL)
    fail_msg ("%s", error->message);
  assert_int_equal (self->jobs->len, 4);
  assert_int_equal (self->n_left_out, 3);
  assert_int_equal (self->n_log_failed, 2);
  assert_int_equal (self->n_log_preempted, 1);
  assert_int_equal (self->n_cut, 0);
}

static void
logs_without_such_jobs (G_GNUC_UNUSED void **state)
{
  static const char *const cases[][2] = {
    { "submit,duration,nodes,kind\n0,5,1,two\n",
      "the log has jobs of kind 'two', and `mix.jobs` has none of that name" },
    { "submit,duration,nodes\n0,5,9\n", "every job of the log is larger than the machine of 8 nodes" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (Play) play = NULL;

    assert_null (logged (cases[i][0], &play, &error));
    assert_string_equal (error->message, cases[i][1]);
  }
}

/* --- what no mix can be --- */

static void
assert_refused (const char *text, FabErrorCode code, const char *words)
{
  g_autoptr (Play) play = play_new (catalog, text, NULL);
  g_autoptr (GError) error = NULL;

  assert_null (answer_of (play->scenario, &error));
  if (strstr (error->message, words) == NULL)
    fail_msg ("'%s' does not say '%s'", error->message, words);
  assert_int_equal (error->code, code);
}

#define ONE_KIND "mix: {jobs: [{name: a, nodes: 2, count: 1, " RING "}]}\n"

static void
what_is_refused (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *words;
    FabErrorCode code;
  } cases[] = {
    { "name: t\n" CLUSTER RING "\n", "t has no mix of jobs: `mix.jobs` lists their kinds", FAB_ERROR_INPUT },
    { "name: t\ncluster: {node: gb200-tray, nodes: 36, fabric: rail}\n" RING "\n" ONE_KIND,
      "18 nodes of 'gb200-tray' share switches of their GPUs", FAB_ERROR_UNSUPPORTED },
    { "name: t\ncluster: {node: dgx-h100, nodes: 8, fabric: torus}\ncollectives: plain\n" RING "\n" ONE_KIND,
      "on a fabric of kind torus jobs send through the switches of other jobs", FAB_ERROR_UNSUPPORTED },
    { "name: t\n" CLUSTER RING "\nfailures: [{name: ours, classes: [{name: gpu, per: gpu, per_year: 1}]}]\n"
      "reliability: {failures: ours}\n" ONE_KIND,
      "mix: jobs 'a' can fail (reliability.failures) and write no checkpoint", FAB_ERROR_INPUT },
    { "name: t\ncluster: {node: dgx-h100, nodes: 4, fabric: rail}\n" RING
      "\nneighbours: [{name: n, nodes: 2, first: 2, " RING "}]\n" ONE_KIND,
      "t has neighbours as well, and a mix has all jobs of the machine", FAB_ERROR_INPUT },
    { "name: t\nnodes: [{name: bare, accelerator: a100-sxm4-80gb, parts: [{name: gpu, kind: accelerator, count: 2}, "
      "{name: cpu, kind: host}], wires: [{from: gpu, to: cpu, link: pcie4-x16}]}]\ncluster: {node: bare}\n"
      "collectives: plain\n" RING "\nmix: {jobs: [{name: a, nodes: 1, count: 1, " RING "}]}\n",
      "and node 0 has a NIC at no switch", FAB_ERROR_UNSUPPORTED },
    { "name: t\n" CLUSTER RING "\nmix: {jobs: [{name: good, nodes: 1, count: 1, " RING
      "}, {name: bad, nodes: 2, count: 1, "
      "job: {kind: megatron, model: gpt2, micro_batch: 1, parallel: {tensor: 4}}}]}\n",
      "mix: jobs 'bad': ", FAB_ERROR_INPUT },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_refused (cases[i].text, cases[i].code, cases[i].words);
}

static void
a_mix_can_be_cancelled (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = load (ONE_KIND);
  g_autoptr (GError) error = NULL;
  const gint cancel = 1;

  assert_null (fab_mix_answer (play->scenario,
                               &(FabMixRequest){ .registry = &fab_models, .n_threads = 1, .cancel = &cancel },
                               &error));
  assert_int_equal (error->code, FAB_ERROR_CANCELLED);
}

/* What cancels is no longer 0 once a run of a kind has ended, and then the queue is not played. */
static void
a_mix_can_be_cancelled_after_its_runs (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = load ("mix: {jobs: [{name: a, nodes: 1, count: 1, " RING "}]}\n");
  g_autoptr (GError) error = NULL;
  FabPulse pulse = { 0 };

  assert_null (fab_mix_answer (
      play->scenario,
      &(FabMixRequest){ .registry = &fab_models, .n_threads = 1, .pulse = &pulse, .cancel = &pulse.n_done },
      &error));
  assert_int_equal (pulse.n_done, 1);
  assert_string_equal (error->message, "the mix was cancelled");
  fab_mix_answer_free (NULL); /* there is none to free */
}

/* What is lost over what the machine has; hours of what is stopped, of each of its GPUs. */
static void
losses_are_shares_of_the_machine (G_GNUC_UNUSED void **state)
{
  guint sizes[] = { 3, 5, 2 }, smallest, largest;
  const FabMixAnswer answer = {
    .machine = { 3, sizes },
    .n_nodes = 10,
    .gpus_per_node = 8,
    .span_s = 36000,
    .worst_span_s = 72000,
    .all = { .busy_s = 200000,
             .places_lost_s = 3600,
             .sharing_lost_s = 7200,
             .undone_s = 10800,
             .down_s = 14400,
             .checkpoint_s = 18000,
             .slowed_s = 21600 },
    .worst = { .busy_s = 100000, .places_lost_s = 400, .sharing_lost_s = 599 },
  };
  FabMixLosses losses = fab_mix_losses (&answer);

  assert_near (losses.places_fraction, 0.01, 1e-12);
  assert_near (losses.sharing_fraction, 0.02, 1e-12);
  assert_near (losses.undone_fraction, 0.03, 1e-12);
  assert_near (losses.down_fraction, 0.04, 1e-12);
  assert_near (losses.checkpoint_fraction, 0.05, 1e-12);
  assert_near (losses.slowed_fraction, 0.06, 1e-12);
  assert_near (losses.worst_sharing_fraction, 599 / 720000.0, 1e-12);
  assert_near (losses.stopped_gpu_hours, 7 * 8, 1e-12);
  assert_near (losses.uplink_node_hours, 3, 1e-12);
  assert_near (losses.uplink_busy_fraction, 0.054, 1e-12);
  assert_near (losses.worst_uplink_busy_fraction, 0.00999, 1e-12);
  assert_false (losses.has_uplink_gain);
  FabMixAnswer more = answer;
  more.worst.sharing_lost_s = 600; /* a hundredth */
  assert_true (fab_mix_losses (&more).has_uplink_gain);
  fab_mix_group_sizes (&answer, &smallest, &largest);
  assert_int_equal (smallest, 2);
  assert_int_equal (largest, 5);
}

/* The verdict of the first kind, or of the first that does not fit. */
static void
the_verdict_is_of_what_does_not_fit (G_GNUC_UNUSED void **state)
{
  FabVerdict *verdicts[3] = { fab_verdict_new (), fab_verdict_new (), fab_verdict_new () };
  static const struct {
    FabBytes needs[3];
    guint wanted;
  } cases[] = { { { 1, 1, 1 }, 0 }, { { 1, 3, 3 }, 1 }, { { 1, 1, 3 }, 2 }, { { 3, 1, 3 }, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabPoint points[3];
    FabMixAnswer answer = { .kinds = g_array_new (FALSE, FALSE, sizeof (FabMixedKind)) };

    for (guint k = 0; k < 3; k++) {
      points[k] = (FabPoint){ .memory_bytes = cases[i].needs[k],
                              .memory_max_bytes = 2,
                              .verdict = verdicts[k] };
      g_array_append_vals (answer.kinds, &(FabMixedKind){ .point = &points[k] }, 1);
    }
    assert_ptr_equal (fab_mix_verdict (&answer), verdicts[cases[i].wanted]);
    g_array_unref (answer.kinds);
  }
  for (guint k = 0; k < 3; k++)
    fab_verdict_free (verdicts[k]);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (jobs_arrive_at_random),
    cmocka_unit_test (figures_are_those_of_the_jobs),
    cmocka_unit_test (jobs_fail_as_the_scenario_says),
    cmocka_unit_test (jobs_of_a_log),
    cmocka_unit_test (logs_without_such_jobs),
    cmocka_unit_test (kinds_of_one_job_and_of_none),
    cmocka_unit_test (what_became_of_jobs_of_a_log),
    cmocka_unit_test (what_is_refused),
    cmocka_unit_test (a_mix_can_be_cancelled),
    cmocka_unit_test (a_mix_can_be_cancelled_after_its_runs),
    cmocka_unit_test (losses_are_shares_of_the_machine),
    cmocka_unit_test (the_verdict_is_of_what_does_not_fit),
  };

  return play_run_tests ("mix_answer", tests, &catalog);
}
