/* SPDX-License-Identifier: Apache-2.0 */
/* param.c - the names and units of the types of a parameter table.
 *
 * The tables are data; sim/scenario/schema_*.c reads and writes them. Nothing here allocates, except fab_check_fail
 * during its call.
 */
#include "sim/base/param.h"

const char *
fab_param_type_name (FabParamType type)
{
  static const char *const names[] = {
    [FAB_PARAM_TIME] = "time",
    [FAB_PARAM_BYTES] = "size",
    [FAB_PARAM_LENGTH] = "length",
    [FAB_PARAM_RATE] = "rate",
    [FAB_PARAM_FLOPS] = "FLOPs",
    [FAB_PARAM_FLOPS_RATE] = "FLOP rate",
    [FAB_PARAM_FRACTION] = "fraction",
    [FAB_PARAM_FACTOR] = "number",
    [FAB_PARAM_COUNT] = "count",
    [FAB_PARAM_PERIOD] = "count or time",
    [FAB_PARAM_POWER] = "power or fraction",
    [FAB_PARAM_BOOL] = "yes or no",
    [FAB_PARAM_TEXT] = "text",
    [FAB_PARAM_CHOICE] = "choice",
    [FAB_PARAM_TABLE] = "mapping",
    [FAB_PARAM_LIST] = "list",
    [FAB_PARAM_MODEL] = "model",
  };

  g_assert (type < G_N_ELEMENTS (names));
  return names[type];
}

gboolean
fab_param_is_number (FabParamType type)
{
  return type >= FAB_PARAM_TIME && type <= FAB_PARAM_COUNT;
}

gboolean
fab_param_is_whole (FabParamType type)
{
  return type == FAB_PARAM_TIME || type == FAB_PARAM_BYTES || type == FAB_PARAM_LENGTH
      || type == FAB_PARAM_RATE || type == FAB_PARAM_COUNT;
}

FabUnit
fab_param_unit (FabParamType type)
{
  static const FabUnit units[] = {
    [FAB_PARAM_TIME] = FAB_UNIT_TIME,         [FAB_PARAM_BYTES] = FAB_UNIT_BYTES,
    [FAB_PARAM_LENGTH] = FAB_UNIT_LENGTH,     [FAB_PARAM_RATE] = FAB_UNIT_RATE,
    [FAB_PARAM_FLOPS] = FAB_UNIT_FLOPS,       [FAB_PARAM_FLOPS_RATE] = FAB_UNIT_FLOPS_RATE,
    [FAB_PARAM_FRACTION] = FAB_UNIT_FRACTION, [FAB_PARAM_FACTOR] = FAB_UNIT_FACTOR,
    [FAB_PARAM_COUNT] = FAB_UNIT_COUNT,
  };

  g_assert (fab_param_is_number (type));
  return units[type];
}

const char *
fab_refers_name (FabRefers refers)
{
  static const char *const names[] = {
    [FAB_REFERS_LINK] = "link",
    [FAB_REFERS_ACCELERATOR] = "accelerator",
    [FAB_REFERS_NODE] = "node",
    [FAB_REFERS_MODEL] = "model",
    [FAB_REFERS_ALGORITHM] = "algorithm",
    [FAB_REFERS_FILE] = "file",
    [FAB_REFERS_FILES] = "file or list of files",
    [FAB_REFERS_TECHNOLOGY] = "technology",
    [FAB_REFERS_PROCESSOR] = "processor",
    [FAB_REFERS_FAILURES] = "set of failures",
    [FAB_REFERS_DESIGN] = "design",
  };

  g_assert (refers > FAB_REFERS_NOTHING && refers < G_N_ELEMENTS (names));
  return names[refers];
}

const char *
fab_refers_section (FabRefers refers)
{
  static const char *const sections[] = {
    [FAB_REFERS_LINK] = "links",           [FAB_REFERS_ACCELERATOR] = "accelerators",
    [FAB_REFERS_NODE] = "nodes",           [FAB_REFERS_MODEL] = "models",
    [FAB_REFERS_ALGORITHM] = "algorithm",  [FAB_REFERS_TECHNOLOGY] = "technologies",
    [FAB_REFERS_PROCESSOR] = "processors", [FAB_REFERS_FAILURES] = "failures",
    [FAB_REFERS_DESIGN] = "designs",
  };

  g_assert (refers < G_N_ELEMENTS (sections) && sections[refers] != NULL);
  return sections[refers];
}

void
fab_check_fail (FabCheck *check, gconstpointer field, const char *format, ...)
{
  va_list args;
  g_autofree char *message = NULL;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  check->report (check, field, message);
}
