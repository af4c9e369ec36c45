/* SPDX-License-Identifier: Apache-2.0 */
/* read.h - members of JSON that anybody may have written: one that is missing or of another type is told from one that
 * is there. */
#pragma once

#include <json-glib/json-glib.h>

/* NULL where it is no text. */
const char *fab_study_text (JsonObject *object, const char *member);
/* For a sentence: "-" where it is no text. */
const char *fab_study_word (JsonObject *object, const char *member);
/* NAN where it is no number, or beyond what any figure is (1e30). */
double fab_study_number (JsonObject *object, const char *member);
/* NULL where it is no object. */
JsonObject *fab_study_object (JsonObject *object, const char *member);
/* The objects of an array, in its order; empty where it is none. (transfer container) */
GPtrArray *fab_study_objects (JsonObject *object, const char *member);
/* Whether there is an array of this name. */
gboolean fab_study_has_array (JsonObject *object, const char *member);
