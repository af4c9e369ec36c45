/* SPDX-License-Identifier: Apache-2.0 */
/* versions.c - releases of NCCL: what a scenario writes, which one runs where it writes none, and what they can drive.
 *
 * A release is an integer, as NCCL_VERSION_CODE is: 2.29.2 is 22902. "2.29" without a patch number stands for the last
 * release of that line, 22999. RCCL counts as the NCCL release from which it was made.
 *
 * Default: the newest release that drives the generation with the newest CUDA toolkit. That is 2.30.7 from Turing on.
 * CUDA 13 (August 2025) no longer builds for Pascal and Volta, so that they have the newest release of that month,
 * 2.27.7. RCCL: 2.27.7, of ROCm 7.1, on CDNA 3 and 4; 2.22.3, of ROCm 6.4, before.
 */
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
      "collectives.nccl_version: %s cannot drive accelerators of the architecture %s; the first "
      "release that can is %s",
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
