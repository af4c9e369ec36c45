/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/study/read.h"

#include <math.h>

static const double LARGEST = 1e30;

static JsonNode *
member_of (JsonObject *object, const char *member, JsonNodeType type)
{
  JsonNode *node = object != NULL ? json_object_get_member (object, member) : NULL;

  return node != NULL && json_node_get_node_type (node) == type ? node : NULL;
}

const char *
fab_study_text (JsonObject *object, const char *member)
{
  JsonNode *node = member_of (object, member, JSON_NODE_VALUE);

  return node != NULL && json_node_get_value_type (node) == G_TYPE_STRING ? json_node_get_string (node)
                                                                          : NULL;
}

const char *
fab_study_word (JsonObject *object, const char *member)
{
  const char *text = fab_study_text (object, member);

  return text != NULL ? text : "-";
}

double
fab_study_number (JsonObject *object, const char *member)
{
  JsonNode *node = member_of (object, member, JSON_NODE_VALUE);
  GType type = node != NULL ? json_node_get_value_type (node) : G_TYPE_NONE;
  double value = type == G_TYPE_INT64 || type == G_TYPE_DOUBLE ? json_node_get_double (node) : NAN;

  return fabs (value) < LARGEST ? value : NAN;
}

JsonObject *
fab_study_object (JsonObject *object, const char *member)
{
  JsonNode *node = member_of (object, member, JSON_NODE_OBJECT);

  return node != NULL ? json_node_get_object (node) : NULL;
}

gboolean
fab_study_has_array (JsonObject *object, const char *member)
{
  return member_of (object, member, JSON_NODE_ARRAY) != NULL;
}

GPtrArray *
fab_study_objects (JsonObject *object, const char *member)
{
  JsonNode *node = member_of (object, member, JSON_NODE_ARRAY);
  JsonArray *array = node != NULL ? json_node_get_array (node) : NULL;
  GPtrArray *objects = g_ptr_array_new ();

  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++) {
    JsonNode *each = json_array_get_element (array, i);

    if (JSON_NODE_HOLDS_OBJECT (each))
      g_ptr_array_add (objects, json_node_get_object (each));
  }
  return objects;
}
