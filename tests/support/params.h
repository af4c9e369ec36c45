/* SPDX-License-Identifier: Apache-2.0 */
/* params.h - a model's parameters from YAML text, as a scenario would give them. */
#pragma once

#include "sim/config/schema.h"

typedef struct {
  FabDiagnostics *diagnostics;
  FabYamlDoc *doc;
  FabSchemaReader *reader;
  gpointer params; /* NULL when the model has none */
} Params;

/* Asserts that the text is right for the model; "" takes every default. */
Params *params_new (const FabModelInfo *info, const char *yaml);
void params_free (Params *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Params, params_free)
