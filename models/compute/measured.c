/* SPDX-License-Identifier: Apache-2.0 */
/* measured.c - compute times of layers that somebody measured.
 *
 *   forward   = the row's time x tokens / the row's tokens (unscaled when the row has no tokens)
 *   backward  = likewise; twice forward when the row has no backward time
 *
 * A row fits a layer of the same name, or a layer whose name is the row's name and a number: `block` fits block0,
 * block1, ... but `block1` does not fit block10. Of several rows that fit, the longest name wins; of these, the one
 * that names the segment. A row without segment is the time of the whole layer, which its segments share in
 * proportion to their forward FLOPs.
 *
 * Under a power cap all of it takes as many times longer as matrices do, because a measured time does not say what
 * part of it is memory's. Times are those of one rank: for a divided model (tensor parallelism) the user measures
 * the divided layer. Nothing is scaled by the number of ranks.
 */
#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/execution/layers.h"

typedef struct {
  const char *layer, *segment;
  FabTimePs forward_ps, backward_ps;
  gint64 tokens;
} TimeParams;

typedef struct {
  FabParamList times; /* TimeParams */
} MeasuredParams;

static const FabParam time_params[] = {
  { .key = "layer",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (TimeParams, layer),
    .help = "Name of the layer. A name without its number fits every copy: block fits block0, block1 and so "
            "on." },
  { .key = "segment",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (TimeParams, segment),
    .fallback = "",
    .help = "Segment of the layer (attention or mlp). Left out: the whole layer." },
  { .key = "forward",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (TimeParams, forward_ps),
    .help = "Time of the forward pass." },
  { .key = "backward",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (TimeParams, backward_ps),
    .fallback = "0ms",
    .help = "Time of the backward pass, without recomputation; 0: twice the forward time." },
  { .key = "tokens",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (TimeParams, tokens),
    .fallback = "0",
    .max = 1e12,
    .help =
        "Tokens per rank and micro-batch when the time was measured; times grow in proportion to tokens. 0: "
        "times do not change with tokens." },
  { .key = NULL },
};

static const FabParam measured_params[] = {
  { .key = "times",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (MeasuredParams, times),
    .table = time_params,
    .table_size = sizeof (TimeParams),
    .help = "Measured time of each layer." },
  { .key = NULL },
};

static gboolean
fits (const TimeParams *time, const FabLayer *layer, const FabSegment *segment)
{
  gsize length = strlen (time->layer);
  const char *rest = layer->name + length;

  if (time->segment != NULL && !g_str_equal (time->segment, segment->name))
    return FALSE;
  if (!g_str_has_prefix (layer->name, time->layer))
    return FALSE;
  if (*rest == '\0')
    return TRUE;
  return strspn (rest, "0123456789") == strlen (rest) && length > 0 && !g_ascii_isdigit (rest[-1]);
}

static gboolean
is_closer (const TimeParams *a, const TimeParams *b)
{
  gsize a_length = strlen (a->layer), b_length = strlen (b->layer);

  return a_length > b_length || (a_length == b_length && a->segment != NULL && b->segment == NULL);
}

/* Returns NULL when no row fits. */
static const TimeParams *
find_time (const MeasuredParams *params, const FabLayer *layer, const FabSegment *segment)
{
  const TimeParams *found = NULL;

  for (guint i = 0; i < params->times.n; i++) {
    const TimeParams *time = (const TimeParams *) params->times.data + i;

    if (fits (time, layer, segment) && (found == NULL || is_closer (time, found)))
      found = time;
  }
  return found;
}

static double
segment_share (const FabLayer *layer, const FabSegment *segment)
{
  if (layer->forward_flops_per_token > 0)
    return segment->forward_flops / layer->forward_flops_per_token;
  return 1.0 / layer->segments->len;
}

static double
measured_seconds (gconstpointer params, const FabDevice *device, const FabPass *pass)
{
  const TimeParams *time = find_time (params, pass->layer, pass->segment);
  double seconds;

  g_assert (time != NULL); /* guaranteed by check_layers */
  seconds = fab_ps_to_seconds (time->forward_ps);
  if (pass->is_backward)
    seconds = time->backward_ps > 0 ? fab_ps_to_seconds (time->backward_ps) : 2 * seconds;
  if (pass->gradients != FAB_GRADIENTS_ALL) /* it was measured whole */
    seconds /= 2;
  if (time->tokens > 0)
    seconds *= pass->tokens / (double) time->tokens;
  seconds *= fab_device_slowdown (device);
  return time->segment != NULL ? seconds : seconds * segment_share (pass->layer, pass->segment);
}

static gboolean
is_used (const TimeParams *time, const FabLayerStack *stack)
{
  for (guint l = 0; l < stack->layers->len; l++) {
    const FabLayer *layer = fab_layer_stack_layer (stack, l);

    for (guint s = 0; s < layer->segments->len; s++)
      if (fits (time, layer, fab_layer_segment (layer, s)))
        return TRUE;
  }
  return FALSE;
}

/* A time that fits no layer is a typing error. */
static gboolean
check_used (const MeasuredParams *params, const FabLayerStack *stack, GError **error)
{
  for (guint i = 0; i < params->times.n; i++) {
    const TimeParams *time = (const TimeParams *) params->times.data + i;

    if (!is_used (time, stack))
      return fab_throw (error, FAB_ERROR_INPUT,
                        "compute: the model has no layer '%s%s%s', but a time is given for it", time->layer,
                        time->segment ? "/" : "", time->segment ? time->segment : "");
  }
  return TRUE;
}

static gboolean
measured_check_layers (gconstpointer params, const FabLayerStack *stack, GError **error)
{
  g_autoptr (GString) missing = g_string_new (NULL);

  for (guint l = 0; l < stack->layers->len; l++) {
    const FabLayer *layer = fab_layer_stack_layer (stack, l);

    for (guint s = 0; s < layer->segments->len; s++) {
      const FabSegment *segment = fab_layer_segment (layer, s);

      if (find_time (params, layer, segment) == NULL)
        g_string_append_printf (missing, "%s%s/%s", missing->len > 0 ? ", " : "", layer->name, segment->name);
    }
  }
  if (missing->len == 0)
    return check_used (params, stack, error);
  return fab_throw (error, FAB_ERROR_INPUT,
                    "compute: there is no measured time for these layers "
                    "(layer/segment): %s",
                    missing->str);
}

static void
measured_check (gconstpointer params, FabCheck *check)
{
  const MeasuredParams *p = params;

  if (p->times.n == 0)
    fab_check_fail (check, &p->times, "times is empty: name at least one, {layer: block, forward: 1ms}");
  for (guint i = 0; i < p->times.n; i++) {
    const TimeParams *time = (const TimeParams *) p->times.data + i;

    for (guint j = 0; j < i; j++) {
      const TimeParams *earlier = (const TimeParams *) p->times.data + j;

      if (g_strcmp0 (time->layer, earlier->layer) == 0 && g_strcmp0 (time->segment, earlier->segment) == 0)
        fab_check_fail (check, &time->layer, "the time of '%s' is given twice", time->layer);
    }
  }
}

const FabComputeOps fab_compute_measured = {
  .info = { .name = "measured",
            .summary = "Layer times that were measured.",
            .doc = "docs/models/measured.md",
            .params = measured_params,
            .params_size = sizeof (MeasuredParams),
            .check = measured_check },
  .seconds = measured_seconds,
  .check_layers = measured_check_layers,
};
