/* SPDX-License-Identifier: Apache-2.0 */
/* report_out.h - writes what `fabricast report` writes beside its page. */
#pragma once

#include "cli/report.h"

/* Writes the table named `what` to `out` (NULL: standard output). Without a name writes a file per table of every run
 * and sweep to the folder `out`, which is made when missing. */
gboolean fab_report_write_csv (const FabReportRequest *request, const char *what, const char *out,
                               GError **error);
