/* SPDX-License-Identifier: Apache-2.0 */
/* auto.c - operator by operator (price.c), as fast as the job's software was measured on the accelerator's generation.
 *
 *   pass = price with the rates of kernels x efficiency / scale
 *
 * The efficiency is an entry of the catalogue's `efficiencies`, or a product of effects where no such run was measured
 * (sim/base/efficiency.h). What kernels a software runs is a row of `stacks`.
 */
#include "models/compute/roofline/price.h"
#include "models/models.h"

typedef struct {
  gint stack;     /* index into stack_names */
  gint attention; /* 0: by the stack; else 1 + FabAttentionKernel */
  gboolean is_causal, has_graphs;
  double scale_factor;
} AutoParams;

static const char *const stack_names[] = { "auto",     "eager",     "compiled", "megatron", "nemo",
                                           "nanotron", "deepspeed", "xla",      NULL };
static const char *const attention_choices[] = { "auto", "flash1", "flash2", "flash3", "cudnn", NULL };

static const FabParam auto_params[] = {
  { .key = "stack",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (AutoParams, stack),
    .fallback = "auto",
    .choices = stack_names,
    .help =
        "Training software; auto: megatron for a megatron job, deepspeed for zero, eager for ddp and fsdp." },
  { .key = "attention",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (AutoParams, attention),
    .fallback = "auto",
    .choices = attention_choices,
    .help = "Attention kernel to use when the shape does not keep the scores. auto: cudnn on Hopper and "
            "Blackwell with megatron or nemo, else flash2." },
  { .key = "causal",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (AutoParams, is_causal),
    .fallback = "true",
    .help = "Each token attends to earlier tokens only, so a fused attention kernel skips half of the "
            "scores." },
  { .key = "graphs",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (AutoParams, has_graphs),
    .fallback = "false",
    .help = "The host starts kernels from a captured CUDA graph, which takes 1us per kernel." },
  { .key = "scale",
    .type = FAB_PARAM_FACTOR,
    .offset = G_STRUCT_OFFSET (AutoParams, scale_factor),
    .fallback = "1",
    .min = 0.01,
    .max = 10,
    .help =
        "Factor on all rates, of kernels and of the host: the time of each pass is divided by it. Take it "
        "from a measured run of the same software on the same machine." },
  { .key = NULL },
};

typedef struct {
  const char *name;
  gboolean is_fused;         /* operators bound by memory are one kernel each */
  double accumulation_bytes; /* that adding a gradient to earlier ones moves, per parameter */
  FabTimePs issue_ps;        /* where no efficiency says another */
} Stack;

#define US(us_) ((us_) *G_GINT64_CONSTANT (1000000))

/* Gradients: eager software reads two of 2 B and writes one; DeepSpeed and nanotron read 2 and 4, write 4; Megatron's
 * product reads and writes 4 B in place of writing 2 (gradient_accumulation_fusion). */
static const Stack stacks[] = {
  { "eager", FALSE, 6, US (20) }, { "compiled", TRUE, 6, US (5) },   { "megatron", TRUE, 6, US (10) },
  { "nemo", TRUE, 6, US (10) },   { "nanotron", TRUE, 10, US (50) }, { "deepspeed", FALSE, 10, US (20) },
  { "xla", TRUE, 6, US (1) },
};

static const Stack *
stack_of (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (stacks); i++)
    if (g_strcmp0 (stacks[i].name, name) == 0)
      return &stacks[i];
  return &stacks[0];
}

/* The attention kernel of newer software: cuDNN's on Hopper and Blackwell under TransformerEngine, else flash2. */
static FabAttentionKernel
attention_of (const AutoParams *params, const Stack *stack, const FabDevice *device)
{
  gboolean is_new = g_strcmp0 (device->architecture, "hopper") == 0
                 || g_strcmp0 (device->architecture, "blackwell") == 0;
  gboolean has_engine = g_str_equal (stack->name, "megatron") || g_str_equal (stack->name, "nemo");

  if (params->attention > 0)
    return (FabAttentionKernel) (params->attention - 1);
  return is_new && has_engine ? FAB_ATTENTION_CUDNN : FAB_ATTENTION_FLASH2;
}

static const char *
auto_stack (gconstpointer params)
{
  return stack_names[((const AutoParams *) params)->stack];
}

static FabComputeBasis
auto_basis (gconstpointer params)
{
  double scale_factor = ((const AutoParams *) params)->scale_factor;

  return scale_factor < 1 || scale_factor > 1 ? FAB_COMPUTE_ANCHORED : FAB_COMPUTE_EFFICIENCY;
}

static double
auto_seconds (gconstpointer params, const FabDevice *device, const FabPass *pass)
{
  const FabEfficiency *efficiency = pass->efficiency;
  const Stack *stack = stack_of (efficiency != NULL ? efficiency->stack : auto_stack (params));
  FabPricing pricing = { .memory_fraction = 0.85,
                         .scale_factor = efficiency != NULL ? efficiency->scale_factor : 1,
                         .attention = attention_of (params, stack, device),
                         .is_causal = ((const AutoParams *) params)->is_causal,
                         .is_fused = stack->is_fused,
                         .accumulation_bytes = stack->accumulation_bytes,
                         .launch_ps = US (1),
                         .issue_ps = stack->issue_ps };

  if (efficiency != NULL && efficiency->issue_ps > 0)
    pricing.issue_ps = efficiency->issue_ps;
  if (((const AutoParams *) params)->has_graphs)
    pricing.issue_ps = US (1);
  return fab_price_pass (&pricing, device, pass) / ((const AutoParams *) params)->scale_factor;
}

const FabComputeOps fab_compute_auto = {
  .info = { .name = "auto",
            .summary = "Times each operator at the speed measured for such software and accelerators.",
            .doc = "docs/models/auto.md",
            .params = auto_params,
            .params_size = sizeof (AutoParams) },
  .seconds = auto_seconds,
  .stack = auto_stack,
  .is_of_average_gpu = TRUE,
  .basis = auto_basis,
};
