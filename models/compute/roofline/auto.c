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
  gint stack; /* index into stack_names */
  double scale_factor;
} AutoParams;

static const char *const stack_names[] = { "auto", "eager",     "compiled", "megatron",
                                           "nemo", "deepspeed", "xla",      NULL };

static const FabParam auto_params[] = {
  { .key = "stack",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (AutoParams, stack),
    .fallback = "auto",
    .choices = stack_names,
    .help =
        "Software that trains; auto: megatron for a megatron job, deepspeed for zero, eager for ddp and fsdp." },
  { .key = "scale",
    .type = FAB_PARAM_FACTOR,
    .offset = G_STRUCT_OFFSET (AutoParams, scale_factor),
    .fallback = "1",
    .min = 0.01,
    .max = 10,
    .help =
        "Factor on all rates, of kernels and of the host: the time of every pass is divided by it. A measured run "
        "of the same software and machine gives it." },
  { .key = NULL },
};

typedef struct {
  const char *name;
  gboolean is_fused;  /* operators bound by memory are one kernel each */
  FabTimePs issue_ps; /* where no efficiency says another */
} Stack;

#define US(us_) ((us_) *G_GINT64_CONSTANT (1000000))

static const Stack stacks[] = {
  { "eager", FALSE, US (5) }, { "compiled", TRUE, US (5) },   { "megatron", TRUE, US (5) },
  { "nemo", TRUE, US (5) },   { "deepspeed", FALSE, US (5) }, { "xla", TRUE, US (1) },
};

static const Stack *
stack_of (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (stacks); i++)
    if (g_strcmp0 (stacks[i].name, name) == 0)
      return &stacks[i];
  return &stacks[0];
}

static const char *
auto_stack (gconstpointer params)
{
  return stack_names[((const AutoParams *) params)->stack];
}

static double
auto_seconds (gconstpointer params, const FabDevice *device, const FabPass *pass)
{
  const FabEfficiency *efficiency = pass->efficiency;
  const Stack *stack = stack_of (efficiency != NULL ? efficiency->stack : auto_stack (params));
  FabPricing pricing = { .memory_fraction = 0.85,
                         .scale_factor = efficiency != NULL ? efficiency->scale_factor : 1,
                         .attention = FAB_ATTENTION_FLASH2,
                         .is_causal = TRUE,
                         .is_fused = stack->is_fused,
                         .launch_ps = US (1),
                         .issue_ps = stack->issue_ps };

  if (efficiency != NULL && efficiency->issue_ps > 0)
    pricing.issue_ps = efficiency->issue_ps;
  return fab_price_pass (&pricing, device, pass) / ((const AutoParams *) params)->scale_factor;
}

const FabComputeOps fab_compute_auto = {
  .info = { .name = "auto",
            .summary = "Operator by operator, as fast as such software was measured on such accelerators.",
            .doc = "docs/models/auto.md",
            .params = auto_params,
            .params_size = sizeof (AutoParams) },
  .seconds = auto_seconds,
  .stack = auto_stack,
  .is_of_average_gpu = TRUE,
};
