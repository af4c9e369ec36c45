/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.h - reads the square tables of nvidia-smi and rocm-smi: a line of names, then a line for each name. */
#pragma once

#include "formats/text/text.h"

typedef struct {
  GPtrArray *labels; /* char: "GPU0", "mlx5_0" */
  GPtrArray *rows;   /* char **: the cells of each label, then the words behind them; NULL-ended */
  GArray *lines;     /* guint: line number of each row */
  guint next_line;   /* index of the line behind the table, counted from 0 */
} FabMatrix;

/* Splits a text into lines, without terminal colours. (transfer full) */
char **fab_matrix_lines (const char *text);
gboolean fab_matrix_is_gpu (const char *word); /* "GPU12" */

/* Says whether this line begins a matrix: GPU0 and other names, and no cells. */
gboolean fab_matrix_is_head (const char *line);

/* Reads the matrix that begins at lines[head]. (transfer full) */
FabMatrix *fab_matrix_read (const FabFileText *file, char **lines, guint head, GError **error);
void fab_matrix_free (FabMatrix *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMatrix, fab_matrix_free)

/* The line of the text at which its first row stands. */
guint fab_matrix_line (const FabMatrix *self);

const char *fab_matrix_cell (const FabMatrix *self, guint row, guint column);
