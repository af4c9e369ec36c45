/* SPDX-License-Identifier: Apache-2.0 */
/* report_out.h - what `fabricast report` writes beside the page. */
#pragma once

#include "cli/report.h"

/* One table for its name, to `out` (NULL: standard output); else a folder, which is made when missing, with a file per
 * table of every run and sweep. */
gboolean fab_report_write_csv (const FabReportRequest *request, const char *what, const char *out,
                               GError **error);
