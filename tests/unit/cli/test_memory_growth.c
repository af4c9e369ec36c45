/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory_growth.c - what small runs say of the memory of a large one. */
#include "tests/support/test.h"

#include <math.h>

#include "cli/memory_growth.h"

enum { HUGE_PAGE_BYTES = 2 << 20, MOST = 16 };

#define MUCH 1e15 /* bytes of memory */

/* A program whose memory is known: base + each * n + pair * n^2 bytes for each play that is held. */
typedef struct {
  double base_bytes, each_bytes, pair_bytes;
  double odd_bytes; /* more at the sample `odd`, and from there on */
  guint odd;
  guint divisor; /* of numbers that can be played */
  guint most;    /* that can be played; 0: any */
  gulong sample_us;
  guint played[MOST], n_played;
} Program;

static double
play_bytes (const Program *self, double n)
{
  return self->each_bytes * n + self->pair_bytes * n * n;
}

static gboolean
sample (gpointer data, guint n, double *peak_bytes)
{
  Program *self = data;

  assert_true (self->n_played < MOST);
  if (n % self->divisor != 0 || (self->most > 0 && n > self->most))
    return FALSE;
  self->played[self->n_played++] = n;
  g_usleep (self->sample_us);
  *peak_bytes = self->base_bytes + 2 * play_bytes (self, n)
              + (n >= self->odd && self->odd > 0 ? self->odd_bytes : 0);
  return TRUE;
}

/* Holds the estimate of a run beside so many others against what the program takes. */
static void
assert_estimate (Program *program, const guint *tries, double wanted, double within)
{
  FabPeak peak = fab_peak_of (tries, wanted, MUCH, sample, program);

  for (guint n_held = 2; n_held < 8; n_held++) {
    double takes = program->base_bytes + n_held * play_bytes (program, wanted);
    double says = peak.base_bytes + n_held * peak.play_bytes;

    if (fabs (says / takes - 1) > within)
      fail_msg ("%g of %g bytes", says, takes);
  }
}

static const guint tries[] = { 8, 12, 10, 0 };

static void
growth_is_found (void **state)
{
  (void) state;
  const Program programs[] = { { .base_bytes = 20e6, .each_bytes = 3e5 },
                               { .base_bytes = 1e6, .each_bytes = 2e6, .pair_bytes = 5e3 },
                               { .base_bytes = 1e6, .each_bytes = 2e6, .pair_bytes = 1e3 },
                               { .base_bytes = 20e6, .each_bytes = 30e3, .pair_bytes = 1e4 } };

  for (guint i = 0; i < G_N_ELEMENTS (programs); i++) {
    Program program = programs[i];

    program.divisor = 1;
    assert_estimate (&program, tries, 3000, 0.03);
    for (guint k = 0; k < program.n_played; k++)
      assert_int_equal (program.played[k], 8u << k);
  }
}

/* The peak of the program grows by whole pages. Which sample takes the first one is chance. */
static void
a_huge_page_decides_nothing (void **state)
{
  (void) state;
  for (guint odd = 8; odd <= 256; odd *= 2)
    for (double bytes = -HUGE_PAGE_BYTES; bytes <= HUGE_PAGE_BYTES; bytes += HUGE_PAGE_BYTES / 4.0) {
      Program program = {
        .base_bytes = 15e6, .each_bytes = 3e5, .odd_bytes = bytes, .odd = odd, .divisor = 1
      };

      assert_estimate (&program, tries, 3072, 0.06);
    }
}

/* The first number that can be played three times is taken. */
static void
numbers_that_cannot_be_played (void **state)
{
  (void) state;
  Program threes = { .base_bytes = 20e6, .each_bytes = 3e5, .divisor = 3 };

  assert_estimate (&threes, tries, 3000, 0.01);
  assert_int_equal (threes.played[0], 12);

  Program sevens = { .base_bytes = 20e6, .each_bytes = 3e5, .divisor = 7 };
  FabPeak none = fab_peak_of (tries, 3000, MUCH, sample, &sevens);
  assert_true (none.base_bytes == 0 && none.play_bytes == 0);

  /* Three say something, also where no fourth can be played. */
  Program few = { .base_bytes = 20e6, .each_bytes = 3e5, .divisor = 1, .most = 32 };
  assert_estimate (&few, tries, 3000, 0.01);
  assert_int_equal (few.n_played, 3);
}

/* Returns how many samples a program is asked for. */
static guint
count_samples (Program program, double wanted, double most_bytes)
{
  program.divisor = 1;
  fab_peak_of (tries, wanted, most_bytes, sample, &program);
  return program.n_played;
}

static void
samples_are_few (void **state)
{
  (void) state;
  const Program light = { .base_bytes = 20e6, .each_bytes = 3e5 };
  const Program heavy = { .base_bytes = 20e6, .each_bytes = 1e7 };

  /* A page explains 2 MB (wanted / n)^2, for n = 8, 16 and so on, and two plays take 2 * 1e7 * wanted. */
  assert_int_equal (count_samples (heavy, 600, MUCH), 3);
  assert_int_equal (count_samples (heavy, 620, MUCH), 4);
  assert_int_equal (count_samples (heavy, 4 * 600, MUCH), 4);
  assert_int_equal (count_samples (heavy, 4 * 620, MUCH), 5);
  assert_int_equal (count_samples (heavy, 1e6, MUCH), 6);
  /* None is more than half of what is wanted. */
  assert_int_equal (count_samples (light, 127, MUCH), 3);
  assert_int_equal (count_samples (light, 128, MUCH), 4);
  /* Where b alone is too much, nobody asks for c. */
  assert_int_equal (count_samples (light, 1e6, 2 * 3e5 * 1e6 - 1), 3);
  assert_int_equal (count_samples (light, 1e6, 2 * 3e5 * 1e6 + 1), 6);

  Program slow = light;
  slow.sample_us = 2100000;
  assert_int_equal (count_samples (slow, 1e6, MUCH), 4);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (growth_is_found),
    cmocka_unit_test (a_huge_page_decides_nothing),
    cmocka_unit_test (numbers_that_cannot_be_played),
    cmocka_unit_test (samples_are_few),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
