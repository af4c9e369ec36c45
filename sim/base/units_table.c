/* SPDX-License-Identifier: Apache-2.0 */
/* units_table.c - the one list of unit suffixes.
 *
 * A suffix is num / den canonical units. The order within a unit is the order in which
 * the writer prefers them when two texts are equally short. Constant data only.
 */
#include "sim/base/units_table.h"

#define KILO G_GUINT64_CONSTANT (1000)
#define MEGA (KILO * KILO)
#define GIGA (KILO * MEGA)
#define TERA (KILO * GIGA)
#define PETA (KILO * TERA)
#define KIBI G_GUINT64_CONSTANT (1024)
#define MEBI (KIBI * KIBI)
#define GIBI (KIBI * MEBI)
#define TEBI (KIBI * GIBI)
#define PEBI (KIBI * TEBI)

static const FabUnitSuffix time_suffixes[] = {
  { "ps", 1, 1, 0, FALSE },         { "ns", KILO, 1, 0, FALSE }, { "us", MEGA, 1, 0, FALSE },
  { "ms", GIGA, 1, 0, FALSE },      { "s", TERA, 1, 0, FALSE },  { "min", 60 * TERA, 1, 0, TRUE },
  { "h", 3600 * TERA, 1, 0, TRUE }, { NULL, 0, 0, 0, FALSE },
};

static const FabUnitSuffix bytes_suffixes[] = {
  { "B", 1, 1, 0, FALSE },      { "kB", KILO, 1, 3, FALSE },  { "KB", KILO, 1, 3, TRUE },
  { "MB", MEGA, 1, 6, FALSE },  { "GB", GIGA, 1, 9, FALSE },  { "TB", TERA, 1, 12, FALSE },
  { "PB", PETA, 1, 15, FALSE }, { "KiB", KIBI, 1, 0, FALSE }, { "MiB", MEBI, 1, 0, FALSE },
  { "GiB", GIBI, 1, 0, FALSE }, { "TiB", TEBI, 1, 0, FALSE }, { "PiB", PEBI, 1, 0, FALSE },
  { NULL, 0, 0, 0, FALSE },
};

static const FabUnitSuffix length_suffixes[] = {
  { "m", KILO, 1, 0, FALSE },  { "mm", 1, 1, 0, FALSE }, { "cm", 10, 1, 0, FALSE },
  { "km", MEGA, 1, 0, FALSE }, { NULL, 0, 0, 0, FALSE },
};

static const FabUnitSuffix rate_suffixes[] = {
  { "B/s", 1, 1, 0, FALSE },      { "kB/s", KILO, 1, 3, FALSE }, { "KB/s", KILO, 1, 3, TRUE },
  { "MB/s", MEGA, 1, 6, FALSE },  { "GB/s", GIGA, 1, 9, FALSE }, { "TB/s", TERA, 1, 12, FALSE },
  { "PB/s", PETA, 1, 15, FALSE }, { "b/s", 1, 8, 0, FALSE },     { "kb/s", KILO, 8, 0, FALSE },
  { "Mb/s", MEGA, 8, 0, FALSE },  { "Gb/s", GIGA, 8, 0, FALSE }, { "Tb/s", TERA, 8, 0, FALSE },
  { "KiB/s", KIBI, 1, 0, TRUE },  { "MiB/s", MEBI, 1, 0, TRUE }, { "GiB/s", GIBI, 1, 0, TRUE },
  { "TiB/s", TEBI, 1, 0, TRUE },  { "PiB/s", PEBI, 1, 0, TRUE }, { NULL, 0, 0, 0, FALSE },
};

static const FabUnitSuffix flops_suffixes[] = {
  { "FLOP", 1, 1, 0, FALSE },      { "GFLOP", GIGA, 1, 9, FALSE }, { "TFLOP", TERA, 1, 12, FALSE },
  { "PFLOP", PETA, 1, 15, FALSE }, { NULL, 0, 0, 0, FALSE },
};

static const FabUnitSuffix flops_rate_suffixes[] = {
  { "FLOP/s", 1, 1, 0, FALSE },      { "GFLOP/s", GIGA, 1, 9, FALSE }, { "TFLOP/s", TERA, 1, 12, FALSE },
  { "PFLOP/s", PETA, 1, 15, FALSE }, { NULL, 0, 0, 0, FALSE },
};

static const FabUnitSuffix fraction_suffixes[] = {
  { "", 1, 1, 0, FALSE },
  { "%", 1, 1, -2, TRUE },
  { NULL, 0, 0, 0, FALSE },
};

static const FabUnitSuffix plain_suffixes[] = { { "", 1, 1, 0, FALSE }, { NULL, 0, 0, 0, FALSE } };

const FabUnitRow fab_unit_rows[] = {
  [FAB_UNIT_TIME] = { "a time", "a whole number of picoseconds", "600ns", "ps, ns, us, ms, s, min, h",
                      time_suffixes },
  [FAB_UNIT_BYTES] = { "a size", "a whole number of bytes", "25MiB",
                       "B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB", bytes_suffixes },
  [FAB_UNIT_LENGTH] = { "a length", "a whole number of millimetres", "30m", "mm, cm, m, km",
                        length_suffixes },
  [FAB_UNIT_RATE] = { "a rate", "a whole number of bytes per second", "200Gb/s",
                      "Gb/s (bits), GB/s and GiB/s (bytes) and their like", rate_suffixes },
  [FAB_UNIT_FLOPS] = { "an amount of compute", "", "65TFLOP", "FLOP, GFLOP, TFLOP, PFLOP", flops_suffixes },
  [FAB_UNIT_FLOPS_RATE] = { "a compute rate", "", "312TFLOP/s", "FLOP/s, GFLOP/s, TFLOP/s, PFLOP/s",
                            flops_rate_suffixes },
  [FAB_UNIT_FRACTION] = { "a fraction", "", "0.5 or 50%", "none, or %", fraction_suffixes },
  [FAB_UNIT_COUNT] = { "a whole number", "a whole number", "8", "none", plain_suffixes },
  [FAB_UNIT_FACTOR] = { "a number", "", "1.5", "none", plain_suffixes },
};
