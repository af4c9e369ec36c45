/* SPDX-License-Identifier: Apache-2.0 */
/* mix.h - pseudo-random numbers that are the same on every machine, by the finaliser of splitmix64 (Steele, Lea and
 * Flood, OOPSLA 2014). */
#pragma once

#include <glib.h>

/* Returns a number that depends on all bits of `seed` and `key`; similar keys give unrelated numbers. */
static inline guint64
fab_mix (guint64 seed, guint64 key)
{
  guint64 z = seed * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) + key + G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return z ^ (z >> 31);
}
