/* SPDX-License-Identifier: Apache-2.0 */
/* data.h - the prose of `fabricast help`, which is YAML inside the program: glossary.yaml and topics.yaml. */
#pragma once

#include "sim/config/yaml_doc.h"

/* Reads the file of this name. (transfer full) */
FabYamlDoc *fab_help_data (const char *name);

/* The text of a key of an item, owned by the document; NULL: it has none. */
const char *fab_help_text (const FabYamlNode *item, const char *key);
