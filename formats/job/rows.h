/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the readers of configurations as tables: a row says what a key of a training program becomes. */
#pragma once

#include "formats/format.h"
#include "formats/job/imported.h"

struct _FabJobReading {
  FabImportedJob *job;
  FabJobSettings *settings;
  GError **error; /* the first mistake; reading goes on with no more than that */
  gboolean is_good;
};

/* `to` is what the row names: a key of the job, a message, or words "theirs=ours|theirs=ours". */
typedef void (*FabJobTake) (FabJobReading *reading, const FabJobSetting *setting, const char *to);

typedef struct {
  const char *from; /* key of the configuration; "*.name": wherever it lies */
  FabJobTake take;
  const char *to;
} FabJobRow;

void fab_job_take_rows (FabJobReading *self, const FabJobRow *rows, guint n);

/* --- what a row does with its value; null, "auto" and ${...} are left out, with a note where that matters --- */

void fab_job_count (FabJobReading *self, const FabJobSetting *setting,
                    const char *to); /* 5e8 is a count too */
/* The same where 0 and -1 mean "not used". */
void fab_job_positive (FabJobReading *self, const FabJobSetting *setting, const char *to);
/* The same of a number of MiB, which the key then has as its unit. */
void fab_job_mebibytes (FabJobReading *self, const FabJobSetting *setting, const char *to);
void fab_job_flag (FabJobReading *self, const FabJobSetting *setting, const char *to);
void fab_job_no_flag (FabJobReading *self, const FabJobSetting *setting, const char *to); /* yes means no */
/* "key:theirs=ours|theirs=ours"; without case, and with "" as a word too. Other values are a mistake. */
void fab_job_words (FabJobReading *self, const FabJobSetting *setting, const char *to);
/* The same where programs add words all the time: another value is left out, and told. */
void fab_job_known_words (FabJobReading *self, const FabJobSetting *setting, const char *to);
/* "key=value", set where the flag is true. */
void fab_job_when (FabJobReading *self, const FabJobSetting *setting, const char *to);
/* A message about communication, told unless the value says that it is off. */
void fab_job_effect (FabJobReading *self, const FabJobSetting *setting, const char *to);
/* The same, told where the value says that it is off. */
void fab_job_effect_off (FabJobReading *self, const FabJobSetting *setting, const char *to);
void fab_job_same (FabJobReading *self, const FabJobSetting *setting, const char *to); /* changes no step */
void fab_job_model (FabJobReading *self, const FabJobSetting *setting, const char *to);
void fab_job_nodes (FabJobReading *self, const FabJobSetting *setting, const char *to);
void fab_job_gpus_per_node (FabJobReading *self, const FabJobSetting *setting, const char *to);
void fab_job_ranks (FabJobReading *self, const FabJobSetting *setting, const char *to);
/* A threshold that is on above 0: clip_gradients. */
void fab_job_above_zero (FabJobReading *self, const FabJobSetting *setting, const char *to);

/* --- for readers --- */

/* Adds the keys that nobody looked at to what is told as such. */
void fab_job_list_unread (FabImportedJob *self, const FabJobSettings *settings);

/* The value of a key; NULL: it is absent, null or not known. */
const char *fab_job_value (FabJobReading *self, const char *key);
gboolean fab_job_is_on (FabJobReading *self, const char *key);
gint64 fab_job_whole (FabJobReading *self, const char *key, gint64 fallback);
/* Sets a key by what a reader concludes; `why` is the note: "PyTorch's default". */
void fab_job_conclude (FabJobReading *self, const char *key, const char *value, const char *why);
gboolean fab_job_fail (FabJobReading *self, const FabJobSetting *setting, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
