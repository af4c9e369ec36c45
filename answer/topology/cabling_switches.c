/* SPDX-License-Identifier: Apache-2.0 */
/* cabling_switches.c - cables between switches: which are missing or in the wrong place, and which switches have fewer
 * uplinks than their peers.
 *
 * Peers are switches of one tier that share at least half of the switches above them. Those with the same cables are
 * looked at once. O(groups^2 x cables of a switch).
 */
#include <string.h>

#include "answer/topology/cabling_rules.h"
#include "sim/base/order.h"
#include "sim/base/units.h"

/* Switches of one tier that have the same number of cables to the same switches of the next one. */
typedef struct {
  GArray *members;    /* guint: parts */
  GArray *to;         /* guint: parts of the other tier, sorted */
  GArray *counts;     /* guint: cables to each of them */
  guint total;        /* cables */
  GHashTable *usual;  /* part of the other tier to the cables that most peers have there */
  GHashTable *weight; /* the same to the peers that have them */
  GHashTable *joined; /* the same to the peers that have any */
  guint n_peers;      /* switches, those of the group among them */
  guint usual_total;  /* cables that most peers have in all; 0: there is no such number */
  guint n_of_total;   /* peers that have as many */
} Group;

/* Two tiers as one of them sees the other. */
typedef struct {
  const FabCabling *cabling;
  const FabCablingIndex *index;
  GPtrArray *groups; /* Group */
  Group **of_part;   /* [parts]; NULL: the part is not of the tier */
} Side;

static void
group_free (gpointer data)
{
  Group *self = data;

  g_array_unref (self->members);
  g_array_unref (self->to);
  g_array_unref (self->counts);
  g_hash_table_unref (self->usual);
  g_hash_table_unref (self->weight);
  g_hash_table_unref (self->joined);
  g_free (self);
}

static guint
lookup (GHashTable *table, guint key)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (table, GUINT_TO_POINTER (key)));
}

/* Cables from a part to parts of `tier`. (transfer full) */
static Group *
group_of (const Side *side, guint part, guint tier)
{
  Group *self = g_new0 (Group, 1);
  g_autoptr (GHashTable) counts = g_hash_table_new (NULL, NULL);

  self->members = g_array_new (FALSE, FALSE, sizeof (guint));
  self->to = g_array_new (FALSE, FALSE, sizeof (guint));
  self->counts = g_array_new (FALSE, FALSE, sizeof (guint));
  self->usual = g_hash_table_new (NULL, NULL);
  self->weight = g_hash_table_new (NULL, NULL);
  self->joined = g_hash_table_new (NULL, NULL);
  for (guint i = side->index->starts[part]; i < side->index->starts[part + 1]; i++) {
    const FabCable *cable = fab_cabling_cable (side->cabling, side->index->cables[i]);
    guint other = fab_cabling_far_end (cable, part), before = lookup (counts, other);

    if (fab_cabling_part (side->cabling, other)->tier != tier)
      continue;
    if (before == 0)
      g_array_append_val (self->to, other);
    g_hash_table_insert (counts, GUINT_TO_POINTER (other), GUINT_TO_POINTER (before + cable->count));
    self->total += cable->count;
  }
  g_array_sort (self->to, fab_order_guints);
  for (guint i = 0; i < self->to->len; i++) {
    guint n = lookup (counts, g_array_index (self->to, guint, i));

    g_array_append_val (self->counts, n);
  }
  return self;
}

static void
vote (Group *self, const GPtrArray *groups)
{
  g_autoptr (GHashTable) by_part = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  FabCablingVotes totals;
  GHashTableIter iter;
  gpointer key, value;

  fab_cabling_votes_init (&totals);
  for (guint g = 0; g < groups->len; g++) {
    const Group *other = g_ptr_array_index (groups, g);

    if (other != self && !fab_cabling_overlap (self->to, other->to))
      continue;
    fab_cabling_votes_add (&totals, other->total, other->members->len);
    for (guint i = 0; i < other->to->len; i++) {
      gpointer part = GUINT_TO_POINTER (g_array_index (other->to, guint, i));
      FabCablingVotes *votes = g_hash_table_lookup (by_part, part);

      if (votes == NULL) {
        votes = g_new (FabCablingVotes, 1);
        fab_cabling_votes_init (votes);
        g_hash_table_insert (by_part, part, votes);
      }
      fab_cabling_votes_add (votes, g_array_index (other->counts, guint, i), other->members->len);
    }
  }
  self->n_peers = totals.total;
  self->usual_total = fab_cabling_votes_winner (&totals, &self->n_of_total);
  self->usual_total = self->usual_total == G_MAXUINT ? 0 : self->usual_total;
  fab_cabling_votes_clear (&totals);
  g_hash_table_iter_init (&iter, by_part);
  while (g_hash_table_iter_next (&iter, &key, &value)) {
    FabCablingVotes *votes = value;
    guint weight = 0, winner;

    g_hash_table_insert (self->joined, key, GUINT_TO_POINTER (votes->total));
    votes->total = self->n_peers; /* those without such a cable vote for none */
    winner = fab_cabling_votes_winner (votes, &weight);
    if (winner != G_MAXUINT) {
      g_hash_table_insert (self->usual, key, GUINT_TO_POINTER (winner));
      g_hash_table_insert (self->weight, key, GUINT_TO_POINTER (weight));
    }
    fab_cabling_votes_clear (votes);
  }
}

static void
side_init (Side *self, const FabCabling *cabling, const FabCablingIndex *index, guint tier, guint other)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_bytes_hash, g_bytes_equal,
                                                        (GDestroyNotify) g_bytes_unref, NULL);

  self->cabling = cabling;
  self->index = index;
  self->groups = g_ptr_array_new_with_free_func (group_free);
  self->of_part = g_new0 (Group *, cabling->parts->len + 1);
  for (guint i = 0; i < cabling->parts->len; i++) {
    if (fab_cabling_part (cabling, i)->is_host || fab_cabling_part (cabling, i)->tier != tier)
      continue;
    Group *fresh = group_of (self, i, other);
    g_autoptr (GBytes) key = fab_cabling_key (fresh->to, fresh->counts);
    Group *group = g_hash_table_lookup (known, key);

    if (group == NULL) {
      group = fresh;
      g_hash_table_insert (known, g_steal_pointer (&key), fresh);
      g_ptr_array_add (self->groups, fresh);
    } else
      group_free (fresh);
    g_array_append_val (group->members, i);
    self->of_part[i] = group;
  }
  for (guint g = 0; g < self->groups->len; g++)
    vote (g_ptr_array_index (self->groups, g), self->groups);
}

static void
side_clear (Side *self)
{
  g_ptr_array_unref (self->groups);
  g_free (self->of_part);
}

/* --- what a missing cable would be --- */

static guint
count_between (const Group *self, guint to)
{
  for (guint i = 0; i < self->to->len; i++)
    if (g_array_index (self->to, guint, i) == to)
      return g_array_index (self->counts, guint, i);
  return 0;
}

/* The fastest cable that a switch of the tier of `part`, or that one, has to `to`; NULL: there is none. */
static const FabCable *
example_of (const Side *side, guint part, guint to)
{
  const FabCable *best = NULL;
  guint tier = fab_cabling_part (side->cabling, part)->tier;

  for (guint i = side->index->starts[to]; i < side->index->starts[to + 1]; i++) {
    const FabCable *cable = fab_cabling_cable (side->cabling, side->index->cables[i]);

    if (fab_cabling_part (side->cabling, fab_cabling_far_end (cable, to))->tier == tier
        && (best == NULL || cable->bytes_per_s > best->bytes_per_s))
      best = cable;
  }
  return best;
}

static gboolean
has_port (const Side *side, guint part, const char *port)
{
  for (guint i = side->index->starts[part]; i < side->index->starts[part + 1]; i++) {
    const char *at = fab_cabling_port_at (fab_cabling_cable (side->cabling, side->index->cables[i]), part);

    if (g_strcmp0 (at, port) == 0)
      return TRUE;
  }
  return FALSE;
}

/* The ports at which most peers of `part` have their cables to `to`, as far as they are free here: "37, 38"; NULL:
 * there are none. (transfer full) */
static char *
usual_ports (const Side *side, guint part, guint to)
{
  const Group *group = side->of_part[part];
  g_autoptr (GHashTable) votes = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) ports = g_ptr_array_new ();
  GString *text = g_string_new (NULL);

  for (guint i = side->index->starts[to]; i < side->index->starts[to + 1]; i++) {
    const FabCable *cable = fab_cabling_cable (side->cabling, side->index->cables[i]);
    guint other = fab_cabling_far_end (cable, to);
    const char *port = fab_cabling_port_at (cable, other);
    guint n = port ? GPOINTER_TO_UINT (g_hash_table_lookup (votes, port)) + 1 : 0;

    if (port == NULL || side->of_part[other] == NULL)
      continue;
    if (n == 1)
      g_ptr_array_add (ports, (gpointer) port);
    g_hash_table_insert (votes, (gpointer) port, GUINT_TO_POINTER (n));
  }
  for (guint i = 0; i < ports->len; i++) {
    const char *port = g_ptr_array_index (ports, i);

    if (2 * GPOINTER_TO_UINT (g_hash_table_lookup (votes, port)) > group->n_peers
        && !has_port (side, part, port))
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", port);
  }
  return g_string_free (text, text->len == 0);
}

/* --- findings --- */

static const char *
name_of (const Side *side, guint part)
{
  return fab_cabling_part (side->cabling, part)->name;
}

static void
find_missing (FabCabling *self, const Side *lower, guint part, guint to, guint has, guint usual,
              const char *whose)
{
  const FabCable *example = example_of (lower, part, to);
  g_autofree char *ports = usual_ports (lower, part, to);
  g_autofree char *at = ports ? g_strdup_printf (" at %s %s", strchr (ports, ',') ? "ports" : "port", ports)
                              : g_strdup ("");
  char *text = g_strdup_printf ("%s has %u of %u %s to %s; %s%s.", name_of (lower, part), has, usual,
                                fab_plural (usual, "cable", "cables"), name_of (lower, to), whose, at);

  fab_cabling_find (self, (FabCablingFinding){
                              .kind = FAB_CABLING_MISSING,
                              .part = (char *) name_of (lower, part),
                              .port = ports,
                              .peer = (char *) name_of (lower, to),
                              .n_has = has,
                              .n_usual = usual,
                              .lost_bytes_per_s = example ? (usual - has) * example->bytes_per_s : 0,
                              .text = text,
                          });
}

/* Says whether what most peers have counts for this switch: it has fewer cables than they, or three quarters of them
 * agree. */
static gboolean
is_held_to (const Group *group, guint to)
{
  return group->total < group->usual_total
      || 4 * (guint64) lookup (group->weight, to) >= 3 * (guint64) group->n_peers;
}

static void
check_pair (FabCabling *self, const Side *lower, const Side *upper, guint part, guint to)
{
  const Group *down = lower->of_part[part], *up = upper->of_part[to];
  guint has = count_between (down, to), from_below = is_held_to (down, to) ? lookup (down->usual, to) : 0,
        from_above = has == 0 && is_held_to (up, part) ? lookup (up->usual, part) : 0;
  g_autofree char *whose = NULL;

  if (has >= MAX (from_below, from_above))
    return;
  if (from_below >= from_above)
    whose = g_strdup_printf ("%u of %u switches like it have %u", lookup (down->weight, to), down->n_peers,
                             from_below);
  else
    whose = g_strdup_printf ("%u of %u switches like the latter have %u to it", lookup (up->weight, part),
                             up->n_peers, from_above);
  find_missing (self, lower, part, to, has, MAX (from_below, from_above), whose);
}

/* A cable where most peers have none, and there is another switch to which most of them have one. */
static void
check_misplaced (FabCabling *self, const Side *lower, const Side *upper, guint part, guint to)
{
  const Group *down = lower->of_part[part], *up = upper->of_part[to];

  if (2 * (guint64) lookup (down->joined, to) >= down->n_peers || lookup (up->usual, part) > 0
      || g_hash_table_size (down->usual) == 0)
    return;
  for (guint i = lower->index->starts[part]; i < lower->index->starts[part + 1]; i++) {
    const FabCable *cable = fab_cabling_cable (self, lower->index->cables[i]);
    const char *port = fab_cabling_port_at (cable, part), *peer_port = fab_cabling_port_at (cable, to);

    if (fab_cabling_far_end (cable, part) != to)
      continue;
    g_autofree char *at = port ? g_strdup_printf (" port %s", port) : g_strdup ("");
    g_autofree char *peer_at = peer_port ? g_strdup_printf (" port %s", peer_port) : g_strdup ("");
    fab_cabling_find (
        self, (FabCablingFinding){
                  .kind = FAB_CABLING_MISPLACED,
                  .part = (char *) name_of (lower, part),
                  .port = (char *) port,
                  .peer = (char *) name_of (lower, to),
                  .peer_port = (char *) peer_port,
                  .lost_bytes_per_s = cable->count * cable->bytes_per_s,
                  .text = g_strdup_printf ("%s%s goes to %s%s, where most switches like it have no cable.",
                                           name_of (lower, part), at, name_of (lower, to), peer_at),
              });
  }
}

static guint
ports_down (const Side *side, guint part)
{
  guint n = 0, tier = fab_cabling_part (side->cabling, part)->tier;

  for (guint i = side->index->starts[part]; i < side->index->starts[part + 1]; i++) {
    const FabCable *cable = fab_cabling_cable (side->cabling, side->index->cables[i]);

    n += fab_cabling_part (side->cabling, fab_cabling_far_end (cable, part))->tier < tier ? cable->count : 0;
  }
  return n;
}

static double
rate_up (const Side *side, guint part)
{
  const Group *group = side->of_part[part];
  const FabCable *example = NULL;

  for (guint g = 0; g < side->groups->len && example == NULL; g++) {
    const Group *other = g_ptr_array_index (side->groups, g);

    if (other->to->len > 0 && fab_cabling_overlap (group->to, other->to))
      example = example_of (side, part, g_array_index (other->to, guint, 0));
  }
  return example ? example->bytes_per_s : 0;
}

static void
check_uplinks (FabCabling *self, const Side *lower, guint part)
{
  const Group *group = lower->of_part[part];
  guint tier = fab_cabling_part (self, part)->tier, n_down = ports_down (lower, part);

  if (group->total >= group->usual_total)
    return;
  g_autofree char *up = fab_cabling_tier_name (tier + 1, 2);
  fab_cabling_find (self, (FabCablingFinding){
                              .kind = FAB_CABLING_FEW_UPLINKS,
                              .part = (char *) name_of (lower, part),
                              .n_has = group->total,
                              .n_usual = group->usual_total,
                              .lost_bytes_per_s = (group->usual_total - group->total) * rate_up (lower, part),
                              .text = g_strdup_printf (
                                  "%s has %u of %u cables to %s, and %u %s down; %u of %u switches like it "
                                  "have all %u.",
                                  name_of (lower, part), group->total, group->usual_total, up, n_down,
                                  fab_plural (n_down, "port", "ports"), group->n_of_total, group->n_peers,
                                  group->usual_total),
                          });
}

static void
check_part (FabCabling *self, const Side *lower, const Side *upper, guint part)
{
  const Group *group = lower->of_part[part];
  GHashTableIter iter;
  gpointer key;

  check_uplinks (self, lower, part);
  g_hash_table_iter_init (&iter, group->usual);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    check_pair (self, lower, upper, part, GPOINTER_TO_UINT (key));
  for (guint i = 0; i < group->to->len; i++)
    check_misplaced (self, lower, upper, part, g_array_index (group->to, guint, i));
}

/* Pairs without a cable that the switches beside the upper one have, where most peers of the lower one have none. */
static void
check_from_above (FabCabling *self, const Side *lower, const Side *upper, guint to)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, upper->of_part[to]->usual);
  while (g_hash_table_iter_next (&iter, &key, NULL)) {
    guint part = GPOINTER_TO_UINT (key);

    if (lookup (lower->of_part[part]->usual, to) == 0)
      check_pair (self, lower, upper, part, to);
  }
}

static guint
count_alone (const Side *side)
{
  guint n = 0;

  for (guint g = 0; g < side->groups->len; g++) {
    const Group *group = g_ptr_array_index (side->groups, g);

    n += group->n_peers < 3 ? group->members->len : 0;
  }
  return n;
}

/* Says whether most switches of a tier are joined to others of it, as routers of a dragonfly or a torus are: what is
 * above them are routers without hosts. */
static gboolean
is_direct (const FabCabling *self, guint tier, guint n_switches)
{
  g_autoptr (GHashTable) joined = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < self->cables->len; i++) {
    const FabCable *cable = fab_cabling_cable (self, i);

    if (fab_cabling_part (self, cable->a)->tier != tier || fab_cabling_part (self, cable->b)->tier != tier)
      continue;
    g_hash_table_add (joined, GUINT_TO_POINTER (cable->a));
    g_hash_table_add (joined, GUINT_TO_POINTER (cable->b));
  }
  return 2 * g_hash_table_size (joined) > n_switches;
}

void
fab_cabling_check_switches (FabCabling *self, const FabCablingIndex *index)
{
  guint n_alone = 0;
  g_autoptr (GArray) tiers = fab_cabling_tiers (self);

  for (guint tier = 1; tier < tiers->len; tier++) {
    Side lower, upper;

    if (is_direct (self, tier, g_array_index (tiers, guint, tier - 1)))
      break;
    side_init (&lower, self, index, tier, tier + 1);
    side_init (&upper, self, index, tier + 1, tier);
    for (guint i = 0; i < self->parts->len; i++) {
      if (lower.of_part[i] != NULL)
        check_part (self, &lower, &upper, i);
      if (upper.of_part[i] != NULL)
        check_from_above (self, &lower, &upper, i);
    }
    n_alone += count_alone (&lower);
    side_clear (&lower);
    side_clear (&upper);
  }
  if (n_alone > 0)
    g_ptr_array_add (
        self->notes,
        g_strdup_printf ("%u %s fewer than three peers, so the number of %s cables up was not compared.",
                         n_alone, fab_plural (n_alone, "switch has", "switches have"),
                         fab_plural (n_alone, "its", "their")));
}
