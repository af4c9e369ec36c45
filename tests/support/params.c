/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/params.h"

#include "models/models.h"

Params *
params_new (const FabModelInfo *info, const char *yaml)
{
  Params *self = g_new0 (Params, 1);
  g_autofree char *problems = NULL;

  self->diagnostics = fab_diagnostics_new ();
  self->reader = fab_schema_reader_new (&fab_models, self->diagnostics);
  self->doc = fab_yaml_doc_parse (info->name, yaml, strlen (yaml), self->diagnostics);
  if (self->doc && info->params) {
    self->params = g_malloc0 (info->params_size);
    fab_schema_read (self->reader, fab_yaml_doc_root (self->doc), info->params, self->params);
  }
  problems = fab_diagnostics_format (self->diagnostics);
  if (fab_diagnostics_count (self->diagnostics) > 0)
    g_error ("%s: %s", info->name, problems);
  return self;
}

void
params_free (Params *self)
{
  if (self == NULL)
    return;
  g_free (self->params);
  fab_schema_reader_free (self->reader);
  fab_yaml_doc_free (self->doc);
  fab_diagnostics_free (self->diagnostics);
  g_free (self);
}
