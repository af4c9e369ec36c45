/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_env.c - NCCL's environment variables as keys of the scenario.
 *
 * A variable that changes what NCCL does and has no key here is refused: a prediction must not look as if it knew.
 * Names and values: NCCL user guide, "Environment Variables". Messages name a variable as mpirun -x takes it.
 */
#include "answer/nccl_env.h"

#include <string.h>

#include "models/library/nccl/names.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

typedef gboolean (*Convert) (const char *value, const char *key, FabEdits *edits);

typedef struct {
  const char *name;
  Convert convert;       /* NULL: refused, or without effect */
  const char *key;       /* of the scenario */
  const char *may_be;    /* what the value may be; %s stands for the names of the algorithms */
  const char *otherwise; /* why it is refused, and what to do; NULL: it changes nothing that is predicted */
} Variable;

static gboolean
is_one_of (const char *name, const char *const *names)
{
  for (guint i = 0; names[i]; i++)
    if (strcmp (name, names[i]) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
convert_list (gboolean is_algorithm, const char *value, const char *key, FabEdits *edits)
{
  g_autofree char *message = NULL, *list = fab_nccl_list (is_algorithm, value, &message);

  if (list == NULL)
    return FALSE;
  fab_edits_ask (edits, key, fab_value_text (list));
  return TRUE;
}

static gboolean
convert_algorithm (const char *value, const char *key, FabEdits *edits)
{
  return convert_list (TRUE, value, key, edits);
}

static gboolean
convert_protocol (const char *value, const char *key, FabEdits *edits)
{
  return convert_list (FALSE, value, key, edits);
}

static gboolean
parse_number (const char *value, guint64 most, guint64 *number)
{
  return g_ascii_string_to_unsigned (value, 10, 0, most, number, NULL);
}

static gboolean
convert_switch (const char *value, const char *key, FabEdits *edits)
{
  guint64 number;

  if (!parse_number (value, 2, &number))
    return FALSE;
  fab_edits_ask (edits, key, fab_value_flag (number > 0));
  return TRUE;
}

static gboolean
convert_unreachable (const char *value, const char *key, FabEdits *edits)
{
  guint64 number;

  if (!parse_number (value, 1, &number))
    return FALSE;
  if (number)
    fab_edits_ask (edits, key, fab_value_text ("none"));
  return TRUE;
}

static gboolean
convert_disable (const char *value, const char *key, FabEdits *edits)
{
  guint64 number;

  if (!parse_number (value, 1, &number))
    return FALSE;
  fab_edits_ask (edits, key, fab_value_flag (number == 0));
  return TRUE;
}

static gboolean
convert_count (const char *value, const char *key, FabEdits *edits)
{
  guint64 number;

  if (!parse_number (value, 64, &number) || number == 0)
    return FALSE;
  fab_edits_ask (edits, key, fab_value_count ((gint64) number));
  return TRUE;
}

/* Old scripts write numbers. */
static gboolean
convert_level (const char *value, const char *key, FabEdits *edits)
{
  static const char *const by_number[] = { "none", "pix", "pxb", "phb", "sys", "sys" };
  static const char *const known[] = { "nvl", "pix", "pxb", "phb", "node", "sys", NULL };
  g_autofree char *name = g_ascii_strdown (value, -1);
  guint64 number;

  if (parse_number (value, G_MAXUINT, &number))
    fab_edits_ask (edits, key, fab_value_text (by_number[MIN (number, G_N_ELEMENTS (by_number) - 1)]));
  else if (strcmp (name, "loc") == 0)
    fab_edits_ask (edits, key, fab_value_text ("none"));
  else if (is_one_of (name, known))
    fab_edits_ask (edits, key, fab_value_text (name));
  else
    return FALSE;
  return TRUE;
}

#define ALGORITHMS "one of %s, or a list of them: Ring,Tree or ^Tree or Ring;AllReduce:Tree"
#define PROTOCOLS "one of LL, LL128, Simple, or a list of them: LL,Simple or ^LL128 or LL;AllReduce:Simple"
#define LEVELS "one of LOC, NVL, PIX, PXB, PHB, NODE, SYS"
#define COUNTS "a number from 1 to 64"
#define NIC_OF_NODE "the NICs are those of the node; use --nic LINK or --set cluster.nics_per_node=N"

static const Variable variables[] = {
  { "NCCL_ALGO", convert_algorithm, "collectives.algorithm", ALGORITHMS, NULL },
  { "NCCL_PROTO", convert_protocol, "collectives.protocol", PROTOCOLS, NULL },
  { "NCCL_NVLS_ENABLE", convert_switch, "collectives.nvls", "0, 1 or 2", NULL },
  { "NCCL_COLLNET_ENABLE", convert_switch, "collectives.collnet", "0 or 1", NULL },
  { "NCCL_MIN_NCHANNELS", convert_count, "collectives.min_channels", COUNTS, NULL },
  { "NCCL_MIN_CTAS", convert_count, "collectives.min_channels", COUNTS, NULL },
  { "NCCL_MAX_NCHANNELS", convert_count, "collectives.max_channels", COUNTS, NULL },
  { "NCCL_MAX_CTAS", convert_count, "collectives.max_channels", COUNTS, NULL },
  { "NCCL_P2P_DISABLE", convert_unreachable, "cluster.p2p", "0 or 1", NULL },
  { "NCCL_P2P_LEVEL", convert_level, "cluster.p2p", LEVELS, NULL },
  { "NCCL_NET_GDR_LEVEL", convert_level, "cluster.gdr", LEVELS, NULL },
  { "NCCL_PXN_DISABLE", convert_disable, "cluster.pxn", "0 or 1", NULL },
  { "NCCL_IB_DISABLE", NULL, NULL, NULL, "NCCL then uses sockets; name their link with --nic" },
  { "NCCL_IB_HCA", NULL, NULL, NULL, NIC_OF_NODE },
  { "NCCL_NET", NULL, NULL, NULL, NIC_OF_NODE },
  { "NCCL_SHM_DISABLE", NULL, NULL, NULL, "NCCL without shared memory is not modelled" },
  { "NCCL_BUFFSIZE", NULL, NULL, NULL, "other sizes of buffers are not modelled" },
  { "NCCL_NTHREADS", NULL, NULL, NULL, "other numbers of threads are not modelled" },
  { "NCCL_CROSS_NIC", NULL, NULL, NULL, "only the rings of the default, 2, are modelled" },
  { "NCCL_TOPO_FILE", NULL, NULL, NULL, "import the topology as a scenario with `fabricast import FILE`" },
  { "NCCL_DEBUG", NULL, NULL, NULL, NULL },
  { "NCCL_DEBUG_FILE", NULL, NULL, NULL, NULL },
  { "NCCL_DEBUG_SUBSYS", NULL, NULL, NULL, NULL },
  { "NCCL_IB_GID_INDEX", NULL, NULL, NULL, NULL },
  { "NCCL_SOCKET_IFNAME", NULL, NULL, NULL, NULL },
};

static const Variable *
find_variable (const char *name, GError **error)
{
  const char *names[G_N_ELEMENTS (variables) + 1] = { NULL };

  for (guint i = 0; i < G_N_ELEMENTS (variables); i++) {
    names[i] = variables[i].name;
    if (strcmp (name, variables[i].name) == 0)
      return &variables[i];
  }
  const char *nearest = fab_nearest (name, names);
  if (!g_str_has_prefix (name, "NCCL_"))
    fab_throw (error, FAB_ERROR_INPUT,
               "-x %s: only variables of NCCL change a prediction; leave this one "
               "out",
               name);
  else
    fab_throw (error, FAB_ERROR_INPUT, "-x %s: unknown variable%s%s", name, nearest ? "; nearest is " : "",
               nearest ? nearest : "");
  return NULL;
}

gboolean
fab_nccl_env_add (FabEdits *edits, const char *name, const char *value, GError **error)
{
  const Variable *variable = find_variable (name, error);

  if (variable == NULL)
    return FALSE;
  if (variable->otherwise)
    return fab_throw (error, FAB_ERROR_INPUT, "-x %s: %s", name, variable->otherwise);
  if (value == NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "-x %s: this variable is not set in the environment; write "
                      "%s=VALUE",
                      name, name);
  if (variable->convert == NULL || variable->convert (value, variable->key, edits))
    return TRUE;
  g_autofree char *algorithms = fab_nccl_algorithm_names ();
  g_auto (GStrv) around = g_strsplit (variable->may_be, "%s", 2);
  g_autofree char *may_be = g_strjoinv (algorithms, around);
  return fab_throw (error, FAB_ERROR_INPUT, "-x %s=%s: it must be %s", name, value, may_be);
}
