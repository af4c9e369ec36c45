/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.h - the square tables that nvidia-smi and rocm-smi print: a line of names, then a line for each. */
#pragma once

#include "validate/import/format.h"

typedef struct {
  GPtrArray *labels; /* char: "GPU0", "mlx5_0" */
  GPtrArray *rows;   /* char **: the cells of each label, then what stands behind them; NULL-ended */
  GArray *lines;     /* guint: where each row stands */
  guint next_line;   /* index of the line behind the table, from 0 */
} FabMatrix;

/* Without terminal colours, cut into lines. (transfer full) */
char **fab_matrix_lines (const char *text);
/* Words of a line. (transfer full) */
char **fab_matrix_words (const char *line);
gboolean fab_matrix_is_gpu (const char *word); /* "GPU12" */

/* Does this line head a matrix: GPU0 and other names, and no cells? */
gboolean fab_matrix_is_head (const char *line);

/* The matrix whose head is lines[head]. */
FabMatrix *fab_matrix_read (const FabImportRequest *request, char **lines, guint head, GError **error);
void fab_matrix_free (FabMatrix *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMatrix, fab_matrix_free)

const char *fab_matrix_cell (const FabMatrix *self, guint row, guint column);
