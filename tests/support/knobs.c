/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/knobs.h"

FabKnob *
knob_of_key (const char *name, const char *key, const char *const *values, guint written)
{
  FabKnob *self = fab_knob_new (name, key, "");

  for (guint i = 0; values[i] != NULL; i++) {
    g_autofree char *assignment = g_strdup_printf ("%s=%s", key, values[i]);

    fab_knob_add (self, g_strdup (values[i]), fab_edits_of ((const char *[]){ assignment, NULL }));
  }
  self->written = written;
  return self;
}

static void
free_knob (gpointer data)
{
  fab_knob_free (data);
}

GPtrArray *
knobs_new (void)
{
  return g_ptr_array_new_with_free_func (free_knob);
}
