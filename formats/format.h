/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - the interface of all readers of foreign files.
 *
 * A format is a file SUBJECT/NAME.c that defines one FabFileFormat, and a row in formats.c. Its reader gives three
 * things: the result, which is of the format's kind; notes on what it inferred and left out, each with its place
 * (text/notes.h); and, where it refuses the file, a GError that begins with the place, "file:line: ". Nothing is
 * inferred without a note.
 */
#pragma once

#include "formats/text/text.h"

typedef struct _FabFileBytes FabFileBytes;             /* text/bytes.h */
typedef struct _FabImportedMachine FabImportedMachine; /* machine/machine.h */
typedef struct _FabImportedNetwork FabImportedNetwork; /* machine/network.h */
typedef struct _FabImportRequest FabImportRequest;     /* import_request.h */
typedef struct _FabReadings FabReadings;               /* measurement/readings.h */
typedef struct _FabTrace FabTrace;                     /* trace/trace.h */
typedef struct _FabGiven FabGiven;                     /* sim/collective/given.h */
typedef struct _FabGivenHint FabGivenHint;             /* schedule/schedule.h */
typedef struct _FabJobLogReading FabJobLogReading;     /* job_log/reading.h */
typedef struct _FabJobReading FabJobReading;           /* job/rows.h */

/* What a file becomes. */
typedef enum {
  FAB_FILE_MACHINE = 1 << 0,     /* a machine, of which import.c makes a scenario */
  FAB_FILE_MODEL = 1 << 1,       /* an entry of `models`, as YAML */
  FAB_FILE_MEASUREMENT = 1 << 2, /* series of measurements */
  FAB_FILE_TRACE = 1 << 3,       /* ranks of a trace */
  FAB_FILE_SCHEDULE = 1 << 4,    /* a collective as messages */
  FAB_FILE_JOB_LOG = 1 << 5,     /* jobs of a scheduler */
  FAB_FILE_JOB = 1 << 6,         /* what a training program is to do, as keys of a section `job` */
} FabFileKind;

/* Larger texts of machines, models and measurements are refused. */
#define FAB_IMPORT_MAX_BYTES ((gsize) 8 << 20)

typedef struct {
  const char *name; /* as --from takes it, and as messages call it */
  const char *tool; /* what prints or writes such files; NULL: `name` says it */
  const char *help; /* what prints such files or is in them, for a list; NULL: `tool` says it */
  FabFileKind kind;
  /* Of a machine, a model, measurements and the configuration of a job it is given the whole text, of a trace the first
   * 4096 bytes, of a schedule as much as was read at once, of a log of jobs its first line that is no comment. */
  gboolean (*recognises) (const FabFileText *text);
  const char *why_not; /* why a file that is recognised cannot be read; NULL: `read` reads it */
  /* The member of `kind`. Each reads the whole file and returns FALSE or NULL with *error when it refuses it. */
  union {
    gboolean (*machine) (FabImportedMachine *machine, const FabImportRequest *request, GError **error);
    char *(*model) (const FabImportRequest *request, GError **error); /* (transfer full) */
    void (*measurement) (FabReadings *readings); /* mistakes go to `readings`, each at its word */
    gboolean (*trace) (FabTrace *trace, FabFileBytes *bytes, GError **error);
    FabGiven *(*schedule) (FabFileBytes *bytes, const FabGivenHint *hint,
                           GError **error);                          /* (transfer full) */
    gboolean (*job_log) (FabJobLogReading *reading, GError **error); /* its first line is read already */
    gboolean (*job) (FabJobReading *reading);                        /* the error goes to `reading` */
  } read;
} FabFileFormat;

/* Functions that take `kinds` look at formats of several FabFileKind, in the order of the table. */

/* The first format that recognises the file; NULL: none does. */
const FabFileFormat *fab_file_format_of (guint kinds, const FabFileText *text);
/* The same of the first bytes of a file, behind which no NUL need follow. */
const FabFileFormat *fab_file_format_of_bytes (guint kinds, const char *name, const char *bytes, gsize size);
const FabFileFormat *fab_file_format_named (guint kinds, const char *name); /* NULL: there is none */
const char **fab_file_format_names (guint kinds); /* NULL-ended (transfer container) */
