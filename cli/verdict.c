/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verdict.h"

#include "cli/terminal/terminal.h"

enum { LABEL_COLUMNS = 16, INDENT = 2 + LABEL_COLUMNS };

/* "  label           text", in lines that fit the terminal, or 80 columns, where words allow it; a unit stays with its
 * number. */
static void
append_wrapped (GString *page, const char *label, const char *text)
{
  g_autofree char *printable = fab_cli_printable (text);
  g_auto (GStrv) words = g_strsplit (printable, " ", -1);
  glong n_columns = 0, most = (glong) fab_terminal_prose_columns (80) - INDENT;

  g_string_append_printf (page, "  %-*s", LABEL_COLUMNS, label);
  for (guint i = 0; words[i] != NULL; i++) {
    gboolean has_unit = words[i + 1] != NULL
                     && (words[i + 1][0] == '%' || g_str_has_prefix (words[i + 1], "GB"));
    glong n = g_utf8_strlen (words[i], -1), n_next = has_unit ? 1 + g_utf8_strlen (words[i + 1], -1) : 0;

    if (n_columns > 0 && n_columns + 1 + n + n_next > most) {
      g_string_append_printf (page, "\n  %-*s", LABEL_COLUMNS, "");
      n_columns = 0;
    }
    g_string_append_printf (page, "%s%s", n_columns > 0 ? " " : "", words[i]);
    n_columns += n + (n_columns > 0);
  }
  g_string_append_c (page, '\n');
}

static void
append_finding (GString *page, const char *label, const FabFinding *finding)
{
  append_wrapped (page, label, finding->text);
  if (finding->advice != NULL)
    append_wrapped (page, "", finding->advice);
}

/* What the step waits for is the verdict proper. */
static const char *
label_of (const FabFinding *finding)
{
  static const char *const labels[] = {
    [FAB_FINDING_STOPS] = "stop", [FAB_FINDING_WARNS] = "warning", [FAB_FINDING_NOTES] = "note"
  };

  return finding->code >= FAB_FINDING_WAITS_FOR_COMPUTE ? "verdict"
                                                        : labels[fab_finding_kind (finding)->severity];
}

/* Returns whether there was one. */
static gboolean
append_some (GString *page, const FabVerdict *verdict, gboolean is_stops)
{
  gboolean is_any = FALSE;

  for (guint i = 0; i < fab_verdict_n (verdict); i++) {
    const FabFinding *finding = fab_verdict_at (verdict, i);
    FabSeverity severity = fab_finding_kind (finding)->severity;

    if ((severity == FAB_FINDING_STOPS) != is_stops)
      continue;
    append_finding (page, label_of (finding), finding);
    is_any = TRUE;
  }
  return is_any;
}

void
fab_cli_append_stops (GString *page, const FabVerdict *verdict)
{
  if (append_some (page, verdict, TRUE))
    g_string_append_c (page, '\n');
}

void
fab_cli_append_findings (GString *page, const FabVerdict *verdict)
{
  gsize end = page->len;

  if (!g_str_has_suffix (page->str, "\n\n") && !g_str_has_suffix (page->str, ":\n"))
    g_string_append_c (page, '\n');
  if (!append_some (page, verdict, FALSE))
    g_string_truncate (page, end);
}

void
fab_cli_append_codes (GString *page, const char *name, const FabVerdict *verdict)
{
  g_autofree char *codes = fab_verdict_codes (verdict), *printable = fab_cli_printable (name);
  g_auto (GStrv) parts = g_strsplit (codes, ";", -1);
  g_autofree char *joined = g_strjoinv (", ", parts);

  g_string_append_printf (page, "    %s: %s\n", printable, *joined != '\0' ? joined : "-");
}

void
fab_cli_print_stops (const char *command, const FabVerdict *verdict)
{
  for (guint i = 0; i < fab_verdict_n (verdict); i++)
    if (fab_finding_kind (fab_verdict_at (verdict, i))->severity == FAB_FINDING_STOPS) {
      g_autofree char *text = fab_cli_printable (fab_verdict_at (verdict, i)->text);

      g_printerr ("fabricast %s: %s\n", command, text);
    }
}

FabExit
fab_cli_verdict_exit (const FabVerdict *verdict, gboolean is_allowed)
{
  return fab_verdict_stops (verdict) && !is_allowed ? FAB_EXIT_UNMET : FAB_EXIT_DONE;
}
