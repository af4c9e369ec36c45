/* SPDX-License-Identifier: Apache-2.0 */
/* cabling_hosts.c - ports of hosts: which are missing, and which go to another switch than those of their peers.
 *
 * Hosts with the same ports are of one kind. A host lacks ports where more hosts have all of its ports and fewer than
 * as many beside. Peers of a host are those of its kind that share at least half of its switches.
 */
#include <string.h>

#include "answer/topology/cabling_rules.h"
#include "sim/base/order.h"
#include "sim/base/units.h"

/* A host, or several with the same ports at the same switches. */
typedef struct {
  GArray *hosts;    /* guint: parts */
  GArray *nics;     /* guint: numbers of ports, sorted */
  GArray *cables;   /* guint: cable of each, of the first host */
  GArray *leaves;   /* guint: switch of each */
  GArray *switches; /* guint: the same, sorted, each once */
  guint kind;       /* number of the set of ports */
} Group;

/* A set of ports. */
typedef struct {
  GArray *nics;
  guint n_hosts;
  guint whole; /* the kind of which it is a part; itself: of none */
} Kind;

typedef struct {
  FabCabling *cabling;
  const FabCablingIndex *index;
  GPtrArray *groups; /* Group */
  GArray *kinds;     /* Kind */
} Hosts;

static Kind *
kind_at (const Hosts *self, guint i)
{
  return &g_array_index (self->kinds, Kind, i);
}

static void
group_free (gpointer data)
{
  Group *self = data;

  g_array_unref (self->hosts);
  g_array_unref (self->nics);
  g_array_unref (self->cables);
  g_array_unref (self->leaves);
  g_array_unref (self->switches);
  g_free (self);
}

static GArray *
numbers_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (guint));
}

static gint
compare_nics (gconstpointer a, gconstpointer b, gpointer data)
{
  const FabCabling *cabling = data;
  guint x = fab_cabling_cable (cabling, *(const guint *) a)->nic,
        y = fab_cabling_cable (cabling, *(const guint *) b)->nic;

  return fab_order_guints (&x, &y);
}

static Group *
group_of (const Hosts *self, guint host)
{
  Group *group = g_new0 (Group, 1);

  group->hosts = numbers_new ();
  group->nics = numbers_new ();
  group->cables = numbers_new ();
  group->leaves = numbers_new ();
  group->switches = numbers_new ();
  g_array_append_vals (group->cables, self->index->cables + self->index->starts[host],
                       self->index->starts[host + 1] - self->index->starts[host]);
  g_array_sort_with_data (group->cables, compare_nics, self->cabling);
  for (guint i = 0; i < group->cables->len; i++) {
    const FabCable *cable = fab_cabling_cable (self->cabling, g_array_index (group->cables, guint, i));

    g_array_append_val (group->nics, cable->nic);
    g_array_append_val (group->leaves, cable->b);
  }
  g_array_append_vals (group->switches, group->leaves->data, group->leaves->len);
  g_array_sort (group->switches, fab_order_guints);
  for (guint i = group->switches->len; i > 1; i--)
    if (g_array_index (group->switches, guint, i - 1) == g_array_index (group->switches, guint, i - 2))
      g_array_remove_index (group->switches, i - 1);
  return group;
}

static gboolean
is_equal (const GArray *x, const GArray *y)
{
  return x->len == y->len && (x->len == 0 || memcmp (x->data, y->data, x->len * sizeof (guint)) == 0);
}

static guint
kind_of (Hosts *self, const GArray *nics)
{
  for (guint i = 0; i < self->kinds->len; i++)
    if (is_equal (kind_at (self, i)->nics, nics))
      return i;
  Kind kind = { .nics = g_array_copy ((GArray *) nics), .whole = self->kinds->len };

  g_array_append_val (self->kinds, kind);
  return self->kinds->len - 1;
}

static void
collect (Hosts *self)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_bytes_hash, g_bytes_equal,
                                                        (GDestroyNotify) g_bytes_unref, NULL);

  for (guint i = 0; i < self->cabling->parts->len; i++) {
    if (!fab_cabling_part (self->cabling, i)->is_host)
      continue;
    Group *fresh = group_of (self, i);
    g_autoptr (GBytes) key = fab_cabling_key (fresh->nics, fresh->leaves);
    Group *group = g_hash_table_lookup (known, key);

    if (group == NULL) {
      group = fresh;
      g_hash_table_insert (known, g_steal_pointer (&key), fresh);
      g_ptr_array_add (self->groups, fresh);
      group->kind = kind_of (self, group->nics);
    } else
      group_free (fresh);
    g_array_append_val (group->hosts, i);
    kind_at (self, group->kind)->n_hosts++;
  }
}

/* Says whether all numbers of `part` are in `whole`, which has more, but fewer than twice as many. */
static gboolean
is_part (const GArray *part, const GArray *whole)
{
  guint i = 0;

  for (guint k = 0; k < whole->len && i < part->len; k++)
    i += g_array_index (part, guint, i) == g_array_index (whole, guint, k);
  return i == part->len && part->len < whole->len && 2 * part->len > whole->len;
}

static gint
compare_sizes (gconstpointer a, gconstpointer b, gpointer data)
{
  const GArray *kinds = data;
  guint x = g_array_index (kinds, Kind, *(const guint *) a).nics->len,
        y = g_array_index (kinds, Kind, *(const guint *) b).nics->len;

  return fab_order_guints (&y, &x);
}

/* Finds of which more frequent kind each is a part. What is a part itself is no whole, so kinds with many ports come
 * first. */
static void
find_wholes (Hosts *self)
{
  guint n = self->kinds->len;
  g_autofree guint *order = g_new (guint, n + 1);

  for (guint i = 0; i < n; i++)
    order[i] = i;
  fab_order_numbers (order, n, compare_sizes, self->kinds);
  for (guint i = 0; i < n; i++) {
    Kind *kind = kind_at (self, order[i]);
    guint most = kind->n_hosts;

    for (guint k = 0; k < i; k++) {
      const Kind *other = kind_at (self, order[k]);

      if (other->whole != order[k] || other->n_hosts <= most || !is_part (kind->nics, other->nics))
        continue;
      most = other->n_hosts;
      kind->whole = order[k];
    }
  }
}

/* --- ports that are missing --- */

/* "mlx5_" of "mlx5_4" */
static gsize
prefix_length (const char *name)
{
  gsize n = strlen (name);

  while (n > 0 && g_ascii_isdigit (name[n - 1]))
    n--;
  return n;
}

/* A cable of hosts of that kind at this port; of those, one that is called as the ports of `group` are. */
static const FabCable *
example_of (const Hosts *self, guint kind, guint nic, const Group *group)
{
  const char *own = fab_cabling_cable (self->cabling, g_array_index (group->cables, guint, 0))->port_a;
  gsize n = prefix_length (own);
  const FabCable *best = NULL;

  for (guint g = 0; g < self->groups->len; g++) {
    const Group *other = g_ptr_array_index (self->groups, g);

    for (guint i = 0; other->kind == kind && i < other->nics->len; i++) {
      const FabCable *cable = fab_cabling_cable (self->cabling, g_array_index (other->cables, guint, i));

      if (cable->nic == nic && (best == NULL || strncmp (cable->port_a, own, n) == 0))
        best = cable;
    }
  }
  return best;
}

/* The index of a port; G_MAXUINT: it is not there. */
static guint
place_of (const GArray *nics, guint nic)
{
  for (guint i = 0; i < nics->len; i++)
    if (g_array_index (nics, guint, i) == nic)
      return i;
  return G_MAXUINT;
}

/* "gpu3", "gpu3, gpu4 and gpu5", "gpu3, gpu4, gpu5 and 8 more" (transfer full) */
static char *
list_hosts (const FabCabling *cabling, const GArray *hosts)
{
  enum { MOST = 3 };
  GString *text = g_string_new (NULL);
  guint n = hosts->len > MOST + 1 ? MOST : hosts->len;

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%s",
                            i == 0                ? ""
                            : i + 1 == hosts->len ? " and "
                                                  : ", ",
                            fab_cabling_part (cabling, g_array_index (hosts, guint, i))->name);
  if (n < hosts->len)
    g_string_append_printf (text, " and %u more", hosts->len - n);
  return g_string_free (text, FALSE);
}

/* All groups that share these switches lack the port: the switch for it may be absent. */
static gboolean
is_lacked_by_all (const Hosts *self, const Group *group, guint nic)
{
  guint n = 0;

  for (guint g = 0; g < self->groups->len; g++) {
    const Group *other = g_ptr_array_index (self->groups, g);

    if (!fab_cabling_overlap (group->switches, other->switches))
      continue;
    if (place_of (other->nics, nic) != G_MAXUINT)
      return FALSE;
    n += other->hosts->len;
  }
  return n > 1;
}

static void
find_missing (Hosts *self, const Group *group, guint nic)
{
  const Kind *whole = kind_at (self, kind_at (self, group->kind)->whole);
  const FabCable *example = example_of (self, kind_at (self, group->kind)->whole, nic, group);
  g_autofree char *hosts = list_hosts (self->cabling, group->hosts);
  guint n = group->hosts->len;
  const char *all = is_lacked_by_all (self, group, nic)
                      ? " No host of these switches has one, so their switch may be off or not listed."
                      : "";
  char *text = g_strdup_printf ("%s %s no cable at %s, which %u hosts with the same ports have.%s", hosts,
                                n == 1 ? "has" : "have", example->port_a, whole->n_hosts, all);

  fab_cabling_find (
      self->cabling,
      (FabCablingFinding){
          .kind = FAB_CABLING_MISSING_NIC,
          .part = fab_cabling_part (self->cabling, g_array_index (group->hosts, guint, 0))->name,
          .port = example->port_a,
          .n_has = 0,
          .n_usual = n,
          .lost_bytes_per_s = n * example->bytes_per_s,
          .text = text,
      });
}

static void
check_missing (Hosts *self)
{
  for (guint g = 0; g < self->groups->len; g++) {
    const Group *group = g_ptr_array_index (self->groups, g);
    const Kind *whole = kind_at (self, kind_at (self, group->kind)->whole);

    for (guint i = 0; kind_at (self, group->kind)->whole != group->kind && i < whole->nics->len; i++)
      if (place_of (group->nics, g_array_index (whole->nics, guint, i)) == G_MAXUINT)
        find_missing (self, group, g_array_index (whole->nics, guint, i));
  }
}

/* Says of hosts that are unlike all others that they were not compared. */
static void
note_alone (Hosts *self)
{
  g_autoptr (GArray) alone = numbers_new ();

  for (guint g = 0; g < self->groups->len; g++) {
    const Group *group = g_ptr_array_index (self->groups, g);
    const Kind *kind = kind_at (self, group->kind);

    if (kind->whole == group->kind && kind->n_hosts < 3)
      g_array_append_vals (alone, group->hosts->data, group->hosts->len);
  }
  if (alone->len == 0)
    return;
  g_autofree char *names = list_hosts (self->cabling, alone);
  g_ptr_array_add (self->cabling->notes,
                   g_strdup_printf ("Fewer than three hosts have the same ports as %s, so %s not compared.",
                                    names, alone->len == 1 ? "it was" : "they were"));
}

/* --- ports at another switch --- */

/* Switches to which the ports of peers of a group go. */
typedef struct {
  guint *leaf;   /* [ports of the group] the switch of most peers; G_MAXUINT: there is none */
  guint *weight; /* [ports of the group] how many they are */
  guint n_peers;
} Usual;

static guint
whole_of (const Hosts *self, const Group *group)
{
  return kind_at (self, group->kind)->whole;
}

static void
usual_init (Usual *self, const Hosts *hosts, const Group *group)
{
  guint n = group->nics->len;
  g_autofree FabCablingVotes *votes = g_new (FabCablingVotes, n + 1);

  self->leaf = g_new0 (guint, n + 1);
  self->weight = g_new0 (guint, n + 1);
  self->n_peers = 0;
  for (guint i = 0; i < n; i++)
    fab_cabling_votes_init (&votes[i]);
  for (guint g = 0; g < hosts->groups->len; g++) {
    const Group *other = g_ptr_array_index (hosts->groups, g);

    if (whole_of (hosts, other) != whole_of (hosts, group)
        || (other != group && !fab_cabling_overlap (group->switches, other->switches)))
      continue;
    self->n_peers += other->hosts->len;
    for (guint i = 0; i < n; i++) {
      guint place = place_of (other->nics, g_array_index (group->nics, guint, i));

      if (place != G_MAXUINT)
        fab_cabling_votes_add (&votes[i], g_array_index (other->leaves, guint, place), other->hosts->len);
    }
  }
  for (guint i = 0; i < n; i++) {
    self->leaf[i] = fab_cabling_votes_winner (&votes[i], &self->weight[i]);
    fab_cabling_votes_clear (&votes[i]);
  }
}

static void
usual_clear (Usual *self)
{
  g_free (self->leaf);
  g_free (self->weight);
}

/* The port whose peers go where this one goes; G_MAXUINT: none. */
static guint
port_of_leaf (const Usual *usual, const Group *group, guint leaf)
{
  for (guint i = 0; i < group->nics->len; i++)
    if (usual->leaf[i] == leaf)
      return i;
  return G_MAXUINT;
}

static const FabCable *
cable_at (const Hosts *self, guint host, guint nic)
{
  for (guint i = self->index->starts[host]; i < self->index->starts[host + 1]; i++)
    if (fab_cabling_cable (self->cabling, self->index->cables[i])->nic == nic)
      return fab_cabling_cable (self->cabling, self->index->cables[i]);
  return NULL;
}

static void
find_elsewhere (Hosts *self, const Group *group, const Usual *usual, guint i, guint host)
{
  FabCabling *cabling = self->cabling;
  const FabCable *cable = cable_at (self, host, g_array_index (group->nics, guint, i));
  guint other = port_of_leaf (usual, group, cable->b);
  const FabCable *of_other = other == G_MAXUINT
                               ? NULL
                               : cable_at (self, host, g_array_index (group->nics, guint, other));
  const char *leaf = fab_cabling_part (cabling, cable->b)->name,
             *usual_leaf = fab_cabling_part (cabling, usual->leaf[i])->name;
  g_autofree char *at = cable->port_b ? g_strdup_printf (" port %s", cable->port_b) : g_strdup ("");
  g_autofree char *where = of_other ? g_strdup_printf (", to which %s belongs", of_other->port_a)
                                    : g_strdup ("");

  fab_cabling_find (cabling, (FabCablingFinding){
                                 .kind = of_other ? FAB_CABLING_CROSSED : FAB_CABLING_MISPLACED,
                                 .part = fab_cabling_part (cabling, host)->name,
                                 .port = cable->port_a,
                                 .peer = (char *) leaf,
                                 .peer_port = cable->port_b,
                                 .lost_bytes_per_s = cable->bytes_per_s,
                                 .text = g_strdup_printf (
                                     "%s of %s goes to %s%s%s; of %u hosts beside it %u have theirs at %s.",
                                     cable->port_a, fab_cabling_part (cabling, host)->name, leaf, at, where,
                                     usual->n_peers, usual->weight[i], usual_leaf),
                             });
}

/* Says whether port `i` of a group goes elsewhere than those of its peers. Where it is no other port's switch, three
 * quarters of the peers must agree. */
static gboolean
is_elsewhere (const Group *group, const Usual *usual, guint i)
{
  guint leaf = g_array_index (group->leaves, guint, i);

  return usual->leaf[i] != G_MAXUINT && usual->leaf[i] != leaf
      && (port_of_leaf (usual, group, leaf) != G_MAXUINT
          || 4 * (guint64) usual->weight[i] >= 3 * (guint64) usual->n_peers);
}

/* Hosts at the edge of a unit have a part of their ports in the next one: more than a quarter of them, and at least
 * two, are no mistakes. */
static gboolean
is_at_edge (const Group *group, const Usual *usual)
{
  guint n = 0;

  for (guint i = 0; i < group->nics->len; i++)
    n += is_elsewhere (group, usual, i)
      && port_of_leaf (usual, group, g_array_index (group->leaves, guint, i)) == G_MAXUINT;
  return n > 1 && 4 * n > group->nics->len;
}

static void
check_places (Hosts *self)
{
  for (guint g = 0; g < self->groups->len; g++) {
    const Group *group = g_ptr_array_index (self->groups, g);
    Usual usual;

    usual_init (&usual, self, group);
    for (guint i = 0; i < group->nics->len && !is_at_edge (group, &usual); i++)
      for (guint h = 0; is_elsewhere (group, &usual, i) && h < group->hosts->len; h++)
        find_elsewhere (self, group, &usual, i, g_array_index (group->hosts, guint, h));
    usual_clear (&usual);
  }
}

void
fab_cabling_check_hosts (FabCabling *self, const FabCablingIndex *index)
{
  Hosts hosts = { self, index, g_ptr_array_new_with_free_func (group_free),
                  g_array_new (FALSE, FALSE, sizeof (Kind)) };

  collect (&hosts);
  find_wholes (&hosts);
  note_alone (&hosts);
  check_missing (&hosts);
  check_places (&hosts);
  for (guint i = 0; i < hosts.kinds->len; i++)
    g_array_unref (kind_at (&hosts, i)->nics);
  g_array_unref (hosts.kinds);
  g_ptr_array_unref (hosts.groups);
}
