/* SPDX-License-Identifier: Apache-2.0 */
/* lists.c - lists of algorithms and protocols, written as in NCCL_ALGO and NCCL_PROTO (src/graph/tuning.cc, parseList).
 *
 *   ring,tree                      these two
 *   ^tree                          all but this one
 *   ring;allreduce:tree,nvls       rings, and for all-reduces these two (from NCCL 2.24 on)
 *
 * A later entry counts for its operation. Only the first one may name none, and then counts for all. Upper and lower
 * case are the same, and so are NCCL's names and those of models and operations here.
 */
#include <string.h>

#include "models/library/nccl/parts.h"
#include "sim/base/nearest.h"

static const char *const protocol_names[NCCL_N_PROTOCOLS] = { "ll", "ll128", "simple" };

/* --- elements --- */

/* The bit of an algorithm or a protocol; 0: there is none of that name. */
static guint
bit_of (gboolean is_algorithm, const char *name)
{
  if (is_algorithm) {
    const char *model = fab_nccl_algorithm_model (name);
    g_autofree char *lower = g_ascii_strdown (name, -1);

    for (guint i = 0; nccl_algorithm_at (i) != NULL; i++)
      if (strcmp (nccl_algorithm_at (i)->model, model != NULL ? model : lower) == 0)
        return 1u << i;
    return 0;
  }
  for (guint i = 0; i < NCCL_N_PROTOCOLS; i++)
    if (g_ascii_strcasecmp (protocol_names[i], name) == 0)
      return 1u << i;
  return 0;
}

guint
nccl_algorithm_bit (const NcclAlgorithm *algorithm)
{
  return bit_of (TRUE, algorithm->model);
}

/* Whether NCCL's name of an operation (AllReduce) or the one here (all_reduce) is meant. */
static gboolean
is_op (const char *written, FabOp op)
{
  g_auto (GStrv) words = g_strsplit (fab_op_names[op], "_", -1);
  g_autofree char *name = g_strjoinv ("", words);

  return g_ascii_strcasecmp (written, name) == 0 || g_ascii_strcasecmp (written, fab_op_names[op]) == 0;
}

/* --- the list --- */

static gboolean
parse_elements (gboolean is_algorithm, const char *text, guint *mask, char **message)
{
  gboolean is_but = text[0] == '^';
  g_auto (GStrv) names = g_strsplit (text + is_but, ",", -1);
  guint found = 0;

  for (guint i = 0; names[i] != NULL; i++) {
    const char *name = g_strstrip (names[i]);
    guint bit = bit_of (is_algorithm, name);

    if (bit == 0) {
      g_autofree char *known = is_algorithm ? fab_nccl_algorithm_names () : g_strdup ("LL, LL128, Simple");
      g_autofree char *note = fab_nearest_note (name, known);

      *message = g_strdup_printf ("unknown %s '%s'%s; NCCL has %s", is_algorithm ? "algorithm" : "protocol",
                                  name, note, known);
      return FALSE;
    }
    found |= bit;
  }
  *mask = is_but ? ~found : found;
  return TRUE;
}

static gboolean
put_mask (const char *op_name, guint mask, guint masks[FAB_N_OPS], char **message)
{
  gboolean is_known = FALSE;

  for (guint op = 0; op < FAB_N_OPS; op++)
    if (op_name == NULL || is_op (op_name, op)) {
      masks[op] = mask;
      is_known = TRUE;
    }
  if (!is_known)
    *message = g_strdup_printf ("unknown operation '%s'; write it as all_reduce or AllReduce", op_name);
  return is_known;
}

gboolean
nccl_list_parse (gboolean is_algorithm, const char *text, guint masks[FAB_N_OPS], char **message)
{
  g_auto (GStrv) entries = g_strsplit (text, ";", -1);

  for (guint i = 0; entries[i] != NULL; i++) {
    char *colon = strchr (entries[i], ':');
    const char *elements = colon != NULL ? colon + 1 : entries[i];
    guint mask;

    if (colon == NULL && i > 0) {
      *message = g_strdup_printf ("'%s' names no operation; only the first entry of a list may leave it out",
                                  entries[i]);
      return FALSE;
    }
    if (colon != NULL)
      *colon = '\0';
    if (!parse_elements (is_algorithm, elements, &mask, message)
        || !put_mask (colon != NULL ? g_strstrip (entries[i]) : NULL, mask, masks, message))
      return FALSE;
  }
  return TRUE;
}

gboolean
nccl_asked_parse (const NcclParams *params, NcclAsked *asked, char **message)
{
  *asked = (NcclAsked){ 0 };
  if (params->algorithm != NULL && !nccl_list_parse (TRUE, params->algorithm, asked->algorithms, message))
    return FALSE;
  return params->protocol == NULL || strcmp (params->protocol, "auto") == 0
      || nccl_list_parse (FALSE, params->protocol, asked->protocols, message);
}

/* Whether an operation has an algorithm with a protocol that both lists allow; sends have neither. */
static gboolean
has_any (const NcclAsked *asked, FabOp op)
{
  gboolean is_known = FALSE;

  for (guint i = 0; nccl_algorithm_at (i) != NULL; i++) {
    const NcclAlgorithm *row = nccl_algorithm_at (i);
    gboolean is_free = asked->protocols[op] == 0 || (row->protocol != NULL && asked->algorithms[op] == 0);
    guint allowed = is_free ? row->protocols : row->protocols & asked->protocols[op];

    if (asked->algorithms[op] != 0 && (asked->algorithms[op] >> i & 1) == 0)
      continue;
    is_known = is_known || nccl_has_op (row, op);
    if (nccl_has_op (row, op) && allowed != 0)
      return TRUE;
  }
  return !is_known; /* no algorithm of the list has the operation: what runs it is said when it does */
}

char *
nccl_asked_contradiction (const NcclParams *params, const NcclAsked *asked)
{
  for (guint op = 0; op < FAB_N_OPS; op++)
    if (!has_any (asked, op))
      return g_strdup_printf (
          "protocol '%s' cannot be used with algorithm '%s' for %s; no algorithm of the list supports that "
          "protocol",
          params->protocol, params->algorithm != NULL ? params->algorithm : "auto", fab_op_names[op]);
  return NULL;
}

gboolean
nccl_asked_has_ops (const NcclParams *params)
{
  return (params->algorithm != NULL && strpbrk (params->algorithm, ";:") != NULL)
      || (params->protocol != NULL && strpbrk (params->protocol, ";:") != NULL);
}

/* --- names.h --- */

char *
fab_nccl_list (gboolean is_algorithm, const char *text, char **message)
{
  guint masks[FAB_N_OPS];
  const char *model = is_algorithm ? fab_nccl_algorithm_model (text) : NULL;

  if (!nccl_list_parse (is_algorithm, text, masks, message))
    return NULL;
  return model != NULL ? g_strdup (model) : g_ascii_strdown (text, -1);
}
