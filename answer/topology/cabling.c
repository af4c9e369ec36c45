/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/topology/cabling.h"

#include <string.h>

#include "answer/topology/cabling_rules.h"
#include "sim/base/order.h"

const char *const fab_cabling_kind_names[FAB_N_CABLING_KINDS] = {
  [FAB_CABLING_MISSING] = "missing",     [FAB_CABLING_MISSING_NIC] = "missing_nic",
  [FAB_CABLING_SLOW] = "slow",           [FAB_CABLING_CROSSED] = "crossed",
  [FAB_CABLING_MISPLACED] = "misplaced", [FAB_CABLING_FEW_UPLINKS] = "few_uplinks",
};

static void
clear_part (gpointer data)
{
  g_free (((FabCablingPart *) data)->name);
}

static void
clear_cable (gpointer data)
{
  FabCable *cable = data;

  g_free (cable->port_a);
  g_free (cable->port_b);
  g_free (cable->speed);
  g_free (cable->possible);
}

static void
clear_finding (gpointer data)
{
  FabCablingFinding *finding = data;

  g_free (finding->part);
  g_free (finding->port);
  g_free (finding->peer);
  g_free (finding->peer_port);
  g_free (finding->text);
}

FabCabling *
fab_cabling_new (const char *source)
{
  FabCabling *self = g_new0 (FabCabling, 1);

  self->source = g_strdup (source);
  self->parts = g_array_new (FALSE, FALSE, sizeof (FabCablingPart));
  self->cables = g_array_new (FALSE, FALSE, sizeof (FabCable));
  self->findings = g_array_new (FALSE, FALSE, sizeof (FabCablingFinding));
  self->notes = g_ptr_array_new_with_free_func (g_free);
  g_array_set_clear_func (self->parts, clear_part);
  g_array_set_clear_func (self->cables, clear_cable);
  g_array_set_clear_func (self->findings, clear_finding);
  return self;
}

void
fab_cabling_free (FabCabling *self)
{
  if (self == NULL)
    return;
  g_free (self->source);
  g_array_unref (self->parts);
  g_array_unref (self->cables);
  g_array_unref (self->findings);
  g_ptr_array_unref (self->notes);
  g_free (self);
}

FabCablingPart *
fab_cabling_part (const FabCabling *self, guint index)
{
  return &g_array_index (self->parts, FabCablingPart, index);
}

FabCable *
fab_cabling_cable (const FabCabling *self, guint index)
{
  return &g_array_index (self->cables, FabCable, index);
}

guint
fab_cabling_add_part (FabCabling *self, char *name, gboolean is_host)
{
  FabCablingPart part = { .name = name, .is_host = is_host };

  g_array_append_val (self->parts, part);
  return self->parts->len - 1;
}

void
fab_cabling_add_cable (FabCabling *self, FabCable cable)
{
  g_array_append_val (self->cables, cable);
}

void
fab_cabling_find (FabCabling *self, FabCablingFinding finding)
{
  finding.part = g_strdup (finding.part);
  finding.port = g_strdup (finding.port);
  finding.peer = g_strdup (finding.peer);
  finding.peer_port = g_strdup (finding.peer_port);
  g_array_append_val (self->findings, finding);
}

/* --- cables of parts --- */

void
fab_cabling_index_init (FabCablingIndex *self, const FabCabling *cabling)
{
  guint n = cabling->parts->len;
  g_autofree guint *at = g_new0 (guint, n + 1);

  self->starts = g_new0 (guint, n + 1);
  self->cables = g_new (guint, 2 * cabling->cables->len + 1);
  for (guint i = 0; i < cabling->cables->len; i++) {
    self->starts[fab_cabling_cable (cabling, i)->a + 1]++;
    self->starts[fab_cabling_cable (cabling, i)->b + 1]++;
  }
  for (guint i = 2; i <= n; i++) /* the first part begins at 0 */
    self->starts[i] += self->starts[i - 1];
  memcpy (at, self->starts, (n + 1) * sizeof *at);
  for (guint i = 0; i < cabling->cables->len; i++) {
    self->cables[at[fab_cabling_cable (cabling, i)->a]++] = i;
    self->cables[at[fab_cabling_cable (cabling, i)->b]++] = i;
  }
}

void
fab_cabling_index_clear (FabCablingIndex *self)
{
  g_free (self->starts);
  g_free (self->cables);
}

/* --- votes --- */

void
fab_cabling_votes_init (FabCablingVotes *self)
{
  self->weights = g_hash_table_new (NULL, NULL);
  self->total = 0;
}

void
fab_cabling_votes_clear (FabCablingVotes *self)
{
  g_hash_table_unref (self->weights);
}

void
fab_cabling_votes_add (FabCablingVotes *self, guint number, guint weight)
{
  gpointer key = GUINT_TO_POINTER (number + 1);
  guint before = GPOINTER_TO_UINT (g_hash_table_lookup (self->weights, key));

  g_hash_table_insert (self->weights, key, GUINT_TO_POINTER (before + weight));
  self->total += weight;
}

guint
fab_cabling_votes_winner (const FabCablingVotes *self, guint *weight)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, self->weights);
  while (self->total >= 3 && g_hash_table_iter_next (&iter, &key, &value))
    if (2 * (guint64) GPOINTER_TO_UINT (value) > self->total) {
      if (weight != NULL)
        *weight = GPOINTER_TO_UINT (value);
      return GPOINTER_TO_UINT (key) - 1;
    }
  return G_MAXUINT;
}

gboolean
fab_cabling_overlap (const GArray *one, const GArray *other)
{
  guint i = 0, k = 0, n_common = 0, n = MIN (one->len, other->len);

  while (i < one->len && k < other->len) {
    guint x = g_array_index (one, guint, i), y = g_array_index (other, guint, k);

    n_common += x == y;
    i += x <= y;
    k += y <= x;
  }
  return 2 * n_common >= n;
}

GBytes *
fab_cabling_key (const GArray *one, const GArray *other)
{
  GByteArray *key = g_byte_array_new ();

  g_byte_array_append (key, (const guint8 *) one->data, one->len * (guint) sizeof (guint));
  g_byte_array_append (key, (const guint8 *) other->data, other->len * (guint) sizeof (guint));
  return g_byte_array_free_to_bytes (key);
}

/* --- tiers --- */

/* A switch with hosts is a leaf, unless these are a tenth of its cables or fewer, and more than half of the switches
 * beside it have more: a spine with the host of a fabric manager. */
static gboolean
is_leaf (const FabCabling *self, const FabCablingIndex *index, const guint *n_hosts, guint part)
{
  guint n_more = 0, n_cables = 0, n_switches = 0;

  for (guint i = index->starts[part]; i < index->starts[part + 1]; i++) {
    const FabCable *cable = fab_cabling_cable (self, index->cables[i]);
    guint other = fab_cabling_far_end (cable, part);

    n_cables += cable->count;
    n_switches += !fab_cabling_part (self, other)->is_host;
    n_more += n_hosts[other] > n_hosts[part];
  }
  return n_hosts[part] > 0 && (10 * n_hosts[part] > n_cables || 2 * n_more <= n_switches);
}

static void
number_tiers (FabCabling *self, const FabCablingIndex *index)
{
  guint n = self->parts->len;
  g_autofree guint *n_hosts = g_new (guint, n + 1);
  g_autoptr (GArray) queue = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < n; i++)
    n_hosts[i] = fab_cabling_part (self, i)->n_unnamed;
  for (guint i = 0; i < self->cables->len; i++) {
    const FabCable *cable = fab_cabling_cable (self, i);

    if (fab_cabling_part (self, cable->a)->is_host)
      n_hosts[cable->b] += cable->count;
  }
  for (guint i = 0; i < n; i++) {
    FabCablingPart *part = fab_cabling_part (self, i);

    part->tier = part->is_host ? 0 : is_leaf (self, index, n_hosts, i) ? 1 : G_MAXUINT;
    if (part->tier == 1)
      g_array_append_val (queue, i);
  }
  for (guint k = 0; k < queue->len; k++) {
    guint at = g_array_index (queue, guint, k);

    for (guint i = index->starts[at]; i < index->starts[at + 1]; i++) {
      guint other = fab_cabling_far_end (fab_cabling_cable (self, index->cables[i]), at);

      if (fab_cabling_part (self, other)->tier != G_MAXUINT)
        continue;
      fab_cabling_part (self, other)->tier = fab_cabling_part (self, at)->tier + 1;
      g_array_append_val (queue, other);
    }
  }
}

GArray *
fab_cabling_tiers (const FabCabling *self)
{
  GArray *tiers = g_array_new (FALSE, TRUE, sizeof (guint));

  for (guint i = 0; i < self->parts->len; i++) {
    guint tier = fab_cabling_part (self, i)->tier;

    if (tier == 0 || tier == G_MAXUINT)
      continue;
    if (tiers->len < tier)
      g_array_set_size (tiers, tier);
    g_array_index (tiers, guint, tier - 1)++;
  }
  return tiers;
}

char *
fab_cabling_tier_name (guint tier, guint n)
{
  static const char *const one[] = { "host", "leaf", "spine", "core" };
  static const char *const several[] = { "hosts", "leaves", "spines", "cores" };

  if (tier < G_N_ELEMENTS (one))
    return g_strdup (n == 1 ? one[tier] : several[tier]);
  return g_strdup_printf (n == 1 ? "switch of tier %u" : "switches of tier %u", tier);
}

/* --- the check --- */

static gint
compare_findings (gconstpointer a, gconstpointer b)
{
  const FabCablingFinding *x = a, *y = b;

  if (x->lost_bytes_per_s != y->lost_bytes_per_s)
    return fab_order_doubles (&y->lost_bytes_per_s, &x->lost_bytes_per_s);
  if (x->kind != y->kind)
    return (gint) x->kind - (gint) y->kind;
  return strcmp (x->text, y->text);
}

static void
note_unreached (FabCabling *self)
{
  guint n = 0;

  for (guint i = 0; i < self->parts->len; i++)
    n += fab_cabling_part (self, i)->tier == G_MAXUINT;
  if (n > 0)
    g_ptr_array_add (self->notes,
                     g_strdup_printf ("No host reaches %u of the switches, so they were not compared.", n));
}

void
fab_cabling_check (FabCabling *self)
{
  FabCablingIndex index;

  fab_cabling_index_init (&index, self);
  number_tiers (self, &index);
  note_unreached (self);
  fab_cabling_check_switches (self, &index);
  fab_cabling_check_hosts (self, &index);
  fab_cabling_check_speeds (self);
  g_array_sort (self->findings, compare_findings);
  fab_cabling_index_clear (&index);
}
