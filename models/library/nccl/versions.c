/* SPDX-License-Identifier: Apache-2.0 */
/* versions.c - releases of NCCL: what a scenario writes, which one runs where it writes none, and what they can drive.
 *
 * A release is an integer, as NCCL_VERSION_CODE is: 2.29.2 is 22902. "2.29" without a patch number stands for the last
 * release of that line, 22999. RCCL counts as the NCCL release from which it was made.
 *
 * Default: the newest release that drives the generation with the newest CUDA toolkit. That is 2.30.7 from Turing on.
 * CUDA 13 (August 2025) no longer builds for Pascal and Volta, so that they have the newest release of that month,
 * 2.27.7. RCCL: 2.27.7, of ROCm 7.1, on CDNA 3 and 4; 2.22.3, of ROCm 6.4, before.
 *
 * What the tuner believes differs from release to release. The tables below say from which release on a constant has
 * which value; they come from src/graph/tuning.cc of 2.14.3, 2.16.5, 2.18.6 and of every line from 2.19 to 2.30.7. The
 * constants of before 2.18 are those of 2.16.5. The rows of algorithms.c and tables.c have the newest ones. What a
 * collective really takes (cost.c) does not depend on what a release believes.
 */
#include <string.h>

#include "models/library/nccl/parts.h"
#include "sim/base/error.h"

enum { LAST_PATCH = 99, PS_PER_NS = 1000 };

guint
nccl_version_parse (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, ".", -1);
  guint n = g_strv_length (parts);
  guint64 numbers[] = { 0, 0, LAST_PATCH };

  if (n < 2 || n > G_N_ELEMENTS (numbers))
    return 0;
  for (guint i = 0; i < n; i++)
    if (!g_ascii_string_to_unsigned (parts[i], 10, 0, LAST_PATCH, &numbers[i], NULL))
      return 0;
  guint64 version = numbers[0] * 10000 + numbers[1] * 100 + numbers[2];
  return version >= NCCL_OLDEST_VERSION && version <= NCCL_NEWEST_VERSION ? (guint) version : 0;
}

char *
nccl_version_text (guint version)
{
  guint patch = version % 100;

  return patch == LAST_PATCH ? g_strdup_printf ("%u.%u", version / 10000, version / 100 % 100)
                             : g_strdup_printf ("%u.%u.%u", version / 10000, version / 100 % 100, patch);
}

guint
nccl_version_of (const NcclParams *params, const NcclArchitecture *architecture)
{
  guint version = params->nccl_version != NULL ? nccl_version_parse (params->nccl_version) : 0;

  return version > 0 ? version : architecture->default_version;
}

gboolean
nccl_version_check (const NcclParams *params, const NcclArchitecture *architecture, GError **error)
{
  guint version = nccl_version_of (params, architecture);

  if (version >= architecture->least_version)
    return TRUE;
  g_autofree char *text = nccl_version_text (version),
                  *least = nccl_version_text (architecture->least_version);
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "collectives.nccl_version: %s does not support accelerators of the architecture %s; the first release "
      "that does is %s",
      text, architecture->name, least);
}

/* Before 2.12 the host wrote an element of work for every channel: 220 ns, from 1 to 24 channels of
 * a100x8_nvswitch_allreduce_8. Before 2.22 chunks were whole multiples of blocks (src/device/all_reduce.h). */
void
nccl_version_apply (guint version, NcclParams *params)
{
  if (version < 21200 && params->issue_channel_ps == 0)
    params->issue_channel_ps = 220 * PS_PER_NS;
  if (version < 22200)
    params->has_whole_chunks = TRUE;
}

/* --- what a release believes --- */

typedef struct {
  guint version; /* from this one on */
  double value;
} Since;

/* The value of the last row that applies; `otherwise` where none does. Rows ascend. */
static double
value_at (const Since *rows, guint n, guint version, double otherwise)
{
  for (guint i = 0; i < n && version >= rows[i].version; i++)
    otherwise = rows[i].value;
  return otherwise;
}

#define AT(version, otherwise, ...)                                                                   \
  value_at ((const Since[]){ __VA_ARGS__ }, sizeof ((const Since[]){ __VA_ARGS__ }) / sizeof (Since), \
            version, otherwise)

static void
set (double *to, double one, double two, double more)
{
  to[0] = one;
  to[1] = two;
  to[2] = more;
}

/* Caps of Hopper. Before 2.18 they were those of Ampere, and LL128 had 20 GB/s everywhere. */
static void
hopper_caps (guint version, NcclCaps *caps)
{
  caps->ll_GBps[0] = AT (version, 87.7, { 22105, 141 });
  if (version < 21800) {
    set (caps->tree_simple_GBps, 24, 23.6, 17.8);
    set (caps->ring_ll128_GBps, 20, 20, 20);
    set (caps->tree_ll128_GBps, 20, 20, 20);
  }
  if (version < 22803)
    set (caps->nvls_tree_GBps, 0, 0, 0);
}

/* Caps of Blackwell: twice those of Hopper in 2.25. Rings over two nodes got their own in 2.28.7. */
static void
blackwell_caps (guint version, NcclCaps *caps)
{
  set (caps->ring_ll128_GBps, AT (version, 73.4, { 22902, 34.5 }, { 22907, 40 }),
       AT (version, 73.4, { 22807, 34.6 }, { 22907, 40 }),
       AT (version, 73.4, { 22902, 34.5 }, { 22907, 40 }));
  if (version < 22803) {
    set (caps->tree_ll128_GBps, 73.4, 73.4, 58);
    set (caps->tree_simple_GBps, 77.4, 82.8, 72);
    set (caps->nvls_tree_GBps, 0, 0, 0);
  } else {
    caps->nvls_tree_GBps[2] = AT (version, 43.1, { 22809, 43.8 }, { 23003, 80 });
  }
}

void
nccl_caps (guint version, const NcclArchitecture *architecture, NcclCaps *caps)
{
  *caps = architecture->caps;
  if (architecture->is_rccl)
    return;
  if (architecture->generation == 9)
    hopper_caps (version, caps);
  else if (architecture->generation >= 10)
    blackwell_caps (version, caps);
}

static void
old_tree (guint version, NcclTuning *tuning)
{
  const double inside = AT (version, 28, { 21800, 4 }, { 21900, 28 }, { 22300, 4 });

  tuning->nvlink_us[NCCL_SIMPLE] = inside;
  tuning->pci_us[NCCL_SIMPLE] = AT (version, 28, { 21800, 6 }, { 21900, 28 }, { 22300, 4 });
  tuning->net_us[NCCL_SIMPLE] = AT (version, 28, { 21800, 14 }, { 21900, 28 }, { 22300, 14 });
  if (version < 22300)
    tuning->base_us[NCCL_SIMPLE] = 0;
  if (version < 21800) {
    tuning->base_us[NCCL_LL] = tuning->base_us[NCCL_LL128] = 4.4;
    tuning->nvlink_us[NCCL_LL] = 0.52;
  }
}

static void
old_ring (guint version, NcclTuning *tuning)
{
  if (version >= 21800)
    return;
  tuning->base_us[NCCL_LL] = 3.6;
  tuning->base_us[NCCL_LL128] = 10;
  tuning->nvlink_us[NCCL_LL] = 0.47;
  tuning->net_us[NCCL_SIMPLE] = 9.6;
}

/* In 2.17 and 2.18 the whole time of NVLS was its base. */
static void
old_nvls (guint version, gboolean is_tree, NcclTuning *tuning)
{
  tuning->nvlink_us[NCCL_SIMPLE] = AT (version, 23, { 22105, 25 });
  if (is_tree)
    tuning->net_us[NCCL_SIMPLE] = AT (version, 19, { 21900, 14 }, { 22809, 20.9 });
}

/* Since 2.23 a ring with one GPU per node has the network latencies of a tree, because nothing hides them. */
void
nccl_tuning_of (const NcclCandidate *common, NcclTuning *tuning)
{
  const char *model = common->algorithm->model;
  guint version = common->version;

  *tuning = *common->tuning;
  if (common->architecture->is_rccl)
    return;
  if (strcmp (model, "tree") == 0)
    old_tree (version, tuning);
  else if (strcmp (model, "ring") == 0)
    old_ring (version, tuning);
  else if (g_str_has_prefix (model, "nvls"))
    old_nvls (version, strcmp (model, "nvls_tree") == 0, tuning);
  if (version >= 22300 && common->group->gpus_per_node == 1 && strcmp (model, "ring") == 0)
    set (tuning->net_us, 5.0, 8.5, 14);
}
