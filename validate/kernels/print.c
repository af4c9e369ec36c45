/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - the errors as text, CSV and JSON. */
#include "sim/base/json.h"
#include "validate/kernels/constants.h"
#include "validate/kernels/predict.h"
#include "validate/kernels/report.h"

static void
append_errors (GString *out, const char *name, const FabKernelErrors *errors)
{
  if (errors->n > 0)
    g_string_append_printf (
        out, "  %-40s %4u rows  median |error| %5.1f %%  bias %+6.1f %%  90 %% within %5.1f %%\n", name,
        errors->n, errors->median * 100, errors->bias * 100, errors->p90 * 100);
}

char *
fab_kernels_to_text (const FabKernelView *view)
{
  GString *out = g_string_new ("Times of single kernels: predicted / measured - 1\n");
  g_autoptr (GArray) accounts = fab_kernel_accounts (view->tables);
  const FabKernelTable *last = NULL;

  for (guint i = 0; i < accounts->len; i++) {
    const FabKernelAccount *account = &g_array_index (accounts, FabKernelAccount, i);
    g_autofree char *name = g_strdup_printf ("%s, %s", account->kind, fab_kernel_role_names[account->role]);

    if (account->table != last) {
      g_autofree char *limit = fab_limits_show (view->limits, account->table->name, 0, "; accepted ", "");

      g_string_append_printf (out, "\n%s: %s, %s%s\n", account->table->name, account->table->spec->machine,
                              account->table->spec->software, limit);
    }
    last = account->table;
    append_errors (out, name, &account->errors);
  }
  g_string_append (out, "\nall tables\n");
  for (guint type = 0; type < FAB_N_KERNEL_TYPES; type++)
    for (guint role = 0; role < FAB_N_KERNEL_ROLES; role++) {
      FabKernelErrors errors = fab_kernel_errors_of_type (view->tables, (FabKernelType) type,
                                                          (FabKernelRole) role);
      g_autofree char *name = g_strdup_printf ("%s, %s", fab_kernel_type_names[type],
                                               fab_kernel_role_names[role]);

      append_errors (out, name, &errors);
    }
  return g_string_free (out, FALSE);
}

char *
fab_kernels_to_csv (const FabKernelView *view)
{
  GString *out = g_string_new (
      "table,kernel,accelerator,kind,role,line,measured_us,predicted_us,error_fraction\n");

  for (guint i = 0; i < view->tables->len; i++) {
    const FabKernelTable *table = g_ptr_array_index (view->tables, i);

    for (guint r = 0; r < table->rows->len; r++) {
      const FabKernelRow *row = &g_array_index (table->rows, FabKernelRow, r);

      if (row->predicted_us > 0)
        g_string_append_printf (out, "%s,%s,%s,%s,%s,%u,%.6g,%.6g,%.6g\n", table->name,
                                fab_kernel_type_names[table->spec->kernel], table->spec->accelerator,
                                row->kind, fab_kernel_role_names[row->role], row->line, row->measured_us,
                                row->predicted_us, row->predicted_us / row->measured_us - 1);
    }
  }
  return g_string_free (out, FALSE);
}

/* --- JSON --- */

static void
add_device (FabJson *json, const FabKernelView *view, const FabKernelSpec *spec)
{
  const FabAcceleratorSpec *accelerator = fab_catalog_accelerator (view->catalog, spec->accelerator);
  FabDevice device = fab_kernel_device (accelerator);

  fab_json_begin_object (json, "accelerator");
  fab_json_add_text (json, "name", accelerator->name);
  fab_json_add_text (json, "architecture", accelerator->architecture);
  fab_json_add_whole (json, "sms", (gint64) device.n_sms);
  fab_json_add_real (json, "matmul_fraction", device.matmul_fraction);
  fab_json_add_whole (json, "memory_bytes_per_s", (gint64) device.memory_bytes_per_s);
  fab_json_begin_object (json, "peak_flops_per_s");
  for (guint p = 0; p < FAB_N_PRECISIONS; p++)
    fab_json_add_real (json, fab_precision_names[p], device.peak_flops_per_s[p]);
  fab_json_end (json);
  fab_json_end (json);
}

static void
add_row (FabJson *json, const FabKernelTable *table, const FabKernelRow *row)
{
  const char *const *columns = fab_kernel_columns[table->spec->kernel];

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "kind", row->kind);
  fab_json_add_text (json, "role", fab_kernel_role_names[row->role]);
  fab_json_add_whole (json, "line", row->line);
  for (guint i = 0; columns[i] != NULL; i++)
    fab_json_add_real (json, columns[i], row->numbers[i]);
  fab_json_add_real (json, "measured_us", row->measured_us);
  if (row->predicted_us > 0)
    fab_json_add_real (json, "predicted_us", row->predicted_us);
  else
    fab_json_add_null (json, "predicted_us");
  fab_json_end (json);
}

static void
add_account (FabJson *json, const FabKernelAccount *account)
{
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "kind", account->kind);
  fab_json_add_text (json, "role", fab_kernel_role_names[account->role]);
  fab_json_add_whole (json, "rows", account->errors.n);
  fab_json_add_real (json, "median_fraction", account->errors.median);
  fab_json_add_real (json, "bias_fraction", account->errors.bias);
  fab_json_add_real (json, "p90_fraction", account->errors.p90);
  fab_json_end (json);
}

static void
add_table (FabJson *json, const FabKernelView *view, const FabKernelTable *table, const GArray *accounts)
{
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "table", table->name);
  fab_json_add_text (json, "kernel", fab_kernel_type_names[table->spec->kernel]);
  fab_json_add_text (json, "software", table->spec->software);
  fab_json_add_real (json, "best_fraction", table->spec->best_fraction);
  fab_json_add_flag (json, "quantising", table->spec->includes == FAB_KERNEL_QUANTISING);
  fab_json_add_flag (json, "cache_fill", table->spec->includes == FAB_KERNEL_CACHE_FILL);
  add_device (json, view, table->spec);
  fab_json_begin_array (json, "rows");
  for (guint r = 0; r < table->rows->len; r++)
    add_row (json, table, &g_array_index (table->rows, FabKernelRow, r));
  fab_json_end (json);
  fab_json_begin_array (json, "errors");
  for (guint i = 0; i < accounts->len; i++) {
    const FabKernelAccount *account = &g_array_index (accounts, FabKernelAccount, i);

    if (account->table == table)
      add_account (json, account);
  }
  fab_json_end (json);
  fab_json_end (json);
}

char *
fab_kernels_to_json (const FabKernelView *view)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autoptr (GArray) accounts = fab_kernel_accounts (view->tables);

  fab_json_begin_object (json, NULL);
  fab_json_begin_array (json, "tables");
  for (guint i = 0; i < view->tables->len; i++)
    add_table (json, view, g_ptr_array_index (view->tables, i), accounts);
  fab_json_end (json);
  fab_kernel_constants_add_json (json);
  fab_json_end (json);
  return fab_json_finish (json);
}
