/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_nccl_tests.c - broken outputs of nccl-tests: no crash, a message for what is refused, sane numbers else.
 *
 * As a test it mutates the published ones with the seeds 1 to N_ROUNDS; FAB_TEST_SEED=17 runs that one alone.
 * Compiled with -Dfuzz=true it is a libFuzzer target with the same check.
 */
#include <math.h>

#include "formats/measurement/nccl_tests.h"
#include "tests/support/random.h"

#define N_ROUNDS 4000
#define FIXTURES FAB_SOURCE_DIR "/tests/fixtures/nccl-tests/"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static gboolean
check_input (const char *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabNcclTests) self = fab_nccl_tests_parse ("fuzz", data, size, &error);

  if (self == NULL) {
    if (error == NULL || error->message[0] == '\0' || !g_utf8_validate (error->message, -1, NULL))
      g_error ("refused without a message:\n%.*s", (int) size, data);
    return FALSE;
  }
  if (self->rows->len == 0)
    g_error ("accepted without rows:\n%.*s", (int) size, data);
  for (guint i = 0; i < self->rows->len; i++) {
    const FabNcclTestsRow *row = &g_array_index (self->rows, FabNcclTestsRow, i);

    if (row->size_bytes == 0 || !isfinite (row->busbw_GBps) || !(row->time_us >= 0) || !(row->n_wrong >= 0))
      g_error ("row %u makes no sense:\n%.*s", i, (int) size, data);
  }
  return TRUE;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  (void) check_input ((const char *) data, size);
  return 0;
}

#ifndef FAB_LIBFUZZER

static const char *const words[] = { "#",     " ",       "\n",      "N/A",  "-1",
                                     "nan",   "inf",     "1e400",   "0",    "redop",
                                     "busbw", "time",    "{",       "}",    "[",
                                     "]",     ":",       "null",    "\"",   "<stdout>:",
                                     "0: ",   "\xFF",    "\r\n",    "size", "# size count type",
                                     "-",     "\\u0000", "devices", "\t",   "results" };

static void
mutate_once (Random *random, GString *text)
{
  gsize at = random_below (random, (guint) text->len + 1);
  gsize wanted = random_between (random, 1, 40), span = MIN (wanted, text->len - at);

  switch (random_below (random, 4)) {
  case 0: g_string_erase (text, (gssize) at, (gssize) span); break;
  case 1: g_string_truncate (text, MAX (at, text->len / 2)); break;
  case 2: g_string_insert_c (text, (gssize) at, (char) random_below (random, 256)); break;
  default: g_string_insert (text, (gssize) at, words[random_below (random, G_N_ELEMENTS (words))]); break;
  }
}

static gboolean
run_seed (char *const *inputs, guint n_inputs, guint seed)
{
  Random random = { .state = seed };
  g_autoptr (GString) text = g_string_new (inputs[seed % n_inputs]);

  for (guint n = random_below (&random, 8); n > 0; n--)
    mutate_once (&random, text);
  return check_input (text->str, text->len);
}

int
main (void)
{
  static const char *const files[] = { "superbench-a100x8.txt", "alps-gh200x4.txt", "oci-a100x16.txt",
                                       "eks-t4x2.txt",          "oci-a100x8.json",  "per-iteration.txt",
                                       "no-redop.txt" };
  const char *only = g_getenv ("FAB_TEST_SEED");
  char *inputs[G_N_ELEMENTS (files)];
  guint n_accepted = 0, first = only ? (guint) g_ascii_strtoull (only, NULL, 10) : 1;

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *path = g_strconcat (FIXTURES, files[i], NULL);

    if (!g_file_get_contents (path, &inputs[i], NULL, NULL))
      g_error ("cannot read %s", path);
  }
  for (guint seed = first; seed <= (only ? first : N_ROUNDS); seed++)
    n_accepted += run_seed (inputs, G_N_ELEMENTS (files), seed);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    g_free (inputs[i]);
  g_print ("%u inputs accepted\n", n_accepted);
  return only || (n_accepted > 0 && n_accepted < N_ROUNDS) ? 0 : 1;
}

#endif
