/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - a file that an exporter writes. A plain file is replaced whole or not at all; "-" is standard output. */
#pragma once

#include <stdio.h>

#include <glib.h>

typedef struct {
  FILE *stream;
  char *path, *part; /* `part` is renamed to `path` at the end; NULL: written directly */
} FabExportFile;

gboolean fab_export_file_open (FabExportFile *self, const char *path, GError **error);
void fab_export_file_write (FabExportFile *self, const char *text);

/* Ends the file. FALSE when not all of it could be written: `path` then stays as it was. */
gboolean fab_export_file_close (FabExportFile *self, GError **error);

/* Gives up: `path` stays as it was. Does nothing after fab_export_file_close. */
void fab_export_file_abandon (FabExportFile *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabExportFile, fab_export_file_abandon)
