/* SPDX-License-Identifier: Apache-2.0 */
/* fsdp_keys.h - FSDP's keys, which Accelerate and the Trainer of Hugging Face share. */
#pragma once

#include "formats/job/rows.h"

void fab_job_take_fsdp (FabJobReading *self);
