/* SPDX-License-Identifier: Apache-2.0 */
/* print_markdown.c - the errors and the constants as docs/reference/validation-kernels.md. */
#include "validate/kernels/constants.h"
#include "validate/kernels/report.h"

static const char page_head[] =
    "# How far predicted kernel times are from measured ones\n"
    "\n"
    "`fabricast validate kernels --format markdown` writes this page, and a test keeps it up to date. The\n"
    "measurements are in `validate/measured/kernels`, each with its source; `INDEX.yaml` says which rows of\n"
    "published tables were taken.\n"
    "\n"
    "error = predicted time / measured time - 1. A positive one is predicted too slow. Rows have a role:\n"
    "\n"
    "- **calibrating** rows set constants of the kernel models (`validate/kernels/fit.py`): the first, third,\n"
    "  fifth ... of each kind, in the order of the table.\n"
    "- **judged** rows are the others of the same tables: other shapes on the same GPU.\n"
    "- **left out** are whole tables that set no constant of a kernel: another GPU of the architecture, or other\n"
    "  software.\n"
    "- **with casts** are the FP8 rows of AIConfigurator's tables: their times have kernels in them that find the\n"
    "  largest number of the operand and cast it. They say little of the product alone, and no limit holds them.\n"
    "\n"
    "No run of a model sets a constant here. The models are those of [roofline](../models/roofline.md). Two terms\n"
    "are added because the tables have them in their times: attention in serving software copies keys and values\n"
    "into a cache, and FP8 products of TensorRT-LLM cast an operand first.\n"
    "\n"
    "What weakens these figures:\n"
    "\n"
    "- Products of AIConfigurator's tables (six calls) are faster than ours (calls queued for 20 ms) on the same\n"
    "  GPU and shapes, for a reason that is not known. So their shares are of the best product of their own table,\n"
    "  and an accelerator's rate is this share of the best product that was measured on it in a hundred calls\n"
    "  (`matmul`). On the H100, which both measured, the two shares are equal within a hundredth.\n"
    "- The bytes of the cache were chosen among five counts by the errors of all five tables, judged and left out\n"
    "  rows included. The source of vLLM has such a kernel in the timed call.\n"
    "- Rows with casts were set apart after their errors had been seen.\n"
    "- Of h100_attention five rows of each kind set four constants, and four are judged.\n"
    "\n";

/* --- errors --- */

static void
append_errors (GString *out, const FabKernelErrors *errors)
{
  g_string_append_printf (out, " %u | %.1f %% | %+.1f %% | %.1f %% |", errors->n, errors->median * 100,
                          errors->bias * 100, errors->p90 * 100);
}

static void
append_all (GString *out, const FabKernelView *view)
{
  g_string_append (
      out,
      "## All tables\n\n| kernel | role | rows | median | bias | 90 % within |\n|---|---|---:|---:|---:|---:|\n");
  for (guint type = 0; type < FAB_N_KERNEL_TYPES; type++)
    for (guint role = 0; role < FAB_N_KERNEL_ROLES; role++) {
      FabKernelErrors errors = fab_kernel_errors_of_type (view->tables, (FabKernelType) type,
                                                          (FabKernelRole) role);

      if (errors.n == 0)
        continue;
      g_string_append_printf (out, "| %s | %s |", fab_kernel_type_names[type], fab_kernel_role_names[role]);
      append_errors (out, &errors);
      g_string_append_c (out, '\n');
    }
}

static void
append_tables (GString *out, const FabKernelView *view)
{
  g_autoptr (GArray) accounts = fab_kernel_accounts (view->tables);
  const FabKernelTable *last = NULL;

  g_string_append (out,
                   "\n## Tables\n\n"
                   "\"Accepted\" is the limit on the median over the judged and left out rows of a table\n"
                   "(`validate/accept-kernels.yaml`), above which the tests fail.\n\n"
                   "| table | kind | role | rows | median | bias | 90 % within | accepted |\n"
                   "|---|---|---|---:|---:|---:|---:|---:|\n");
  for (guint i = 0; i < accounts->len; i++) {
    const FabKernelAccount *account = &g_array_index (accounts, FabKernelAccount, i);
    g_autofree char *limit = fab_limits_show (account->table == last ? NULL : view->limits,
                                              account->table->name, 0, " ", "");

    g_string_append_printf (out, "| %s | %s | %s |", account->table->name, account->kind,
                            fab_kernel_role_names[account->role]);
    append_errors (out, &account->errors);
    g_string_append_printf (out, "%s |\n", limit);
    last = account->table;
  }
}

static void
append_sources (GString *out, const FabKernelView *view)
{
  g_string_append (
      out, "\n## Sources\n\n| table | accelerator | software | source | note |\n|---|---|---|---|---|\n");
  for (guint i = 0; i < view->tables->len; i++) {
    const FabKernelTable *table = g_ptr_array_index (view->tables, i);
    const FabKernelSpec *spec = table->spec;

    g_string_append_printf (out, "| %s | %s | %s | %s, %s | %s |\n", table->name, spec->accelerator,
                            spec->software, spec->source, spec->date, spec->note ? spec->note : "");
  }
}

char *
fab_kernels_to_markdown (const FabKernelView *view)
{
  GString *out = g_string_new (page_head);

  append_all (out, view);
  append_tables (out, view);
  fab_kernel_constants_append (out);
  append_sources (out, view);
  return g_string_free (out, FALSE);
}
