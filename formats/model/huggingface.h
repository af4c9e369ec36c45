/* SPDX-License-Identifier: Apache-2.0 */
/* huggingface.h - config.json of Hugging Face transformers, as a reader of the registry: a scenario may name such a
 * file where it names a model. */
#pragma once

#include "sim/scenario/model_file.h"

extern const FabModelFileFormat fab_format_huggingface;
