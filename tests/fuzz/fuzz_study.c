/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_study.c - the JSON of a study that becomes a page: whatever it says, the page is UTF-8 without a script, or the
 * file is refused with a message.
 */
#include <string.h>

#include "cli/report/report.h"
#include "cli/report/study/study.h"
#include "tests/fuzz/target.h"

/* The styles are not what is tried. */
char *
fab_report_resource (G_GNUC_UNUSED const char *name, G_GNUC_UNUSED GError **error)
{
  return g_strdup ("p { margin: 0 }");
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr (GError) error = NULL;
  g_autofree char *page = fab_study_report (text, "fuzz", &error);

  if (page == NULL) {
    fuzz_check_message (error);
    return 0;
  }
  fuzz_check_text (page);
  if (strstr (page, "<script") != NULL)
    g_error ("the page has a script: %s", text);
  return 0;
}
