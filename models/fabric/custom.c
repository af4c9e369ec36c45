/* SPDX-License-Identifier: Apache-2.0 */
/* custom.c - any fabric: the scenario lists the switches, the links between them and the ports of NICs.
 *
 * A switch with a count is `name0`, `name1`, ...; links and attach rules name all of them (`leaf`) or one (`leaf3`).
 */
#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/fabric/fabric.h"

#define MAX_PAIRS (1000 * 1000)

typedef struct {
  const char *name;
  gint64 count;
} SwitchSpec;

typedef enum { JOIN_ALL, JOIN_BLOCK } JoinMap;

typedef struct {
  const char *from, *to, *link;
  gint64 count, cable_mm;
  int map;
} JoinSpec;

typedef struct {
  const char *to, *nodes, *nics;
  gint64 cable_mm;
} AttachSpec;

typedef struct {
  FabParamList switches; /* SwitchSpec */
  FabParamList links;    /* JoinSpec */
  FabParamList attach;   /* AttachSpec */
} CustomParams;

#define ROW(key_, type_, struct_, field_, fallback_, help_)                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_

static const FabParam switch_params[] = {
  { ROW ("name", TEXT, SwitchSpec, name, NULL, "Name of the switch, for `links` and `attach`.") },
  { ROW ("count", COUNT, SwitchSpec, count, "1",
         "How many switches; with more than one they are name0, name1 and so on."),
    .min = 1, .max = 1e5 },
  { .key = NULL },
};

static const char *const map_names[] = { "all", "block", NULL };

static const FabParam join_params[] = {
  { ROW ("from", TEXT, JoinSpec, from, NULL,
         "One end: every switch of this name, or one switch with its number.") },
  { ROW ("to", TEXT, JoinSpec, to, NULL, "The other end, written in the same way.") },
  { ROW ("link", TEXT, JoinSpec, link, "", "Link entry; empty: the same as the NICs have."),
    .refers = FAB_REFERS_LINK },
  { ROW ("count", COUNT, JoinSpec, count, "1", "Parallel links, treated as one wider link."), .min = 1,
    .max = 1e5 },
  { ROW ("cable", LENGTH, JoinSpec, cable_mm, "0m", "Cable beyond the length in the link entry."),
    .max = 1e8 },
  { ROW ("map", CHOICE, JoinSpec, map, "all",
         "all: joins each `from` to each `to`. block: a tree that joins switch i of the larger set (n) to "
         "switch floor (i x m / n) of the smaller (m)."),
    .choices = map_names },
  { .key = NULL },
};

static const FabParam attach_params[] = {
  { ROW ("to", TEXT, AttachSpec, to, NULL,
         "Switch to attach to. When several have the name, they share the nodes in consecutive blocks.") },
  { ROW ("nodes", TEXT, AttachSpec, nodes, "", "Node positions, as 3 or 0-15; empty: all.") },
  { ROW ("nics", TEXT, AttachSpec, nics, "", "NICs of each node, as 3 or 0-15; empty: all.") },
  { ROW ("cable", LENGTH, AttachSpec, cable_mm, "0m", "Cable beyond the length in the link entry."),
    .max = 1e8 },
  { .key = NULL },
};

static const FabParam custom_params[] = {
  { .key = "switches",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (CustomParams, switches),
    .help = "The switches of the network.",
    .table = switch_params,
    .table_size = sizeof (SwitchSpec) },
  { .key = "links",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (CustomParams, links),
    .help = "Links between switches; each link has both directions.",
    .table = join_params,
    .table_size = sizeof (JoinSpec) },
  { .key = "attach",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (CustomParams, attach),
    .help = "Which NICs connect to which switch.",
    .table = attach_params,
    .table_size = sizeof (AttachSpec) },
  { .key = NULL },
};

/* Finds members [first, first + n) of the switches called `name`; NULL: there are none. */
static const SwitchSpec *
find_switch (const CustomParams *p, const char *name, guint *first, guint *n)
{
  const SwitchSpec *switches = p->switches.data;

  for (guint i = 0; i < p->switches.n; i++) {
    gsize length = strlen (switches[i].name);
    guint64 member;

    *first = 0;
    *n = (guint) switches[i].count;
    if (strcmp (switches[i].name, name) == 0)
      return &switches[i];
    if (switches[i].count == 1 || strncmp (switches[i].name, name, length) != 0)
      continue;
    *n = 1;
    if (g_ascii_string_to_unsigned (name + length, 10, 0, (guint64) switches[i].count - 1, &member, NULL)) {
      *first = (guint) member;
      return &switches[i];
    }
  }
  return NULL;
}

/* Parses "3" or "0-15"; NULL means everything. */
static gboolean
parse_range (const char *text, guint *first, guint *last)
{
  guint64 low, high;
  g_auto (GStrv) ends = g_strsplit (text ? text : "0-4294967294", "-", 2);

  if (!g_ascii_string_to_unsigned (ends[0] ? ends[0] : "", 10, 0, G_MAXUINT - 1, &low, NULL))
    return FALSE;
  high = low;
  if (ends[1] != NULL && !g_ascii_string_to_unsigned (ends[1], 10, low, G_MAXUINT - 1, &high, NULL))
    return FALSE;
  *first = (guint) low;
  *last = (guint) high;
  return TRUE;
}

/* --- checks before there is a graph --- */

static void
check_names (const CustomParams *p, FabCheck *check)
{
  const SwitchSpec *switches = p->switches.data;
  guint first, n;

  for (guint i = 0; i < p->switches.n; i++) {
    const SwitchSpec *found = find_switch (p, switches[i].name, &first, &n);

    if (found != &switches[i])
      fab_check_fail (check, &switches[i].name, "two switches are called '%s'", switches[i].name);
  }
}

static void
check_end (const CustomParams *p, const char *const *name, FabCheck *check)
{
  g_autoptr (GString) known = g_string_new (NULL);
  guint first, n;

  if (find_switch (p, *name, &first, &n) != NULL)
    return;
  for (guint i = 0; i < p->switches.n; i++)
    g_string_append_printf (known, "%s%s", i == 0 ? "" : ", ",
                            ((const SwitchSpec *) p->switches.data)[i].name);
  if (p->switches.n == 0)
    fab_check_fail (check, name, "unknown switch '%s', because `switches` is empty", *name);
  else
    fab_check_fail (check, name, "unknown switch '%s'; the known ones are %s", *name, known->str);
}

static void
check_range (const char *const *text, FabCheck *check)
{
  guint first, last;

  if (!parse_range (*text, &first, &last))
    fab_check_fail (check, text, "'%s' is not a range; write 3 or 0-15", *text);
}

static void
custom_check (gconstpointer params, FabCheck *check)
{
  const CustomParams *p = params;
  const JoinSpec *links = p->links.data;
  const AttachSpec *attach = p->attach.data;

  check_names (p, check);
  for (guint i = 0; i < p->links.n; i++) {
    check_end (p, &links[i].from, check);
    check_end (p, &links[i].to, check);
  }
  for (guint i = 0; i < p->attach.n; i++) {
    check_end (p, &attach[i].to, check);
    check_range (&attach[i].nodes, check);
    check_range (&attach[i].nics, check);
  }
}

/* --- building --- */

typedef struct {
  const FabFabricEnv *env;
  const CustomParams *params;
  FabVertexId **members; /* [switches][count] */
  gboolean *has_port;    /* [n_places * nics_per_node] */
} Custom;

static const FabVertexId *
members_of (const Custom *self, const char *name, guint *n)
{
  guint first;
  const SwitchSpec *spec = find_switch (self->params, name, &first, n);

  return self->members[spec - (const SwitchSpec *) self->params->switches.data] + first;
}

/* Whether member i of n is connected to member j of m. */
static gboolean
is_mapped (int map, guint64 i, guint64 n, guint64 j, guint64 m)
{
  if (map == JOIN_ALL)
    return TRUE;
  return n >= m ? i * m / n == j : j * n / m == i;
}

static gboolean
check_pairs (const JoinSpec *spec, guint n_from, guint n_to, GError **error)
{
  return (guint64) n_from * n_to <= MAX_PAIRS
      || fab_throw (error, FAB_ERROR_INPUT,
                    "a link of the custom fabric, from '%s' to '%s', has %" G_GUINT64_FORMAT " pairs of "
                    "switches; the limit is %d",
                    spec->from, spec->to, (guint64) n_from * n_to, MAX_PAIRS);
}

static gboolean
join (const Custom *self, const JoinSpec *spec, GError **error)
{
  guint n_from, n_to, n_joined = 0;
  const FabVertexId *from = members_of (self, spec->from, &n_from), *to = members_of (self, spec->to, &n_to);
  FabLinkForm form = fab_fabric_link (self->env, spec->link, spec->cable_mm);
  gboolean is_within = from == to && n_from == n_to; /* each pair appears twice */

  if (!check_pairs (spec, n_from, n_to, error))
    return FALSE;
  form.count = (guint) spec->count;
  for (guint i = 0; i < n_from; i++)
    for (guint j = is_within ? i + 1 : 0; j < n_to; j++)
      if (from[i] != to[j] && is_mapped (spec->map, i, n_from, j, n_to)) {
        fab_graph_builder_join (self->env->builder, from[i], to[j], &form);
        n_joined++;
      }
  return n_joined > 0
      || fab_throw (error, FAB_ERROR_INPUT,
                    "a link of the custom fabric, from '%s' to '%s', joins no "
                    "switches",
                    spec->from, spec->to);
}

static void
attach (const Custom *self, const AttachSpec *spec)
{
  const FabFabricEnv *env = self->env;
  FabLinkForm form = fab_fabric_link (env, NULL, spec->cable_mm);
  guint first_node, last_node, first_nic, last_nic, n;
  const FabVertexId *switches = members_of (self, spec->to, &n);

  parse_range (spec->nodes, &first_node, &last_node);
  parse_range (spec->nics, &first_nic, &last_nic);
  guint64 end = MIN ((guint64) last_node + 1, env->n_places);
  guint64 end_nic = MIN ((guint64) last_nic + 1, env->nics_per_node);
  for (guint64 place = first_node; place < end; place++)
    for (guint64 nic = first_nic; nic < end_nic; nic++) {
      guint64 member = (place - first_node) * n / (end - first_node);

      fab_fabric_attach (env, (guint) place, (guint) nic, switches[member], &form);
      self->has_port[place * env->nics_per_node + nic] = TRUE;
    }
}

static gboolean
check_ports (const Custom *self, GError **error)
{
  guint k = self->env->nics_per_node;

  for (guint i = 0; i < self->env->n_places * k; i++)
    if (!self->has_port[i])
      return fab_throw (error, FAB_ERROR_INPUT,
                        "no attach rule of the custom fabric connects NIC %u of node position %u", i % k,
                        i / k);
  return TRUE;
}

static gboolean
fill (const Custom *self, GError **error)
{
  const SwitchSpec *switches = self->params->switches.data;

  for (guint i = 0; i < self->params->switches.n; i++)
    for (guint m = 0; m < (guint) switches[i].count; m++)
      self->members[i][m] = fab_fabric_add_switch (self->env, switches[i].name, switches[i].count > 1, m);
  for (guint i = 0; i < self->params->links.n; i++)
    if (!join (self, (const JoinSpec *) self->params->links.data + i, error))
      return FALSE;
  for (guint i = 0; i < self->params->attach.n; i++)
    attach (self, (const AttachSpec *) self->params->attach.data + i);
  return check_ports (self, error);
}

static gboolean
custom_build (const FabFabricEnv *env, gconstpointer params, GError **error)
{
  const CustomParams *p = params;
  const SwitchSpec *switches = p->switches.data;
  Custom self = { env, p, g_new0 (FabVertexId *, p->switches.n + 1),
                  g_new0 (gboolean, env->n_places * env->nics_per_node) };

  for (guint i = 0; i < p->switches.n; i++)
    self.members[i] = g_new (FabVertexId, switches[i].count);
  gboolean is_built = fill (&self, error);
  for (guint i = 0; i < p->switches.n; i++)
    g_free (self.members[i]);
  g_free (self.members);
  g_free (self.has_port);
  return is_built;
}

const FabFabricOps fab_fabric_custom = {
  .info = { .name = "custom",
            .summary = "Switches, links and attached NICs, all written by hand.",
            .doc = "docs/models/custom.md",
            .params = custom_params,
            .params_size = sizeof (CustomParams),
            .check = custom_check },
  .build = custom_build,
  .has_choice = fab_fabric_always_has_choice,
};
