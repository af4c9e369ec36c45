/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/memory_advice.h"

#include <string.h>

#include "sim/base/thread_pool.h"
#include "sim/study/machine.h"

/* --- remedies and fits --- */

FabRemedy *
fab_remedy_new (const char *group, const char *family, guint cost, FabEdits *edits)
{
  FabRemedy *self = g_new0 (FabRemedy, 1);

  *self = (FabRemedy){ .group = group, .family = family, .n_changes = 1, .cost = cost, .edits = edits };
  return self;
}

void
fab_remedy_free (FabRemedy *self)
{
  if (self == NULL)
    return;
  fab_edits_free (self->edits);
  g_free (self);
}

static void
fit_free (gpointer data)
{
  FabMemoryFit *self = data;

  if (self == NULL)
    return;
  fab_edits_free (self->edits);
  g_clear_pointer (&self->parts, g_array_unref);
  g_free (self);
}

static FabMemoryFit *
fit_copy (const FabMemoryFit *self)
{
  FabMemoryFit *copy = g_new0 (FabMemoryFit, 1);

  copy->edits = fab_edits_new ();
  fab_edits_append (copy->edits, self->edits);
  copy->bytes = self->bytes;
  copy->parts = g_array_ref (self->parts);
  copy->note = self->note;
  return copy;
}

void
fab_memory_advice_free (FabMemoryAdvice *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->fits);
  fit_free (self->closest);
  g_free (self);
}

/* The parts of the rank that needs most. */
static void
weigh (FabMemoryFit *self, const FabSimulation *simulation)
{
  const FabJobTotals *totals = fab_simulation_totals (simulation);
  FabFit fit = fab_fit_of (simulation);

  self->bytes = fit.needed_bytes;
  self->parts = g_array_new (FALSE, FALSE, sizeof (FabMemoryPart));
  for (guint i = 0; totals->memory != NULL && i < totals->memory->len; i++) {
    const FabMemoryPart *part = &g_array_index (totals->memory, FabMemoryPart, i);

    if (part->rank_class == fit.rank_class)
      g_array_append_val (self->parts, *part);
  }
}

static FabBytes
part_bytes (const FabMemoryFit *self, const char *name)
{
  for (guint i = 0; i < self->parts->len; i++)
    if (strcmp (g_array_index (self->parts, FabMemoryPart, i).part, name) == 0)
      return g_array_index (self->parts, FabMemoryPart, i).bytes;
  return 0;
}

/* --- the edits of several remedies --- */

/* Keys and values in order. A key inside a mapping that is set before becomes a part of that mapping, so that no edit
 * undoes another. */
typedef struct {
  GPtrArray *keys;   /* char */
  GPtrArray *values; /* FabValue */
} Merged;

static void
value_free (gpointer value)
{
  fab_value_unref (value);
}

/* A copy of the mapping (NULL: an empty one) in which the key at `path` has the value. (transfer full) */
static FabValue *
with_key (const FabValue *mapping, char **path, const FabValue *value)
{
  FabValue *copy = fab_value_mapping ();
  const FabValue *old = NULL;

  for (guint i = 0; mapping != NULL && mapping->keys != NULL && i < mapping->keys->len; i++) {
    const char *key = g_ptr_array_index (mapping->keys, i);

    if (strcmp (key, path[0]) == 0)
      old = g_ptr_array_index (mapping->values, i);
    else
      fab_value_put (copy, key, fab_value_ref (g_ptr_array_index (mapping->values, i)));
  }
  fab_value_put (copy, path[0], path[1] == NULL ? fab_value_ref (value) : with_key (old, path + 1, value));
  return copy;
}

static void
merged_put (Merged *self, const char *key, const FabValue *value)
{
  for (guint i = 0; i < self->keys->len; i++) {
    const char *before = g_ptr_array_index (self->keys, i);
    gpointer *slot = &g_ptr_array_index (self->values, i);
    gsize n = strlen (before);
    FabValue *old = *slot;

    if (strcmp (before, key) == 0) {
      *slot = fab_value_ref (value);
    } else if (strncmp (before, key, n) == 0 && key[n] == '.') {
      g_auto (GStrv) path = g_strsplit (key + n + 1, ".", -1);
      *slot = with_key (old, path, value);
    } else {
      continue;
    }
    fab_value_unref (old);
    return;
  }
  g_ptr_array_add (self->keys, g_strdup (key));
  g_ptr_array_add (self->values, fab_value_ref (value));
}

static FabEdits *
merged_edits (const Merged *self)
{
  FabEdits *edits = fab_edits_new ();

  for (guint i = 0; i < self->keys->len; i++)
    fab_edits_set (edits, g_ptr_array_index (self->keys, i),
                   fab_value_ref (g_ptr_array_index (self->values, i)));
  return edits;
}

/* --- sets of remedies --- */

enum {
  MOST_TOGETHER = 4, /* remedies, and changes that count */
  AT_ONCE = 4,       /* sets that are built before the next ones are chosen */
  MOST_OF_A_LEVEL = 24,
  MOST_HOPELESS = 4,          /* sets of a level that are built though the guess says that they do not fit */
  MOST_ENLARGED = 3,          /* sets of as many remedies that are tried on more GPUs */
  MOST_ENLARGED_REMEDIES = 2, /* of such a set */
};

static const double guess_margin = 1.1; /* the guess may be too high by so much */

typedef struct {
  guint n, index[MOST_TOGETHER + 1]; /* into the remedies, ascending */
  guint n_changes, cost;
  gboolean is_larger;
  double guess_bytes;
  FabMemoryFit *fit; /* NULL: not built, or it cannot be */
} Set;

typedef struct {
  const FabScenario *scenario;
  const GPtrArray *remedies;
  const FabMemoryTrying *trying;
  FabPlantCache *plants;
  FabMemoryFit base;      /* as the scenario is; without edits */
  FabMemoryFit **singles; /* [remedies]; NULL: it cannot be built */
  FabBytes device_bytes;
  gboolean needs_slow; /* only sets with a slow remedy are chosen: those without were */
  GPtrArray *sets;     /* Set: of all that were chosen to be built */
  GPtrArray *found;    /* Set: those that fit, each with other families */
} Search;

static void
set_free (gpointer data)
{
  Set *self = data;

  fit_free (self->fit);
  g_free (self);
}

static const FabRemedy *
remedy_at (const Search *self, guint index)
{
  return g_ptr_array_index (self->remedies, index);
}

static const FabRemedy *
remedy_of (const Search *self, const Set *set, guint i)
{
  return remedy_at (self, set->index[i]);
}

static gboolean
does_fit (const Search *self, const FabMemoryFit *fit)
{
  return fit != NULL && fit->bytes <= self->device_bytes;
}

static gboolean
has_family (const Search *self, const Set *set, const char *family)
{
  for (guint i = 0; i < set->n; i++)
    if (strcmp (remedy_of (self, set, i)->family, family) == 0
        || g_strcmp0 (remedy_of (self, set, i)->more, family) == 0)
      return TRUE;
  return FALSE;
}

/* Whether the set has all families of `less`. */
static gboolean
covers (const Search *self, const Set *set, const Set *less)
{
  for (guint i = 0; i < less->n; i++)
    if (!has_family (self, set, remedy_of (self, less, i)->family))
      return FALSE;
  return TRUE;
}

static gboolean
is_found (const Search *self, const Set *set)
{
  for (guint i = 0; i < self->found->len; i++)
    if (covers (self, set, g_ptr_array_index (self->found, i)))
      return TRUE;
  return FALSE;
}

/* --- building --- */

/* Changes the micro-batches of a step so that it keeps its sequences, where the job says how many there are and they
 * can be divided so. `changed` has been checked. */
static void
keep_batch (const FabScenario *scenario, const FabScenario *changed, Merged *merged)
{
  FabBatch was = fab_batch_of (scenario), is = fab_batch_of (changed);

  if (was.micro_batch == 0 || is.micro_batch == 0 || is.global_batch > 0)
    return;
  guint64 sequences = fab_batch_sequences (&was), round = is.micro_batch * fab_batch_copies (&is);
  if (round == 0 || sequences % round != 0 || sequences / round == is.accumulation)
    return;
  g_autoptr (FabValue) accumulation = fab_value_count ((gint64) (sequences / round));
  merged_put (merged, "job.accumulation", accumulation);
}

/* Builds the scenario with the edits; NULL: that cannot be. (transfer full) */
static FabMemoryFit *
build_merged (const Search *self, Merged *merged)
{
  g_autoptr (FabScenario) changed = fab_scenario_copy (self->scenario);
  g_autoptr (FabEdits) first = merged_edits (merged);

  fab_scenario_edit (changed, first);
  if (!fab_scenario_check (changed, NULL))
    return NULL;
  keep_batch (self->scenario, changed, merged);
  g_autoptr (FabScenario) whole = fab_scenario_copy (self->scenario);
  g_autoptr (FabEdits) edits = merged_edits (merged);
  fab_scenario_edit (whole, edits);
  if (!fab_scenario_check (whole, NULL))
    return NULL;
  g_autoptr (FabSimulation) simulation = fab_simulation_build_on (self->plants, whole, self->trying->registry,
                                                                  NULL, self->trying->cancel, NULL);
  if (simulation == NULL || fab_simulation_totals (simulation)->memory == NULL)
    return NULL;
  FabMemoryFit *fit = g_new0 (FabMemoryFit, 1);
  fit->edits = g_steal_pointer (&edits);
  weigh (fit, simulation);
  return fit;
}

static FabMemoryFit *
build (const Search *self, const Set *set)
{
  Merged merged = { g_ptr_array_new_with_free_func (g_free), g_ptr_array_new_with_free_func (value_free) };

  for (guint i = 0; i < set->n; i++)
    for (guint e = 0; e < fab_edits_count (remedy_of (self, set, i)->edits); e++) {
      const FabEdit *edit = fab_edits_at (remedy_of (self, set, i)->edits, e);

      merged_put (&merged, edit->key, edit->value);
    }
  FabMemoryFit *fit = build_merged (self, &merged);
  g_ptr_array_unref (merged.keys);
  g_ptr_array_unref (merged.values);
  for (guint i = 0; fit != NULL && i < set->n; i++)
    fit->note = remedy_of (self, set, i)->note != NULL ? remedy_of (self, set, i)->note : fit->note;
  return fit;
}

typedef struct {
  const Search *search;
  GPtrArray *sets; /* Set, which get their fits */
} Builds;

static void
build_item (gpointer data, guint item)
{
  const Builds *self = data;
  Set *set = g_ptr_array_index (self->sets, item);

  if (set->fit == NULL)
    set->fit = build (self->search, set);
}

static void
build_all (const Search *self, GPtrArray *sets)
{
  fab_thread_pool_run (self->trying->n_threads, sets->len, build_item, &(Builds){ self, sets });
}

/* --- guessing --- */

/* What is left of a part of the base: as if every remedy left its own share of it. A part that only remedies have
 * counts as the largest of them. */
static double
guess_part (const Search *self, const Set *set, const char *name)
{
  double bytes = (double) part_bytes (&self->base, name);

  if (bytes <= 0) {
    for (guint i = 0; i < set->n; i++)
      bytes = MAX (bytes, (double) part_bytes (self->singles[set->index[i]], name));
    return bytes;
  }
  for (guint i = 0; i < set->n; i++)
    bytes *= (double) part_bytes (self->singles[set->index[i]], name)
           / (double) part_bytes (&self->base, name);
  return bytes;
}

static double
guess (const Search *self, const Set *set)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  double sum = 0;

  for (guint i = 0; i <= set->n; i++) {
    const FabMemoryFit *fit = i == set->n ? &self->base : self->singles[set->index[i]];

    for (guint p = 0; p < fit->parts->len; p++) {
      const char *name = g_array_index (fit->parts, FabMemoryPart, p).part;

      if (g_hash_table_add (names, (gpointer) name))
        sum += guess_part (self, set, name);
    }
  }
  return sum;
}

/* Whether a remedy alone makes some part of the memory smaller. */
static gboolean
is_useful (const Search *self, guint index)
{
  const FabMemoryFit *single = self->singles[index];

  for (guint p = 0; single != NULL && p < self->base.parts->len; p++) {
    const FabMemoryPart *part = &g_array_index (self->base.parts, FabMemoryPart, p);

    if (part_bytes (single, part->part) < part->bytes)
      return TRUE;
  }
  return FALSE;
}

/* --- choosing --- */

static Set *
set_with (const Search *self, const Set *less, guint index)
{
  const FabRemedy *remedy = remedy_at (self, index);
  Set *set = g_new0 (Set, 1);

  if (less != NULL)
    *set = *less;
  set->fit = NULL;
  set->index[set->n++] = index;
  set->n_changes += remedy->n_changes;
  set->cost += remedy->cost;
  set->is_larger = set->is_larger || remedy->is_larger;
  return set;
}

static gboolean
has_group (const Search *self, const Set *set, const char *group)
{
  for (guint i = 0; set != NULL && i < set->n; i++)
    if (strcmp (remedy_of (self, set, i)->group, group) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
has_slow (const Search *self, const Set *set)
{
  for (guint i = 0; i < set->n; i++)
    if (remedy_of (self, set, i)->is_slow)
      return TRUE;
  return FALSE;
}

/* Adds all sets of useful remedies that go on from `less` with `from` or later ones and have so many changes. */
static void
add_sets (const Search *self, const Set *less, guint from, guint n_changes, GPtrArray *sets)
{
  for (guint i = from; i < self->remedies->len; i++) {
    const FabRemedy *remedy = remedy_at (self, i);

    if (remedy->is_larger || remedy->n_changes > n_changes || has_group (self, less, remedy->group)
        || !is_useful (self, i))
      continue;
    Set *set = set_with (self, less, i);
    if (remedy->n_changes < n_changes)
      add_sets (self, set, i + 1, n_changes - remedy->n_changes, sets);
    if (remedy->n_changes < n_changes || is_found (self, set)
        || (self->needs_slow && !has_slow (self, set))) {
      set_free (set);
      continue;
    }
    set->guess_bytes = guess (self, set);
    set->fit = set->n == 1 ? fit_copy (self->singles[i]) : NULL;
    g_ptr_array_add (sets, set);
  }
}

static gboolean
is_hopeful (const Search *self, const Set *set)
{
  return set->guess_bytes <= guess_margin * (double) self->device_bytes;
}

/* Hopeful ones by cost; then the others by the guess. */
static gint
likely_first (gconstpointer a, gconstpointer b, gpointer data)
{
  const Set *x = *(Set *const *) a, *y = *(Set *const *) b;
  gboolean is_x = is_hopeful (data, x), is_y = is_hopeful (data, y);

  if (is_x != is_y)
    return is_x ? -1 : 1;
  if (is_x && x->cost != y->cost)
    return x->cost < y->cost ? -1 : 1;
  if (x->guess_bytes != y->guess_bytes)
    return x->guess_bytes < y->guess_bytes ? -1 : 1;
  return memcmp (x->index, y->index, sizeof x->index);
}

static gboolean
has_equal (const Search *self, const GPtrArray *sets, const Set *set)
{
  for (guint i = 0; i < sets->len; i++) {
    const Set *other = g_ptr_array_index (sets, i);

    if (covers (self, other, set) && covers (self, set, other))
      return TRUE;
  }
  return FALSE;
}

/* Whether one of the sets has all families of this one. */
static gboolean
has_more (const Search *self, const GPtrArray *sets, const Set *set)
{
  for (guint i = 0; i < sets->len; i++)
    if (covers (self, g_ptr_array_index (sets, i), set))
      return TRUE;
  return FALSE;
}

/* Moves the next sets to be built out of `sets`. A set with families of one before it waits until that was built: so no
 * set that fits keeps out one that comes before it. (transfer container) */
static GPtrArray *
take_next (const Search *self, GPtrArray *sets, guint n_hopeless)
{
  GPtrArray *next = g_ptr_array_new ();

  for (guint i = 0; i < sets->len && next->len < AT_ONCE;) {
    Set *set = g_ptr_array_index (sets, i);

    if (!is_hopeful (self, set) && next->len > 0 && is_hopeful (self, g_ptr_array_index (next, 0)))
      break;
    if (!is_hopeful (self, set) && next->len >= n_hopeless)
      break;
    if (is_found (self, set))
      g_ptr_array_remove_index (sets, i);
    else if (has_more (self, next, set))
      i++;
    else
      g_ptr_array_add (next, g_ptr_array_steal_index (sets, i));
  }
  return next;
}

static void
note_fits (Search *self, const GPtrArray *built)
{
  for (guint i = 0; i < built->len; i++) {
    Set *set = g_ptr_array_index (built, i);

    g_ptr_array_add (self->sets, set);
    if (does_fit (self, set->fit) && !is_found (self, set))
      g_ptr_array_add (self->found, set);
  }
}

static gboolean
is_enough (const Search *self)
{
  gboolean is_cancelled = self->trying->cancel != NULL && g_atomic_int_get (self->trying->cancel) != 0;

  return self->found->len >= FAB_MOST_MEMORY_FITS || is_cancelled;
}

/* Builds sets with so many changes until enough of them fit. */
static void
try_level (Search *self, guint n_changes)
{
  g_autoptr (GPtrArray) sets = g_ptr_array_new_with_free_func (set_free);
  guint n_built = 0;

  add_sets (self, NULL, 0, n_changes, sets);
  g_ptr_array_sort_with_data (sets, likely_first, self);
  while (!is_enough (self) && n_built < MOST_OF_A_LEVEL) {
    g_autoptr (GPtrArray) next = take_next (self, sets, MOST_HOPELESS);
    gboolean is_last = next->len == 0 || !is_hopeful (self, g_ptr_array_index (next, 0));

    build_all (self, next);
    note_fits (self, next);
    n_built += next->len;
    if (is_last)
      return;
  }
}

/* --- more GPUs --- */

static gint
least_first (gconstpointer a, gconstpointer b)
{
  const Set *x = *(Set *const *) a, *y = *(Set *const *) b;

  if (x->fit->bytes != y->fit->bytes)
    return x->fit->bytes < y->fit->bytes ? -1 : 1;
  return memcmp (x->index, y->index, sizeof x->index);
}

/* The sets of n remedies that were built and do not fit, the smallest first, each with other families. (transfer
 * container) */
static GPtrArray *
built_sets (const Search *self, guint n)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  GPtrArray *best = g_ptr_array_new ();

  for (guint i = 0; i < self->sets->len; i++) {
    Set *set = g_ptr_array_index (self->sets, i);

    if (set->n == n && set->fit != NULL && !set->is_larger && !does_fit (self, set->fit))
      g_ptr_array_add (all, set);
  }
  g_ptr_array_sort (all, least_first);
  for (guint i = 0; i < all->len && best->len < MOST_ENLARGED; i++)
    if (!has_equal (self, best, g_ptr_array_index (all, i)))
      g_ptr_array_add (best, g_ptr_array_index (all, i));
  return best;
}

/* Builds with one remedy that takes more GPUs each of the sets (NULL: the scenario as it is). Returns whether one
 * needs less memory than before. */
static gboolean
enlarge (Search *self, guint larger, const GPtrArray *sets)
{
  g_autoptr (GPtrArray) built = g_ptr_array_new ();
  gboolean is_less = FALSE;

  for (guint i = 0; i < sets->len; i++)
    g_ptr_array_add (built, set_with (self, g_ptr_array_index (sets, i), larger));
  build_all (self, built);
  for (guint i = 0; i < built->len; i++) {
    const Set *before = g_ptr_array_index (sets, i), *after = g_ptr_array_index (built, i);
    FabBytes bytes = before != NULL ? before->fit->bytes : self->base.bytes;

    is_less = is_less || (after->fit != NULL && after->fit->bytes < bytes);
  }
  note_fits (self, built);
  return is_less;
}

/* The fewest GPUs first, and on them the fewest other changes. */
static void
try_larger (Search *self)
{
  guint n_before = self->found->len;

  for (guint i = 0; i < self->remedies->len && self->found->len == n_before; i++) {
    gboolean is_less = FALSE;

    if (n_before > 0 && remedy_at (self, i)->is_slow)
      return;
    for (guint n = 0; remedy_at (self, i)->is_larger && n <= MOST_ENLARGED_REMEDIES && !is_enough (self);
         n++) {
      g_autoptr (GPtrArray) sets = n > 0 ? built_sets (self, n) : g_ptr_array_new ();

      if (n == 0)
        g_ptr_array_add (sets, NULL);
      is_less = enlarge (self, i, sets) || is_less;
    }
    if (remedy_at (self, i)->is_larger && !is_less)
      return;
  }
}

/* Whether one change is enough, of which nothing was left unchecked. */
static gboolean
has_simple_fit (const Search *self)
{
  for (guint i = 0; i < self->found->len; i++) {
    const Set *set = g_ptr_array_index (self->found, i);

    if (set->n_changes == 1 && set->fit->note == NULL)
      return TRUE;
  }
  return FALSE;
}

/* --- all --- */

/* Builds every remedy alone that does not take more GPUs: the slow ones, or the others. */
static void
build_singles (Search *self)
{
  g_autoptr (GPtrArray) sets = g_ptr_array_new ();

  for (guint i = 0; i < self->remedies->len; i++)
    if (!remedy_at (self, i)->is_larger && remedy_at (self, i)->is_slow == self->needs_slow)
      g_ptr_array_add (sets, set_with (self, NULL, i));
  build_all (self, sets);
  for (guint i = 0; i < sets->len; i++) {
    Set *set = g_ptr_array_index (sets, i);

    self->singles[set->index[0]] = set->fit != NULL ? fit_copy (set->fit) : NULL;
    g_ptr_array_add (self->sets, set);
  }
}

/* Alternatives have one change more than the nearest fit at most. */
static void
try_levels (Search *self)
{
  build_singles (self);
  for (guint n_changes = 1; n_changes <= MOST_TOGETHER && !is_enough (self); n_changes++) {
    guint n_found = self->found->len;

    try_level (self, n_changes);
    if (n_found > 0)
      return;
  }
}

/* Fits on the GPUs that there are come first. */
static gint
nearest_first (gconstpointer a, gconstpointer b)
{
  const Set *x = *(Set *const *) a, *y = *(Set *const *) b;

  if (x->is_larger != y->is_larger)
    return x->is_larger ? 1 : -1;
  if (x->n_changes != y->n_changes)
    return x->n_changes < y->n_changes ? -1 : 1;
  if (x->cost != y->cost)
    return x->cost < y->cost ? -1 : 1;
  return least_first (a, b);
}

static const FabMemoryFit *
find_closest (const Search *self)
{
  const FabMemoryFit *closest = &self->base;

  for (guint i = 0; i < self->sets->len; i++) {
    const Set *set = g_ptr_array_index (self->sets, i);

    if (set->fit != NULL && set->fit->bytes < closest->bytes)
      closest = set->fit;
  }
  return closest != &self->base ? closest : NULL;
}

static guint
count_built (const Search *self)
{
  guint n = 0;

  for (guint i = 0; i < self->remedies->len; i++)
    n += self->singles[i] != NULL;
  for (guint i = 0; i < self->sets->len; i++) {
    const Set *set = g_ptr_array_index (self->sets, i);

    n += (set->n > 1 || set->is_larger) && set->fit != NULL; /* the others that are alone are singles */
  }
  return n;
}

static FabMemoryAdvice *
advice_of (const Search *self)
{
  FabMemoryAdvice *advice = g_new0 (FabMemoryAdvice, 1);
  const FabMemoryFit *closest = find_closest (self);

  advice->fits = g_ptr_array_new_with_free_func (fit_free);
  advice->device_bytes = self->device_bytes;
  advice->n_built = count_built (self);
  g_ptr_array_sort (self->found, nearest_first);
  for (guint i = 0; i < MIN (self->found->len, FAB_MOST_MEMORY_FITS); i++)
    g_ptr_array_add (advice->fits, fit_copy (((const Set *) g_ptr_array_index (self->found, i))->fit));
  if (self->found->len == 0 && closest != NULL)
    advice->closest = fit_copy (closest);
  return advice;
}

FabMemoryAdvice *
fab_memory_advice_find (const FabScenario *scenario, const FabSimulation *simulation,
                        const GPtrArray *remedies, const FabMemoryTrying *trying)
{
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (fab_thread_pool_size (trying->n_threads));
  g_autoptr (GPtrArray) sets = g_ptr_array_new_with_free_func (set_free), found = g_ptr_array_new ();
  Search self = { .scenario = scenario,
                  .remedies = remedies,
                  .trying = trying,
                  .plants = plants,
                  .singles = g_new0 (FabMemoryFit *, remedies->len + 1),
                  .device_bytes = fab_fit_of (simulation).device_bytes,
                  .sets = sets,
                  .found = found };

  weigh (&self.base, simulation);
  try_levels (&self);
  self.needs_slow = TRUE;
  if (found->len == 0)
    try_levels (&self);
  if (!is_enough (&self) && !has_simple_fit (&self))
    try_larger (&self);
  FabMemoryAdvice *advice = advice_of (&self);
  for (guint i = 0; i < remedies->len; i++)
    fit_free (self.singles[i]);
  g_free (self.singles);
  g_array_unref (self.base.parts);
  return advice;
}
