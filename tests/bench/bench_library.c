/* SPDX-License-Identifier: Apache-2.0 */
/* bench_library.c - what-ifs of a small job in one process, through libfabricast (examples/whatifs.c): how many a
 * second, and whether the process grows. */
#include <stdio.h>
#include <string.h>

#include "tests/bench/bench.h"

enum { N_WHATIFS = 2000, N_WHATIFS_LARGE = 100000 };

/* What all runs after the first tenth of them may leave behind: a page of the allocator here and there. */
static const long max_growth_kib = 512;

typedef struct {
  const char *program; /* fabricast, beside which the examples are built */
  guint n;
  long growth_kib, size_kib;
} Library;

static BenchSample
play_whatifs (gpointer data)
{
  Library *self = data;
  g_autofree char *folder = g_path_get_dirname (self->program);
  g_autofree char *program = g_build_filename (folder, "examples", "example_whatifs", NULL);
  g_autofree char *n = g_strdup_printf ("%u", self->n);
  const char *const argv[] = { program, FAB_SOURCE_DIR "/scenarios/hello.yaml", n, NULL };
  BenchChild child = bench_run (argv, NULL);
  const char *grew = child.output ? strstr (child.output, "memory grew by ") : NULL;
  gboolean is_good = child.is_good && grew != NULL
                  && sscanf (grew, "memory grew by %ld KiB of %ld", &self->growth_kib, &self->size_kib) == 2;

  g_free (child.output);
  return (BenchSample){ .value = is_good ? self->n / MAX (child.cpu_s, 1e-6) : 0 };
}

static char *
describe_whatifs (gpointer data)
{
  const Library *self = data;

  return g_strdup_printf ("%u runs leave %ld KiB of %ld behind", self->n, self->growth_kib, self->size_kib);
}

void
bench_library (Bench *bench)
{
  const BenchRow row = { .work = "what-ifs of GPT-2 XL on one DGX A100, through the library",
                         .things = "what-ifs",
                         .once = play_whatifs };
  Library library = { .program = bench_program (bench),
                      .n = bench_is_large (bench) ? N_WHATIFS_LARGE : N_WHATIFS };

  bench_measure (bench, &row, describe_whatifs, &library);
  if (library.growth_kib > max_growth_kib)
    bench_fail (bench, "%u what-ifs leave %ld KiB behind, and %ld may be", library.n, library.growth_kib,
                max_growth_kib);
}
