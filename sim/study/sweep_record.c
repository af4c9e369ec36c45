/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/sweep_record.h"

#include <math.h>
#include <string.h>

#include "sim/result/columns.h"
#include "sim/study/choices.h"

/* All its columns are real, whole or text. */
static const FabRecordTable *const points = &fab_record_tables[FAB_TABLE_SWEEP_POINT];

static double *
real_of (const FabSweepPointRecord *self, const FabColumn *column)
{
  return G_STRUCT_MEMBER_P (self, column->offset);
}

static gint64 *
whole_of (const FabSweepPointRecord *self, const FabColumn *column)
{
  return G_STRUCT_MEMBER_P (self, column->offset);
}

static char **
text_of (const FabSweepPointRecord *self, const FabColumn *column)
{
  return G_STRUCT_MEMBER_P (self, column->offset);
}

void
fab_sweep_record_free (FabSweepPointRecord *self)
{
  if (self == NULL)
    return;
  for (const FabColumn *column = points->columns; column < points->columns + points->n_columns; column++)
    if (column->kind == FAB_COLUMN_TEXT)
      g_free (*text_of (self, column));
  g_free (self);
}

/* Returns a record in which everything is unknown. */
static FabSweepPointRecord *
new_record (void)
{
  FabSweepPointRecord *self = g_new0 (FabSweepPointRecord, 1);

  for (const FabColumn *column = points->columns; column < points->columns + points->n_columns; column++)
    if (column->kind == FAB_COLUMN_REAL)
      *real_of (self, column) = NAN;
    else if (column->kind == FAB_COLUMN_WHOLE)
      *whole_of (self, column) = FAB_RECORD_UNKNOWN;
  return self;
}

/* --- from a point and to one --- */

/* In a FabPoint, 0 means unknown. */
static double
known_real (double value)
{
  return value != 0 ? value : NAN;
}

static gint64
known_whole (gint64 value)
{
  return value != 0 ? value : FAB_RECORD_UNKNOWN;
}

static double
real_or_0 (double value)
{
  return isnan (value) ? 0 : value;
}

static gint64
whole_or_0 (gint64 value)
{
  return value == FAB_RECORD_UNKNOWN ? 0 : value;
}

static void
take_figures (FabSweepPointRecord *self, const FabPoint *point)
{
  self->figures = point->figures;
  for (const FabColumn *column = points->columns; column < points->columns + points->n_columns; column++)
    if (column->kind == FAB_COLUMN_REAL && column->zero_is_null)
      *real_of (self, column) = known_real (*real_of (self, column));
}

static void
give_figures (const FabSweepPointRecord *self, FabPoint *point)
{
  FabSweepPointRecord known = *self;

  for (const FabColumn *column = points->columns; column < points->columns + points->n_columns; column++)
    if (column->kind == FAB_COLUMN_REAL)
      *real_of (&known, column) = real_or_0 (*real_of (&known, column));
  point->figures = known.figures;
}

static void
take_spending (FabSweepPointRecord *self, const FabSpending *spending)
{
  self->capex_usd = known_real (spending->capex_usd);
  self->network_usd = known_real (spending->network_usd);
  self->power_watts = known_real (spending->power_watts);
  self->network_watts = known_real (spending->network_watts);
  self->usd_per_hour = known_real (spending->usd_per_hour);
  self->usd_per_step = known_real (spending->usd_per_step);
  self->usd_per_million_tokens = known_real (spending->usd_per_million_tokens);
  self->train_usd = known_real (spending->train_usd);
  self->step_joules = known_real (spending->step_joules);
  self->train_joules = known_real (spending->train_joules);
}

static FabSpending
spending_of (const FabSweepPointRecord *self)
{
  return (FabSpending){
    .capex_usd = real_or_0 (self->capex_usd),
    .network_usd = real_or_0 (self->network_usd),
    .power_watts = real_or_0 (self->power_watts),
    .network_watts = real_or_0 (self->network_watts),
    .usd_per_hour = real_or_0 (self->usd_per_hour),
    .usd_per_step = real_or_0 (self->usd_per_step),
    .usd_per_million_tokens = real_or_0 (self->usd_per_million_tokens),
    .train_usd = real_or_0 (self->train_usd),
    .step_joules = real_or_0 (self->step_joules),
    .train_joules = real_or_0 (self->train_joules),
  };
}

static char *
join_reals (const GPtrArray *draws, double (*value) (const FabPoint *point))
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < draws->len; i++) {
    char number[G_ASCII_DTOSTR_BUF_SIZE];

    g_ascii_formatd (number, sizeof number, "%.15g", value (g_ptr_array_index (draws, i)));
    g_string_append_printf (text, "%s%s", i > 0 ? " " : "", number);
  }
  return g_string_free (text, FALSE);
}

static void
take_draws (FabSweepPointRecord *self, const GPtrArray *draws)
{
  self->n_seeds = draws != NULL ? draws->len : 1;
  if (draws == NULL)
    return;
  self->seed_steps = join_reals (draws, fab_figure_find ("step")->value);
  self->seed_exposed = join_reals (draws, fab_figure_find ("exposed_time")->value);
}

/* The plays of each seed, of which the record keeps step and exposed communication; all else is that of the median. A
 * file may have been changed by hand: what does not fit is one seed. */
static GPtrArray *
draws_of (const FabSweepPointRecord *self, const FabPoint *point)
{
  g_auto (GStrv) steps = g_strsplit (self->seed_steps != NULL ? self->seed_steps : "", " ", -1);
  g_auto (GStrv) exposed = g_strsplit (self->seed_exposed != NULL ? self->seed_exposed : "", " ", -1);
  guint n = g_strv_length (steps);

  if (n < 2 || g_strv_length (exposed) != n)
    return NULL;
  GPtrArray *draws = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_point_free);
  for (guint i = 0; i < n; i++) {
    FabPoint *draw = fab_point_copy (point);

    draw->step_s = g_ascii_strtod (steps[i], NULL);
    draw->exposed_s = g_ascii_strtod (exposed[i], NULL);
    g_ptr_array_add (draws, draw);
  }
  return draws;
}

static double
exposed_by (const FabPoint *point, FabDimension dimension)
{
  return point->dimensions & 1U << dimension ? point->exposed_by_s[dimension] : NAN;
}

static void
take_parts (FabSweepPointRecord *self, const FabPoint *point)
{
  self->exposed_data_s = exposed_by (point, FAB_DIMENSION_DATA);
  self->exposed_tensor_s = exposed_by (point, FAB_DIMENSION_TENSOR);
  self->exposed_context_s = exposed_by (point, FAB_DIMENSION_CONTEXT);
  self->exposed_expert_s = exposed_by (point, FAB_DIMENSION_EXPERT);
  self->exposed_pipeline_s = exposed_by (point, FAB_DIMENSION_PIPELINE);
  self->exposed_offload_s = exposed_by (point, FAB_DIMENSION_OFFLOAD);
  self->exposed_other_s = exposed_by (point, FAB_DIMENSION_OTHER);
}

static void
give_exposed (FabPoint *point, FabDimension dimension, double seconds)
{
  point->exposed_by_s[dimension] = real_or_0 (seconds);
  point->dimensions |= (isnan (seconds) ? 0U : 1U) << dimension;
}

static void
give_parts (const FabSweepPointRecord *self, FabPoint *point)
{
  give_exposed (point, FAB_DIMENSION_DATA, self->exposed_data_s);
  give_exposed (point, FAB_DIMENSION_TENSOR, self->exposed_tensor_s);
  give_exposed (point, FAB_DIMENSION_CONTEXT, self->exposed_context_s);
  give_exposed (point, FAB_DIMENSION_EXPERT, self->exposed_expert_s);
  give_exposed (point, FAB_DIMENSION_PIPELINE, self->exposed_pipeline_s);
  give_exposed (point, FAB_DIMENSION_OFFLOAD, self->exposed_offload_s);
  give_exposed (point, FAB_DIMENSION_OTHER, self->exposed_other_s);
}

static void
take_goodput (FabSweepPointRecord *self, const FabGoodput *goodput)
{
  if (!goodput->is_known)
    return;
  self->ettr_fraction = goodput->form.ettr_fraction;
  self->goodput_tokens_per_s = known_real (goodput->tokens_per_s);
  self->calendar_s = known_real (goodput->calendar_s);
  self->lost_gpu_hours = known_real (goodput->lost_gpu_hours);
}

static void
give_goodput (const FabSweepPointRecord *self, FabGoodput *goodput)
{
  goodput->is_known = !isnan (self->ettr_fraction);
  goodput->form.ettr_fraction = real_or_0 (self->ettr_fraction);
  goodput->tokens_per_s = real_or_0 (self->goodput_tokens_per_s);
  goodput->calendar_s = real_or_0 (self->calendar_s);
  goodput->lost_gpu_hours = real_or_0 (self->lost_gpu_hours);
}

static void
take_point (FabSweepPointRecord *self, const FabPoint *point)
{
  take_figures (self, point);
  self->memory_bytes = known_whole (point->memory_bytes);
  self->memory_max_bytes = known_whole (point->memory_max_bytes);
  self->n_ranks = point->n_ranks;
  self->n_nodes = point->n_nodes;
  self->global_batch = known_whole ((gint64) point->global_batch);
  self->binding_link = g_strdup (point->binding);
  self->binding_link_spec = g_strdup (point->binding_spec);
  self->verdict = fab_verdict_codes (point->verdict);
  self->choices = point->choices != NULL ? fab_choices_write (point->choices) : NULL;
  take_spending (self, &point->spending);
  take_parts (self, point);
  take_goodput (self, &point->goodput);
  take_draws (self, point->draws);
}

FabSweepPointRecord *
fab_sweep_record_of (const FabPoint *point)
{
  FabSweepPointRecord *self = new_record ();

  take_point (self, point);
  return self;
}

FabSweepPointRecord *
fab_sweep_record_new (const FabGrid *grid, gint64 point, const FabTry *trial)
{
  FabSweepPointRecord *self = new_record ();
  g_autoptr (FabEdits) edits = fab_grid_edits (grid, point);

  self->point = point;
  self->settings = g_strjoinv (" ", (char **) fab_edits_texts (edits));
  self->problem = g_strdup (trial->problem);
  if (trial->point != NULL)
    take_point (self, trial->point);
  return self;
}

void
fab_sweep_record_to_try (const FabSweepPointRecord *self, FabTry *trial)
{
  if (self->problem != NULL) {
    trial->problem = g_strdup (self->problem);
    return;
  }
  trial->point = g_new0 (FabPoint, 1);
  *trial->point = (FabPoint){ .n_ranks = (guint) self->n_ranks,
                              .n_nodes = (guint) self->n_nodes,
                              .global_batch = (guint64) whole_or_0 (self->global_batch),
                              .memory_bytes = whole_or_0 (self->memory_bytes),
                              .memory_max_bytes = whole_or_0 (self->memory_max_bytes),
                              .binding = g_strdup (self->binding_link),
                              .binding_spec = g_strdup (self->binding_link_spec),
                              .spending = spending_of (self),
                              .verdict = fab_verdict_of_codes (self->verdict),
                              .choices = fab_choices_read (self->choices) };
  give_figures (self, trial->point);
  give_parts (self, trial->point);
  give_goodput (self, &trial->point->goodput);
  trial->point->has_only_times = TRUE;
  trial->point->draws = draws_of (self, trial->point);
}

/* --- bytes --- */

#define NO_TEXT G_MAXUINT32

/* Of a real number and of a whole one. */
#define NUMBER_SIZE sizeof (gint64)
G_STATIC_ASSERT (sizeof (double) == NUMBER_SIZE);

static void
append_text (GByteArray *bytes, const char *text)
{
  guint32 size = text != NULL ? (guint32) strlen (text) : NO_TEXT;

  g_byte_array_append (bytes, (const guint8 *) &size, sizeof size);
  if (text != NULL)
    g_byte_array_append (bytes, (const guint8 *) text, size);
}

void
fab_sweep_record_write (const FabSweepPointRecord *self, GByteArray *bytes)
{
  for (const FabColumn *column = points->columns; column < points->columns + points->n_columns; column++)
    if (column->kind == FAB_COLUMN_TEXT)
      append_text (bytes, *text_of (self, column));
    else
      g_byte_array_append (bytes, G_STRUCT_MEMBER_P (self, column->offset), NUMBER_SIZE);
}

static gboolean
take (const guint8 **bytes, gsize *n_left, gpointer out, gsize size)
{
  if (*n_left < size)
    return FALSE;
  memcpy (out, *bytes, size);
  *bytes += size;
  *n_left -= size;
  return TRUE;
}

static gboolean
take_text (const guint8 **bytes, gsize *n_left, char **text)
{
  guint32 size;

  if (!take (bytes, n_left, &size, sizeof size))
    return FALSE;
  if (size == NO_TEXT)
    return TRUE;
  if (*n_left < size)
    return FALSE;
  *text = g_strndup ((const char *) *bytes, size);
  *bytes += size;
  *n_left -= size;
  return TRUE;
}

static gboolean
take_column (const guint8 **bytes, gsize *n_left, FabSweepPointRecord *self, const FabColumn *column)
{
  if (column->kind == FAB_COLUMN_TEXT)
    return take_text (bytes, n_left, text_of (self, column));
  return take (bytes, n_left, G_STRUCT_MEMBER_P (self, column->offset), NUMBER_SIZE);
}

FabSweepPointRecord *
fab_sweep_record_read (const guint8 **bytes, gsize *n_left)
{
  g_autoptr (FabSweepPointRecord) self = new_record ();

  for (const FabColumn *column = points->columns; column < points->columns + points->n_columns; column++)
    if (!take_column (bytes, n_left, self, column))
      return NULL;
  return g_steal_pointer (&self);
}
