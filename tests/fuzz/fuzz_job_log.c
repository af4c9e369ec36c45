/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_job_log.c - broken logs of schedulers: nothing crashes, what is refused has a message, what is taken can be
 * played.
 *
 * As a test it mutates the samples below with the seeds 1 to N_ROUNDS; FAB_TEST_SEED=17 runs that one alone. Compiled
 * with -Dfuzz=true it is a libFuzzer target with the same check.
 */
#include <math.h>
#include <string.h>

#include "formats/job_log/job_log.h"
#include "tests/support/random.h"

enum { N_ROUNDS = 20000 };

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_log (const FabJobLog *log)
{
  double before_s = -INFINITY;

  for (guint i = 0; i < log->rows->len; i++) {
    const FabJobLogRow *row = &g_array_index (log->rows, FabJobLogRow, i);

    if (!(row->submit_s >= before_s) || !(row->duration_s > 0) || isinf (row->duration_s) || row->n_nodes < 1)
      g_error ("a job that nobody can play");
    before_s = row->submit_s;
  }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabJobLog) log = fab_job_log_parse ("fuzz", data, size, 8, &error);

  if ((log == NULL) != (error != NULL))
    g_error ("neither a log nor a message");
  if (error != NULL && (error->message[0] == '\0' || !g_utf8_validate (error->message, -1, NULL)))
    g_error ("refused without a message");
  if (log != NULL)
    check_log (log);
  return 0;
}

#ifndef FAB_LIBFUZZER

static const char *const samples[] = {
  "submit,nodes,duration,kind,priority\n1,2,3,a,4\n2024-02-29 01:02:03,1,1-02:03:04,b,0\n",
  "JobID|Submit|Start|End|NNodes\n7|2024-02-29T23:59:00|2024-03-01T00:00:00|2024-03-02T01:02:03|4\n7.0|1|2|3|4\n",
  "; c\n1 5 0 100 32 -1 -1 32 100 -1 1 1 1 1 1 -1 -1 -1\n2 6 0 -1 -1 -1 -1 32 100 -1 0 1 1 1 1 -1 -1 -1\n",
};

static const char *const words[] = { "\n",    ",",   "|",   "-",       ":",
                                     "1e300", "nan", "inf", "-1",      "99999999999999999999",
                                     "\xff",  "T",   ".",   "Unknown", "gpus",
                                     "end",   "\t",  ";" };

static void
mutate_once (Random *random, GString *text)
{
  gsize at = random_below (random, (guint) text->len + 1), span = random_between (random, 1, 20);

  switch (random_below (random, 4)) {
  case 0: g_string_erase (text, (gssize) at, (gssize) MIN (span, text->len - at)); break;
  case 1:
    if (at < text->len)
      text->str[at] = (char) (text->str[at] ^ (1 << random_below (random, 8)));
    break;
  default: g_string_insert (text, (gssize) at, words[random_below (random, G_N_ELEMENTS (words))]); break;
  }
}

static void
run_seed (guint seed)
{
  Random random = { .state = seed };
  g_autoptr (GString) text = g_string_new (samples[seed % G_N_ELEMENTS (samples)]);

  for (guint n = random_below (&random, 5); n > 0; n--)
    mutate_once (&random, text);
  LLVMFuzzerTestOneInput ((const guint8 *) text->str, text->len);
}

int
main (void)
{
  const char *only = g_getenv ("FAB_TEST_SEED");

  if (only != NULL)
    run_seed ((guint) g_ascii_strtoull (only, NULL, 10));
  for (guint seed = 1; only == NULL && seed <= N_ROUNDS; seed++)
    run_seed (seed);
  return 0;
}
#endif
