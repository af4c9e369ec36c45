/* SPDX-License-Identifier: Apache-2.0 */
/* accounts.c - medians of medians. O(accounts x sizes x log sizes), with a few dozen accounts. */
#include "validate/compare/accounts.h"

#include <string.h>

const char *const fab_operations_names[FAB_N_OPERATIONS + 1] = {
  [FAB_OPERATIONS_RINGS] = "rings and trees", [FAB_OPERATIONS_PAIRS] = "all-to-all and send-receive"
};

const char *const fab_account_kind_names[FAB_N_ACCOUNT_KINDS + 1] = {
  [FAB_ACCOUNT_ALL] = "all",
  [FAB_ACCOUNT_PLACE] = "place",
  [FAB_ACCOUNT_OPERATIONS] = "operations",
  [FAB_ACCOUNT_PLACE_AND_OPERATIONS] = "place and operations",
  [FAB_ACCOUNT_AMD] = "AMD",
  [FAB_ACCOUNT_INTERCONNECT] = "interconnect",
  [FAB_ACCOUNT_DOUBTFUL] = "doubtful",
};

static const char *const place_names[FAB_N_PLACES] = {
  [FAB_PLACE_NODE] = "one node", [FAB_PLACE_RACK] = "one rack", [FAB_PLACE_NODES] = "several nodes"
};

FabOperations
fab_operations_of (FabOp op)
{
  return op == FAB_OP_ALL_TO_ALL || op == FAB_OP_SEND_RECV ? FAB_OPERATIONS_PAIRS : FAB_OPERATIONS_RINGS;
}

/* --- which tables belong to an account --- */

typedef struct {
  gboolean is_doubtful;
  gboolean is_amd;          /* of these alone */
  int place, operations;    /* -1: any */
  const char *interconnect; /* NULL: any */
} Scope;

static const Scope any = { .place = -1, .operations = -1 };

static gboolean
holds (const Scope *self, const FabAccountTable *table)
{
  return table->spec->is_doubtful == self->is_doubtful && (!self->is_amd || table->is_amd)
      && (self->place < 0 || (int) table->place == self->place)
      && (self->operations < 0 || (int) fab_operations_of ((FabOp) table->spec->op) == self->operations)
      && (self->interconnect == NULL || strcmp (self->interconnect, table->spec->interconnect) == 0);
}

/* --- counting --- */

static double
median_of (const GArray *fractions)
{
  g_autofree FabBytes *sizes = g_new0 (FabBytes, fractions->len + 1);

  return fab_errors_of ((const double *) (gpointer) fractions->data, sizes, fractions->len).median_fraction;
}

/* What one class of a role's tables comes to: all their sizes, each table's median, and by family these medians. */
typedef struct {
  GArray *errors;       /* double */
  GArray *sizes;        /* FabBytes */
  GArray *medians;      /* double, of each table */
  GHashTable *families; /* interconnect -> GArray of double, the medians of its tables */
} Heap;

static void
heap_add (Heap *self, const FabAccountTable *table, FabSizeClass size_class)
{
  FabErrors own = fab_errors_of_class (table->errors, table->sizes_bytes, table->n, size_class);
  GArray *family = g_hash_table_lookup (self->families, table->spec->interconnect);

  if (own.n == 0)
    return;
  for (guint i = 0; i < table->n; i++)
    if (fab_size_class (table->sizes_bytes[i]) == size_class) {
      g_array_append_val (self->errors, table->errors[i]);
      g_array_append_val (self->sizes, table->sizes_bytes[i]);
    }
  g_array_append_val (self->medians, own.median_fraction);
  if (family == NULL) {
    family = g_array_new (FALSE, FALSE, sizeof (double));
    g_hash_table_insert (self->families, (gpointer) table->spec->interconnect, family);
  }
  g_array_append_val (family, own.median_fraction);
}

static FabTally
heap_count (const Heap *self)
{
  g_autoptr (GArray) families = g_array_new (FALSE, FALSE, sizeof (double));
  GHashTableIter iter;
  gpointer family;

  g_hash_table_iter_init (&iter, self->families);
  while (g_hash_table_iter_next (&iter, NULL, &family)) {
    double median = median_of (family);

    g_array_append_val (families, median);
  }
  return (FabTally){ .sizes = fab_errors_of ((const double *) (gpointer) self->errors->data,
                                             (const FabBytes *) (gpointer) self->sizes->data,
                                             self->errors->len),
                     .n_tables = self->medians->len,
                     .tables_fraction = median_of (self->medians),
                     .n_families = families->len,
                     .families_fraction = median_of (families) };
}

static FabTally
tally_of (const FabAccountTable *tables, guint n, const Scope *scope, FabMeasuredRole role,
          FabSizeClass size_class)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (FabBytes));
  g_autoptr (GArray) medians = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GHashTable) families = g_hash_table_new_full (g_str_hash, g_str_equal, NULL,
                                                           (GDestroyNotify) g_array_unref);
  Heap heap = { errors, sizes, medians, families };

  for (guint i = 0; i < n; i++)
    if (tables[i].role == role && holds (scope, &tables[i]))
      heap_add (&heap, &tables[i], size_class);
  return heap_count (&heap);
}

/* --- accounts --- */

gboolean
fab_account_has_role (const FabAccount *self, FabMeasuredRole role)
{
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
    if (self->tallies[role][c].sizes.n > 0)
      return TRUE;
  return FALSE;
}

static void
clear_account (gpointer data)
{
  g_free (((FabAccount *) data)->name);
}

typedef struct {
  const FabAccountTable *tables;
  guint n;
  GArray *accounts;
} Book;

static void
add_account (Book *self, FabAccountKind kind, Scope scope, char *name)
{
  FabAccount account = { .kind = kind, .name = name };
  gboolean has_some = kind == FAB_ACCOUNT_ALL;

  for (guint role = 0; role < FAB_N_ROLES; role++) {
    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
      account.tallies[role][c] = tally_of (self->tables, self->n, &scope, (FabMeasuredRole) role,
                                           (FabSizeClass) c);
    has_some = has_some || fab_account_has_role (&account, (FabMeasuredRole) role);
  }
  if (has_some)
    g_array_append_val (self->accounts, account);
  else
    clear_account (&account);
}

static void
add_interconnects (Book *self)
{
  g_autoptr (GHashTable) done = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < self->n; i++) {
    Scope scope = any;

    scope.interconnect = self->tables[i].spec->interconnect;
    if (g_hash_table_add (done, (gpointer) scope.interconnect))
      add_account (self, FAB_ACCOUNT_INTERCONNECT, scope, g_strdup (scope.interconnect));
  }
}

GArray *
fab_accounts_of (const FabAccountTable *tables, guint n)
{
  Book self = { tables, n, g_array_new (FALSE, FALSE, sizeof (FabAccount)) };

  g_array_set_clear_func (self.accounts, clear_account);
  add_account (&self, FAB_ACCOUNT_ALL, any, g_strdup ("all"));
  for (int place = 0; place < FAB_N_PLACES; place++)
    add_account (&self, FAB_ACCOUNT_PLACE, (Scope){ .place = place, .operations = -1 },
                 g_strdup (place_names[place]));
  for (int operations = 0; operations < FAB_N_OPERATIONS; operations++)
    add_account (&self, FAB_ACCOUNT_OPERATIONS, (Scope){ .place = -1, .operations = operations },
                 g_strdup (fab_operations_names[operations]));
  for (int place = 0; place < FAB_N_PLACES; place++)
    for (int operations = 0; operations < FAB_N_OPERATIONS; operations++)
      add_account (&self, FAB_ACCOUNT_PLACE_AND_OPERATIONS,
                   (Scope){ .place = place, .operations = operations },
                   g_strdup_printf ("%s, %s", place_names[place], fab_operations_names[operations]));
  add_account (&self, FAB_ACCOUNT_AMD, (Scope){ .is_amd = TRUE, .place = -1, .operations = -1 },
               g_strdup ("AMD GPUs"));
  for (int place = 0; place < FAB_N_PLACES; place++)
    add_account (&self, FAB_ACCOUNT_AMD, (Scope){ .is_amd = TRUE, .place = place, .operations = -1 },
                 g_strdup_printf ("AMD GPUs, %s", place_names[place]));
  add_account (&self, FAB_ACCOUNT_DOUBTFUL, (Scope){ .is_doubtful = TRUE, .place = -1, .operations = -1 },
               g_strdup ("doubtful"));
  add_interconnects (&self);
  return self.accounts;
}
