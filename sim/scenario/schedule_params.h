/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_params.h - the keys for files that give a collective as messages. */
#pragma once

#include "sim/config/schema.h"

typedef struct {
  const char *file;     /* absolute */
  const char *op;       /* operation; NULL: the file says it */
  const char *protocol; /* "simple", "ll", "ll128"; NULL: the file says it, or nobody */
  FabBytes size_bytes;  /* of the operation whose messages the file has; 0: the file has shares */
} FabScheduleSpec;

extern const FabParam fab_schedule_params[]; /* of FabScheduleSpec */

/* What the reader of such files is asked for. */
FabScheduleFile fab_schedule_file (const FabScheduleSpec *self);

/* Reads each file, and reports what is wrong with it at its key. */
void fab_schedule_check_all (FabSchemaReader *reader, const FabRegistry *registry,
                             const FabParamList *schedules);
