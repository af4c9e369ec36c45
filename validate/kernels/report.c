/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - medians over rows. O(n log n) in the rows of a table. */
#include "validate/kernels/report.h"

#include <math.h>
#include <string.h>

#include "sim/base/order.h"
#include "sim/base/stats.h"

/* Whether a row counts. */
typedef struct {
  const char *kind; /* NULL: any */
  gboolean roles[FAB_N_KERNEL_ROLES];
} Filter;

static void
collect (const FabKernelTable *table, const Filter *filter, GArray *errors)
{
  for (guint i = 0; i < table->rows->len; i++) {
    const FabKernelRow *row = &g_array_index (table->rows, FabKernelRow, i);
    double error = row->predicted_us / row->measured_us - 1;

    if (row->predicted_us > 0 && filter->roles[row->role]
        && (filter->kind == NULL || strcmp (filter->kind, row->kind) == 0))
      g_array_append_val (errors, error);
  }
}

/* Sorts them. */
static FabKernelErrors
sum_up (GArray *errors)
{
  FabKernelErrors all = { .n = errors->len };
  double *values = (double *) (gpointer) errors->data;

  if (all.n == 0)
    return all;
  g_array_sort (errors, fab_order_doubles);
  all.bias = fab_median (values, all.n);
  for (guint i = 0; i < all.n; i++)
    values[i] = fabs (values[i]);
  g_array_sort (errors, fab_order_doubles);
  all.median = fab_median (values, all.n);
  all.p90 = values[fab_nearest_rank (all.n, 0.9)];
  return all;
}

static FabKernelErrors
errors_of (const FabKernelTable *table, const Filter *filter)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));

  collect (table, filter, errors);
  return sum_up (errors);
}

static void
append_kind (const FabKernelTable *table, const char *kind, GArray *accounts)
{
  for (guint role = 0; role < FAB_N_KERNEL_ROLES; role++) {
    Filter filter = { .kind = kind };

    filter.roles[role] = TRUE;
    FabKernelAccount account = { table, kind, (FabKernelRole) role, errors_of (table, &filter) };
    if (account.errors.n > 0)
      g_array_append_val (accounts, account);
  }
}

GArray *
fab_kernel_accounts (const GPtrArray *tables)
{
  GArray *accounts = g_array_new (FALSE, FALSE, sizeof (FabKernelAccount));

  for (guint i = 0; i < tables->len; i++) {
    const FabKernelTable *table = g_ptr_array_index (tables, i);
    g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

    for (guint r = 0; r < table->rows->len; r++) {
      const FabKernelRow *row = &g_array_index (table->rows, FabKernelRow, r);

      if (g_hash_table_add (seen, row->kind))
        append_kind (table, row->kind, accounts);
    }
  }
  return accounts;
}

FabKernelErrors
fab_kernel_errors_of_type (const GPtrArray *tables, FabKernelType type, FabKernelRole role)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));
  Filter filter = { 0 };

  filter.roles[role] = TRUE;
  for (guint i = 0; i < tables->len; i++) {
    const FabKernelTable *table = g_ptr_array_index (tables, i);

    if (table->spec->kernel == (int) type)
      collect (table, &filter, errors);
  }
  return sum_up (errors);
}

FabKernelErrors
fab_kernel_errors_of_table (const FabKernelTable *table)
{
  return errors_of (table,
                    &(Filter){ .roles = { [FAB_KERNEL_JUDGED] = TRUE, [FAB_KERNEL_LEFT_OUT] = TRUE } });
}

char **
fab_kernel_exceeded (const GPtrArray *tables, const FabLimits *limits)
{
  GPtrArray *lines = g_ptr_array_new ();

  for (guint i = 0; i < tables->len; i++) {
    const FabKernelTable *table = g_ptr_array_index (tables, i);
    FabKernelErrors errors = fab_kernel_errors_of_table (table);
    double limit;

    fab_limits_hold (lines, table->name, &(FabErrors){ .n = errors.n, .median_fraction = errors.median },
                     fab_limits_median (limits, table->name, 0, &limit) ? limit : -1);
  }
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_free (lines, FALSE);
}
