/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/check/file.h"

#include "sim/base/error.h"

FabCheckFile *
fab_check_file_new (const FabRegistry *registry)
{
  FabCheckFile *self = g_new0 (FabCheckFile, 1);

  self->diagnostics = fab_diagnostics_new ();
  self->reader = fab_schema_reader_new (registry, self->diagnostics);
  self->docs = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_yaml_doc_free);
  return self;
}

void
fab_check_file_free (FabCheckFile *self)
{
  if (self == NULL)
    return;
  fab_schema_reader_free (self->reader);
  g_ptr_array_unref (self->docs);
  fab_diagnostics_free (self->diagnostics);
  g_free (self);
}

gboolean
fab_check_file_read (FabCheckFile *self, const char *path, const FabParam *table, gpointer out,
                     GError **error)
{
  GError *problem = NULL;
  FabYamlDoc *doc = fab_yaml_doc_load (path, self->diagnostics, &problem);

  if (problem) {
    g_propagate_error (error, problem);
    return FALSE;
  }
  if (doc) {
    g_ptr_array_add (self->docs, doc);
    fab_schema_read (self->reader, fab_yaml_doc_root (doc), table, out);
  }
  return fab_check_file_is_right (self, error);
}

gboolean
fab_check_file_is_right (const FabCheckFile *self, GError **error)
{
  return fab_diagnostics_check (self->diagnostics, error);
}

gpointer
fab_check_throw_unknown (GError **error, const char *what, const char *name, const char *const *names)
{
  const char *near = fab_nearest (name, names);

  fab_throw (error, FAB_ERROR_INPUT, "%s '%s'%s%s%s", what, name, near ? "; nearest is '" : "",
             near ? near : "", near ? "'" : "");
  return NULL;
}
