/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_syntax.h - says in the words of a person who writes a scenario what the parser of YAML found. */
#pragma once

#include "sim/config/diagnostics.h"

/* `problem` and `context` are libyaml's, and the context may be NULL. `data` is the whole text, into which the mark
 * points, and `begins` the line on which the context begins; 0: at the mark. (transfer full) */
char *fab_yaml_syntax_words (const char *problem, const char *context, const char *data, const FabMark *mark,
                             gsize begins);
