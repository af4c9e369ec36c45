/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_tree.h - builds the node tree of a document: private to yaml_*.c.
 *
 * The document owns its nodes and its sources (the file and every --set) and frees them with itself. A copy shares the
 * nodes of the document that it was made from, keeps that document alive, and copies a node before it changes it.
 */
#pragma once

#include "sim/scenario/yaml_doc.h"
#include "sim/scenario/yaml_source.h"

#define FAB_YAML_MAX_DEPTH 64u
#define FAB_YAML_MAX_NODES 200000u

struct _FabYamlDoc {
  gatomicrefcount n_users; /* whoever made it, and its copies */
  FabYamlDoc *base;        /* NULL: it is no copy */
  guint n_inherited;       /* nodes of it and of its base */
  FabYamlNode *root;
  GPtrArray *nodes;    /* all FabYamlNode of the tree */
  GStringChunk *texts; /* the texts of scalars */
  GPtrArray *sources;  /* FabYamlSource */
};

FabYamlDoc *fab_yaml_tree_new (void);

/* NULL when the document is full. */
FabYamlNode *fab_yaml_tree_node (FabYamlDoc *doc, FabYamlKind kind, const FabMark *mark);
FabYamlNode *fab_yaml_tree_scalar (FabYamlDoc *doc, const char *text, const FabMark *mark);
/* Returns a deep copy, at most `depth` levels deep; NULL when the document is full or the copy would be deeper. */
FabYamlNode *fab_yaml_tree_copy (FabYamlDoc *doc, const FabYamlNode *node, guint depth);

/* Returns the node in `slot` as one that the document may change. A node of another document is replaced in the slot by
 * a copy; the slot itself belongs to this document. NULL when the document is full. */
FabYamlNode *fab_yaml_tree_own (FabYamlDoc *doc, FabYamlNode **slot);
/* Does the same for the whole tree. FALSE when the document is full. */
gboolean fab_yaml_tree_own_all (FabYamlDoc *doc);

/* `key` is NULL for a sequence; in a mapping it must be new. */
void fab_yaml_tree_append (FabYamlNode *parent, FabYamlNode *key, FabYamlNode *value);

/* Reads the YAML behind `offset` of a source. NULL: a diagnostic was added. An empty text is a null scalar. */
FabYamlNode *fab_yaml_tree_read (FabYamlDoc *doc, const FabYamlSource *source, gsize offset,
                                 FabDiagnostics *diagnostics);
/* Reads a whole source, which the document takes over. An empty text is an empty mapping. */
FabYamlNode *fab_yaml_tree_add (FabYamlDoc *doc, FabYamlSource *source, FabDiagnostics *diagnostics);
