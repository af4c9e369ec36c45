/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - a configuration of a training program as one flat list: "zero_optimization.stage" with its value.
 *
 * JSON, YAML, TOML and the arguments of a shell script all become such a list. Keys of arguments lose their "--", and
 * their "-" become "_", as Python's argparse does.
 */
#pragma once

#include "formats/text/text.h"

typedef struct {
  const char *key;
  const char *value;    /* a list as "[a, b]"; NULL: null; "" of an argument without one */
  guint line;           /* from 1 */
  gboolean is_argument; /* of a command line: without a value it means yes */
  gboolean is_used;     /* a reader looked at it */
} FabJobSetting;

typedef struct {
  const FabFileText *file;
  GArray *all; /* FabJobSetting, in the order of the file */
  GStringChunk *texts;
  GPtrArray *twice; /* char: "FILE:LINE: KEY is written twice", of which the last one counts */
} FabJobSettings;

/* Reads the whole text by what it looks like. NULL and *error, at its place. (transfer full) */
FabJobSettings *fab_job_settings_read (const FabFileText *file, GError **error);
void fab_job_settings_free (FabJobSettings *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabJobSettings, fab_job_settings_free)

/* The last one with this key, which counts; "*.name": with this last part, and a null does not hide a value in another
 * section. NULL: none. Marks all of them as used. */
FabJobSetting *fab_job_settings_find (FabJobSettings *self, const char *key);

/* Turns "-" into "_" in all keys, for programs that take both. */
void fab_job_settings_underscore (FabJobSettings *self);

/* The settings of a section, "deepspeed.", without its name; they count as used here. (transfer full) */
FabJobSettings *fab_job_settings_section (FabJobSettings *self, const char *section);

/* Used by the readers of the three forms. `value` NULL: null. */
void fab_job_settings_add (FabJobSettings *self, const char *key, const char *value, guint line,
                           gboolean is_argument);
/* Each reads a text of one form into `self`. */
gboolean fab_job_settings_toml (FabJobSettings *self, GError **error);
gboolean fab_job_settings_shell (FabJobSettings *self, GError **error);
