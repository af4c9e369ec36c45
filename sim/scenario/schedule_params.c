/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/schedule_params.h"

#define SCHEDULE_ROW(key_, type_, field_, fallback_, help_)                                    \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabScheduleSpec, field_), \
  .fallback = fallback_, .help = help_

const FabParam fab_schedule_params[] = {
  { SCHEDULE_ROW (
        "file", TEXT, file, NULL,
        "XML of MSCCL, JSON of TE-CCL, the first of Chakra's files (NAME.0.et, one for each rank), or GOAL; relative "
        "to this file."),
    .refers = FAB_REFERS_FILE, .is_in_title = TRUE },
  { SCHEDULE_ROW (
      "op", TEXT, op, "",
      "Operation that the messages carry out, such as all_reduce; empty: the file says it, as those of "
      "MSCCL and TE-CCL do.") },
  { SCHEDULE_ROW (
        "size", BYTES, size_bytes, "0B",
        "Size of the operation whose messages the file has, as nccl-tests counts it; other sizes are scaled. "
        "0B: the file has shares, as those of MSCCL and TE-CCL do."),
    .max = 1e18 },
  { SCHEDULE_ROW (
      "protocol", TEXT, protocol, "",
      "Protocol with which the library sends the messages: simple, ll or ll128; empty: the file says "
      "it, and simple where it does not.") },
  { .key = NULL },
};

FabScheduleFile
fab_schedule_file (const FabScheduleSpec *self)
{
  return (FabScheduleFile){
    .path = self->file, .op = self->op, .protocol = self->protocol, .size_bytes = self->size_bytes
  };
}

void
fab_schedule_check_all (FabSchemaReader *reader, const FabRegistry *registry, const FabParamList *schedules)
{
  for (guint i = 0; i < schedules->n; i++) {
    const FabScheduleSpec *spec = (const FabScheduleSpec *) schedules->data + i;
    FabScheduleFile file = fab_schedule_file (spec);
    g_autoptr (GError) problem = NULL;

    if (spec->file == NULL)
      continue; /* and that was reported */
    if (registry->schedule_file == NULL) {
      fab_schema_report (reader, &spec->file, "this program reads no schedules");
      continue;
    }
    gpointer given = registry->schedule_file->read (&file, &problem);
    if (given != NULL)
      registry->schedule_file->free (given);
    else
      fab_schema_report (reader, &spec->file, "%s", problem->message);
  }
}
