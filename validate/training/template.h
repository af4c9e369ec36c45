/* SPDX-License-Identifier: Apache-2.0 */
/* template.h - text with places that a table fills: `nodes: ${nodes}`. */
#pragma once

#include <glib.h>

typedef struct {
  const char *name;
  const char *value;
} FabTemplateValue;

/* `text` with every ${name} replaced by the value of that name (the first of equals). NULL and *error
 * (FAB_ERROR_INPUT) for a name that is not there, with the nearest, or a place without its brace. */
char *fab_template_fill (const char *text, const FabTemplateValue *values, guint n_values, GError **error);
