/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - numbers for property tests: splitmix64, so a seed means the same on every machine. */
#pragma once

#include <glib.h>
#include <math.h>

typedef struct {
  guint64 state;
} Random;

static inline guint64
random_next (Random *self)
{
  guint64 z = self->state += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* 0 to n - 1. */
static inline guint
random_below (Random *self, guint n)
{
  return (guint) (random_next (self) % n);
}

/* Both ends included. */
static inline guint
random_between (Random *self, guint first, guint last)
{
  return first + random_below (self, last - first + 1);
}

/* True `percent` times of a hundred. */
static inline gboolean
random_chance (Random *self, guint percent)
{
  return random_below (self, 100) < percent;
}

static inline double
random_unit (Random *self)
{
  return (double) (random_next (self) >> 11) * 0x1p-53;
}

/* Every order of magnitude is as likely as any other. */
static inline double
random_scale (Random *self, double low, double high)
{
  return low * pow (high / low, random_unit (self));
}
