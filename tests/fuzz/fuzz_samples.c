/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_samples.c - files of measurements that anybody may have written: they are read, or refused with a message, and so
 * is who goes on measuring into one. An input is the file itself, or SQL that changes a small good one (database.h).
 */
#include "tests/fuzz/database.h"
#include "tests/fuzz/target.h"
#include "validate/measure/samples.h"

static const FabSeries series = { .kind = FAB_MEASURE_LATENCY,
                                  .backend = (char *) "tcp",
                                  .system = (char *) "made up",
                                  .from = (char *) "a",
                                  .to = (char *) "b",
                                  .n_ranks = 2,
                                  .n_pairs = 1,
                                  .window = 1 };

static gboolean
add_point (FabSamples *samples, GError **error)
{
  FabMeasuredPoint point = { .size_bytes = 8, .time_ps = 1000 }, found = { 0 };
  g_autoptr (GArray) times = NULL;
  gint64 id = 0;

  if (!fab_samples_begin_series (samples, &series, &id, error)
      || !fab_samples_keep (samples, id, 8, 1000, error))
    return FALSE;
  times = fab_samples_of_point (samples, id, 8, error);
  if (times == NULL || !fab_samples_end_point (samples, id, &point, error))
    return FALSE;
  if (!fab_samples_find_point (samples, id, 8, &found, error))
    return *error == NULL;
  return fab_samples_set_machine (samples, "cpu", "made up", error)
      && fab_samples_add_note (samples, "A sentence.", error);
}

static GBytes *
make_good (const char *path)
{
  g_autoptr (GError) error = NULL;
  FabSamples *samples = NULL;

  fuzz_database_remove (path);
  samples = fab_samples_open (path, FAB_SAMPLES_WRITE, &error);
  if (samples == NULL || !add_point (samples, &error) || error != NULL)
    g_error ("no good measurements: %s", error ? error->message : path);
  fab_samples_free (samples);
  return fuzz_database_take (path);
}

static void
check_reading (const char *path)
{
  g_autoptr (GError) error = NULL, second = NULL, third = NULL;
  g_autoptr (FabSamples) samples = fab_samples_open (path, FAB_SAMPLES_READ, &error);

  if (samples == NULL) {
    fuzz_check_message (error);
    return;
  }
  g_autoptr (GPtrArray) all = fab_samples_load (samples, &error);
  g_auto (GStrv) machine = fab_samples_machine (samples, &second),
                 notes = fab_samples_notes (samples, &third);

  if (all == NULL)
    fuzz_check_message (error);
  if (machine == NULL)
    fuzz_check_message (second);
  if (notes == NULL)
    fuzz_check_message (third);
  for (guint i = 0; notes != NULL && notes[i] != NULL; i++)
    fuzz_check_text (notes[i]);
}

static void
check_writing (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabSamples) samples = fab_samples_open (path, FAB_SAMPLES_WRITE, &error);

  if (samples == NULL || !add_point (samples, &error))
    fuzz_check_message (error);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static char *path;
  static GBytes *good;

  if (good == NULL) {
    path = fuzz_database_path ("samples");
    good = make_good (path);
  }
  if (!fuzz_database_write (path, good, data, size))
    return 0;
  check_reading (path);
  check_writing (path);
  fuzz_database_remove (path);
  return 0;
}
