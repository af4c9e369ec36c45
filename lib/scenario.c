/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.c - scenarios of files, of texts and of keys. */
#include <math.h>
#include <string.h>

#include "lib/private.h"
#include "sim/base/error.h"

static FabricastScenario *
wrap (FabricastContext *context, FabScenario *inner)
{
  FabricastScenario *self = g_new0 (FabricastScenario, 1);

  self->context = lib_context_ref (context);
  self->inner = inner;
  self->texts = g_string_chunk_new (256);
  g_mutex_init (&self->lock);
  return self;
}

/* Takes both; `inner` NULL: *error is that of `problem`. */
static int
finish (FabricastContext *context, FabScenario *inner, GError *problem, FabricastScenario **scenario,
        FabricastError **error)
{
  if (inner == NULL)
    return lib_fail_with (error, problem);
  *scenario = wrap (context, inner);
  return FABRICAST_OK;
}

int
fabricast_scenario_load (FabricastContext *context, const char *path, FabricastScenario **scenario,
                         FabricastError **error)
{
  GError *problem = NULL;
  LibDoor door;
  int status;

  LIB_NEED (context, error);
  LIB_NEED (path, error);
  LIB_NEED (scenario, error);
  lib_door_enter (&door);
  FabScenario *inner = fab_scenario_load (path, NULL, &fab_models, context->catalog, &problem);
  status = finish (context, inner, problem, scenario, error);
  lib_door_leave (&door);
  return status;
}

int
fabricast_scenario_parse (FabricastContext *context, const char *name, const char *text, size_t size,
                          FabricastScenario **scenario, FabricastError **error)
{
  GError *problem = NULL;
  LibDoor door;
  int status;

  LIB_NEED (context, error);
  LIB_NEED (text, error);
  LIB_NEED (scenario, error);
  lib_door_enter (&door);
  FabScenario *inner = fab_scenario_parse (name != NULL ? name : "scenario", text, size, NULL, &fab_models,
                                           context->catalog, &problem);
  status = finish (context, inner, problem, scenario, error);
  lib_door_leave (&door);
  return status;
}

int
fabricast_scenario_new (FabricastContext *context, FabricastScenario **scenario, FabricastError **error)
{
  LibDoor door;
  FabScenario *inner;

  LIB_NEED (context, error);
  LIB_NEED (scenario, error);
  lib_door_enter (&door);
  inner = fab_scenario_new ("scenario", &fab_models, context->catalog);
  fab_scenario_set (inner, "name", fab_value_text ("scenario"), NULL); /* which every scenario needs */
  *scenario = wrap (context, inner);
  lib_door_leave (&door);
  return FABRICAST_OK;
}

/* Readers of one scenario may check it at the same time. */
static gboolean
check (const FabricastScenario *scenario, GError **error)
{
  FabricastScenario *self = (FabricastScenario *) scenario;
  gboolean is_good;

  g_mutex_lock (&self->lock);
  is_good = fab_scenario_check (self->inner, error);
  g_mutex_unlock (&self->lock);
  return is_good;
}

FabScenario *
lib_scenario_checked (const FabricastScenario *self, GError **error)
{
  return check (self, error) ? fab_scenario_copy (self->inner) : NULL;
}

int
fabricast_scenario_copy (const FabricastScenario *scenario, FabricastScenario **copy, FabricastError **error)
{
  LibDoor door;

  LIB_NEED (scenario, error);
  LIB_NEED (copy, error);
  lib_door_enter (&door);
  g_mutex_lock ((GMutex *) &scenario->lock);
  *copy = wrap (scenario->context, fab_scenario_copy (scenario->inner));
  g_mutex_unlock ((GMutex *) &scenario->lock);
  lib_door_leave (&door);
  return FABRICAST_OK;
}

void
fabricast_scenario_free (FabricastScenario *scenario)
{
  if (scenario == NULL)
    return;
  fab_scenario_free (scenario->inner);
  g_string_chunk_free (scenario->texts);
  g_free (scenario->text);
  g_mutex_clear (&scenario->lock);
  lib_context_unref (scenario->context);
  g_free (scenario);
}

int
fabricast_scenario_check (const FabricastScenario *scenario, FabricastError **error)
{
  GError *problem = NULL;
  LibDoor door;
  int status;

  LIB_NEED (scenario, error);
  lib_door_enter (&door);
  status = check (scenario, &problem) ? FABRICAST_OK : lib_fail_with (error, problem);
  lib_door_leave (&door);
  return status;
}

const char *
fabricast_scenario_text (const FabricastScenario *scenario)
{
  FabricastScenario *self = (FabricastScenario *) scenario;
  LibDoor door;

  if (scenario == NULL)
    return NULL;
  lib_door_enter (&door);
  gboolean is_good = check (scenario, NULL);
  g_mutex_lock (&self->lock);
  if (is_good && self->text == NULL)
    self->text = fab_scenario_resolved (self->inner);
  g_mutex_unlock (&self->lock);
  lib_door_leave (&door);
  return is_good ? self->text : NULL;
}

/* --- keys --- */

static const char *
unit_name (FabUnit unit)
{
  switch (unit) {
  case FAB_UNIT_TIME: return "ps";
  case FAB_UNIT_BYTES: return "B";
  case FAB_UNIT_LENGTH: return "mm";
  case FAB_UNIT_RATE: return "B/s";
  case FAB_UNIT_FLOPS: return "FLOP";
  case FAB_UNIT_FLOPS_RATE: return "FLOP/s";
  case FAB_UNIT_FRACTION:
  case FAB_UNIT_COUNT:
  case FAB_UNIT_FACTOR:
  default: return NULL;
  }
}

static const char *
keep_text (const FabricastScenario *scenario, const char *text)
{
  FabricastScenario *self = (FabricastScenario *) scenario;
  const char *kept;

  g_mutex_lock (&self->lock);
  kept = g_string_chunk_insert_const (self->texts, text);
  g_mutex_unlock (&self->lock);
  return kept;
}

static FabricastValue
value_of (const FabricastScenario *self, const FabValue *value)
{
  FabricastValue out = { .struct_size = sizeof out };

  if (value == NULL)
    return out;
  switch (value->kind) {
  case FAB_VALUE_FLAG:
    out.kind = FABRICAST_BOOL;
    out.whole = value->flag ? 1 : 0;
    break;
  case FAB_VALUE_WHOLE:
    out.kind = FABRICAST_WHOLE;
    out.whole = value->whole;
    out.real = (double) value->whole;
    out.unit = unit_name (value->unit);
    break;
  case FAB_VALUE_REAL:
    out.kind = FABRICAST_REAL;
    out.real = value->real;
    out.unit = unit_name (value->unit);
    break;
  case FAB_VALUE_TEXT:
    out.kind = FABRICAST_TEXT;
    out.text = keep_text (self, value->text);
    break;
  case FAB_VALUE_WRITTEN:
  case FAB_VALUE_LIST:
  case FAB_VALUE_MAPPING:
  default: {
    g_autofree char *text = fab_value_write (value);

    out.kind = FABRICAST_TEXT;
    out.text = keep_text (self, text);
  }
  }
  return out;
}

static int
get (const FabricastScenario *scenario, const char *path, FabricastValue *value, FabricastError **error)
{
  GError *problem = NULL;
  FabValue *found = NULL;

  if (!check (scenario, &problem) || !fab_scenario_get (scenario->inner, path, &found, &problem))
    return lib_fail_with (error, problem);
  FabricastValue own = value_of (scenario, found);
  fab_value_unref (found);
  if (!lib_give (&own, sizeof own, value))
    return lib_fail (error, FABRICAST_MISUSE, "struct_size of the value is not set");
  return FABRICAST_OK;
}

int
fabricast_scenario_get (const FabricastScenario *scenario, const char *path, FabricastValue *value,
                        FabricastError **error)
{
  LibDoor door;
  int status;

  LIB_NEED (scenario, error);
  LIB_NEED (path, error);
  LIB_NEED (value, error);
  lib_door_enter (&door);
  status = get (scenario, path, value, error);
  lib_door_leave (&door);
  return status;
}

/* What was given out lives until a change. */
static void
changed (FabricastScenario *self)
{
  g_string_chunk_clear (self->texts);
  g_clear_pointer (&self->text, g_free);
}

/* The value as a person writes it; NULL for none. FALSE: it is not possible. */
static gboolean
write_value (const FabricastValue *value, FabValue **out, FabricastError **error)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  const char *unit = value->unit != NULL ? value->unit : "";
  g_autofree char *text = NULL;

  *out = NULL;
  switch (value->kind) {
  case FABRICAST_NONE: return TRUE;
  case FABRICAST_BOOL: *out = fab_value_flag (value->whole != 0); return TRUE;
  case FABRICAST_WHOLE: text = g_strdup_printf ("%" G_GINT64_FORMAT "%s", (gint64) value->whole, unit); break;
  case FABRICAST_REAL:
    if (!isfinite (value->real)) {
      lib_fail (error, FABRICAST_MISUSE, "the number is not finite");
      return FALSE;
    }
    text = g_strconcat (g_ascii_dtostr (digits, sizeof digits, value->real), unit, NULL);
    break;
  case FABRICAST_TEXT:
    if (value->text == NULL || !g_utf8_validate (value->text, -1, NULL)) {
      lib_fail (error, FABRICAST_MISUSE, "the text is %s", value->text == NULL ? "NULL" : "no UTF-8");
      return FALSE;
    }
    text = g_strdup (value->text);
    break;
  default: lib_fail (error, FABRICAST_MISUSE, "there is no kind of value %d", value->kind); return FALSE;
  }
  *out = fab_value_written (text);
  return TRUE;
}

int
fabricast_scenario_set (FabricastScenario *scenario, const char *path, const FabricastValue *value,
                        FabricastError **error)
{
  GError *problem = NULL;
  FabricastValue own;
  FabValue *written;
  LibDoor door;
  int status = FABRICAST_MISUSE;

  LIB_NEED (scenario, error);
  LIB_NEED (path, error);
  LIB_NEED (value, error);
  if (!lib_take (&own, sizeof own, value, error))
    return FABRICAST_MISUSE;
  lib_door_enter (&door);
  if (write_value (&own, &written, error)) {
    changed (scenario);
    status = fab_scenario_set (scenario->inner, path, written, &problem) ? FABRICAST_OK
                                                                         : lib_fail_with (error, problem);
  }
  lib_door_leave (&door);
  return status;
}

int
fabricast_scenario_assign (FabricastScenario *scenario, const char *assignment, FabricastError **error)
{
  GError *problem = NULL;
  LibDoor door;
  int status;

  LIB_NEED (scenario, error);
  LIB_NEED (assignment, error);
  lib_door_enter (&door);
  changed (scenario);
  status = fab_scenario_assign (scenario->inner, assignment, &problem) ? FABRICAST_OK
                                                                       : lib_fail_with (error, problem);
  lib_door_leave (&door);
  return status;
}
