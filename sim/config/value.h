/* SPDX-License-Identifier: Apache-2.0 */
/* value.h - the value of a key with its type: what a program sets and gets where a person writes text.
 *
 * A value is immutable once it is handed over, and counted, so that threads may share it. NULL is no value:
 * setting it takes the key away. Numbers are in the canonical unit of `unit` (sim/base/units.h). A choice, the name of
 * an entry and the name of a model are texts.
 */
#pragma once

#include "sim/base/units.h"

typedef enum {
  FAB_VALUE_FLAG,
  FAB_VALUE_WHOLE, /* TIME, BYTES, LENGTH, RATE, COUNT */
  FAB_VALUE_REAL,  /* FLOPS, FLOPS_RATE, FRACTION, FACTOR */
  FAB_VALUE_TEXT,
  FAB_VALUE_WRITTEN, /* the text of one value as a person wrote it, "50%": the key says how it is read */
  FAB_VALUE_LIST,    /* of mappings */
  FAB_VALUE_MAPPING, /* keys and values: a table, or a model with its `kind` */
} FabValueKind;

typedef struct _FabValue FabValue;

struct _FabValue {
  FabValueKind kind;
  FabUnit unit; /* WHOLE, REAL */
  gboolean flag;
  gint64 whole;
  double real;
  char *text;
  GPtrArray *keys;   /* char: MAPPING */
  GPtrArray *values; /* FabValue, NULL for none: LIST, MAPPING */
};

FabValue *fab_value_flag (gboolean flag);
FabValue *fab_value_whole (FabUnit unit, gint64 whole);
FabValue *fab_value_count (gint64 count);
FabValue *fab_value_real (FabUnit unit, double real);
FabValue *fab_value_text (const char *text);    /* NULL for NULL */
FabValue *fab_value_written (const char *text); /* likewise */
FabValue *fab_value_list (void);
FabValue *fab_value_mapping (void);

/* Both take `value`; only before the list or mapping is handed to anybody. */
void fab_value_append (FabValue *list, FabValue *value);
void fab_value_put (FabValue *mapping, const char *key, FabValue *value);

/* The value of a key of a mapping, not owned; NULL when there is none. */
const FabValue *fab_value_at (const FabValue *mapping, const char *key);

FabValue *fab_value_ref (const FabValue *self); /* NULL for NULL */
void fab_value_unref (FabValue *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabValue, fab_value_unref)

gboolean fab_value_equal (const FabValue *a, const FabValue *b);

/* As a person would write it on one line of YAML: "8", "25MiB", "true", "{kind: zero, stage: 3}"; "" for none. It
 * reads back to the same value. (transfer full) */
char *fab_value_write (const FabValue *self);

/* What kind of value it is, for messages: "time", "count", "text", "list". */
const char *fab_value_noun (const FabValue *self);
