/* SPDX-License-Identifier: Apache-2.0 */
/* study.h - what size, compare, upgrade or cost print with --format json, as one page for whoever decides.
 *
 *   JSON of a command  --fab_study_report-->  one HTML text without scripts: the decision, a plot, a table, cautions
 *
 * The file says by its members which command wrote it. It may come from anybody: each of its texts is escaped, and a
 * member that is missing or of another type is left out.
 */
#pragma once

#include <glib.h>

enum { FAB_STUDY_MOST_BYTES = 16 << 20 };

/* `name` is where the text comes from, for the page and for errors. NULL and *error when the text is no JSON, or of no
 * such command. (transfer full) */
char *fab_study_report (const char *json, const char *name, GError **error);
