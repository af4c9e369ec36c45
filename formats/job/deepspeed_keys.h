/* SPDX-License-Identifier: Apache-2.0 */
/* deepspeed_keys.h - keys of DeepSpeed that GPT-NeoX has among its own. */
#pragma once

#include "formats/job/rows.h"

/* Takes them, and chooses the kind of the job by the stage of ZeRO. FALSE and the error of `self`: one is wrong. */
gboolean fab_job_take_deepspeed (FabJobReading *self);
