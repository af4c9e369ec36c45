/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_doc.h - a YAML file as a tree of nodes with positions. Only this part of the program uses libyaml.
 *
 * Limits bound the cost of a hostile file: 4 MiB per file, depth 64, 200 000 nodes after aliases are expanded (an
 * alias bomb is an error at the alias). A file holds one document. Duplicate keys, keys that are not text, tags and
 * merge keys (<<) are errors. A document owns its nodes; one thread at a time may change it.
 */
#pragma once

#include "sim/config/diagnostics.h"
#include "sim/config/value.h"

typedef enum { FAB_YAML_SCALAR, FAB_YAML_SEQUENCE, FAB_YAML_MAPPING } FabYamlKind;

typedef struct _FabYamlNode FabYamlNode;
typedef struct _FabYamlDoc FabYamlDoc;

struct _FabYamlNode {
  FabYamlKind kind;
  FabMark mark;
  const char *text;   /* SCALAR: UTF-8 without NUL; NULL for the null scalar (~, null, empty) */
  gboolean is_quoted; /* SCALAR */
  guint n;            /* SEQUENCE, MAPPING: number of values */
  FabYamlNode **keys; /* MAPPING: scalars, in file order; NULL otherwise */
  FabYamlNode **values;
  FabValue *value;         /* SCALAR that a program set: what holds; `text` is how a person would write it */
  const FabYamlDoc *owner; /* the document that may change it; others that hold it copy it first */
};

/* Returns NULL and *error (FAB_ERROR_IO) when the file cannot be read, NULL and diagnostics when it is not valid
 * YAML.
 * The root is a mapping; an empty file is an empty mapping. Duplicate keys, tags and merge keys are diagnostics, but
 * the rest is returned so that its mistakes are shown too. (transfer full) */
FabYamlDoc *fab_yaml_doc_load (const char *path, FabDiagnostics *diagnostics, GError **error);

/* Reads a text that is in memory; messages call the text `name`. (transfer full) */
FabYamlDoc *fab_yaml_doc_parse (const char *name, const char *data, gsize size, FabDiagnostics *diagnostics);

/* The same of a file of another program: a mapping has a key that is written twice as often as it is written, and there
 * is no diagnostic. Only for reading; such a document is not edited. (transfer full) */
FabYamlDoc *fab_yaml_doc_parse_foreign (const char *name, const char *data, gsize size,
                                        FabDiagnostics *diagnostics);

/* Returns an empty mapping; `name` stands for the path in messages. (transfer full) */
FabYamlDoc *fab_yaml_doc_new (const char *name);

/* Returns a document with the same tree. The nodes are shared until one of the two documents changes them, and
 * neither sees the other's changes. Several threads may copy one document at once, as long as none changes it. */
FabYamlDoc *fab_yaml_doc_copy (const FabYamlDoc *self);

/* Whether a copy still uses the nodes of this document, which must not be changed then. */
gboolean fab_yaml_doc_is_copied (const FabYamlDoc *self);
void fab_yaml_doc_free (FabYamlDoc *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabYamlDoc, fab_yaml_doc_free)

FabYamlNode *fab_yaml_doc_root (const FabYamlDoc *self);

/* Returns the value of a key; NULL when it is absent or the node is not a mapping. */
FabYamlNode *fab_yaml_get (const FabYamlNode *mapping, const char *key);

/* Returns the item of a list of mappings that has this `name`; NULL when none has. */
FabYamlNode *fab_yaml_named_item (const FabYamlNode *list, const char *name);

/* Applies `assignment`, "a.b.c=value". The value is YAML (`8`, `400Gb/s`, `{kind: fluid}`). List items are named by
 * index (`links.0.latency`) or by their `name` (`links.wire.latency`), a new last item by `+`
 * (`faults.+={what: nic, ...}`). Missing mappings on the path are created. The new node's mark is in file `origin`
 * (an option, such as "--set"), line 0, with the assignment as its text. A scalar on the path that is the short form
 * of a model (`fidelity: fluid`) becomes {kind: fluid}; the name of the model that is there already keeps its other
 * keys. FALSE: a diagnostic was added. */
gboolean fab_yaml_doc_set (FabYamlDoc *self, const char *origin, const char *assignment,
                           FabDiagnostics *diagnostics);

/* Does the same with a typed value, which is not parsed; NULL takes the key, or the item, away. The mark is that
 * of the assignment that a person would write, in a file called `origin`. */
gboolean fab_yaml_doc_put (FabYamlDoc *self, const char *origin, const char *key, const FabValue *value,
                           FabDiagnostics *diagnostics);

/* Protects what the last assignment wrote: another one that would replace it by something else is a mistake from now
 * on, until `unprotect`. */
void fab_yaml_doc_protect_last (FabYamlDoc *self);
void fab_yaml_doc_unprotect (FabYamlDoc *self);

/* Returns the assignment ("a.b=c") that wrote the value of `key`, or something in it; NULL when none did. */
const char *fab_yaml_doc_assigned (const FabYamlDoc *self, const char *key);

/* Merges the files that the root's `include` names (one, or a list; relative to the file that names them) under the
 * document, and removes the key. Mappings are merged, and the document's own values win. A mapping of another `kind`,
 * a scalar and a list replace what the file had; but the lists of the root are joined, and an entry replaces one of
 * the same `name`. Of two files, the later wins. `keys` (NULL-ended; NULL: any) are those that a root may have: of a
 * file that has others, or is no YAML, no text is shown, because whoever wrote the name need not be the one who may
 * read the file. FALSE: diagnostics were added. */
gboolean fab_yaml_doc_include (FabYamlDoc *self, const char *const *keys, FabDiagnostics *diagnostics);

/* Appends the paths (char *) of the files that were read into the document. */
void fab_yaml_doc_list_files (const FabYamlDoc *self, GPtrArray *paths);

/* Returns the tree as text. (transfer full) */
char *fab_yaml_node_text (const FabYamlNode *node);

/* Writes YAML in block style: begin the root, write keys and values in turn, end the root. `scalar` writes numbers,
 * units and words, and quotes only what would break or read as null. `text` also quotes what other YAML readers take
 * for a truth value, a number or a date. */
typedef struct _FabYamlWriter FabYamlWriter;
FabYamlWriter *fab_yaml_writer_new (void);
void fab_yaml_writer_key (FabYamlWriter *self, const char *key);
void fab_yaml_writer_scalar (FabYamlWriter *self, const char *text);
void fab_yaml_writer_text (FabYamlWriter *self, const char *text);
/* A comment behind the scalar that was written last. */
void fab_yaml_writer_comment (FabYamlWriter *self, const char *text);
void fab_yaml_writer_begin (FabYamlWriter *self, FabYamlKind kind);
void fab_yaml_writer_end (FabYamlWriter *self);
char *fab_yaml_writer_finish (FabYamlWriter *self); /* frees the writer; (transfer full) */

/* The text from which YAML is read, and positions in it: private to yaml_*.c.
 *
 * A source is a file or one --set assignment. Marks point into its copy of the text, so it lives as long as the
 * document. Lines end at LF, CRLF or CR; columns count characters.
 */
typedef struct {
  char *file;
  char *data; /* without byte order mark, NUL-terminated */
  gsize size;
  GArray *lines;         /* gsize: start of each line */
  gboolean is_inline;    /* an assignment: its marks have line 0 */
  gboolean is_protected; /* what it wrote must not be undone */
} FabYamlSource;

FabYamlSource *fab_yaml_source_new (const char *file, const char *data, gsize size);

/* Reads a file, cut off after the size that fab_yaml_source_check allows; NULL and *error when it cannot be read.
 * `is_regular`: a text names it, so it must be a regular file, because no pipe or device may be waited for. */
FabYamlSource *fab_yaml_source_load (const char *path, gboolean is_regular, GError **error);

/* Returns `path` as the text at `mark` means it: relative to that text's file, or to the working directory when it
 * has no file. (transfer full) */
char *fab_yaml_source_beside (const FabMark *mark, const char *path);

/* Returns FALSE and adds a diagnostic when this cannot be YAML text (size, encoding, NUL, unusual line ends). */
gboolean fab_yaml_source_check (const FabYamlSource *self, FabDiagnostics *diagnostics);
FabMark fab_yaml_source_mark_at (const FabYamlSource *self, gsize offset);

/* Builds the node tree of a document: private to yaml_*.c.
 *
 * The document owns its nodes and its sources (the file and every --set) and frees them with itself. A copy shares
 * the nodes of the document that it was made from, keeps that document alive, and copies a node before it changes it.
 */
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
  gboolean keeps_all;  /* a key that is written twice is no mistake */
};

FabYamlDoc *fab_yaml_tree_new (void);

/* NULL when the document is full. */
FabYamlNode *fab_yaml_tree_node (FabYamlDoc *doc, FabYamlKind kind, const FabMark *mark);
FabYamlNode *fab_yaml_tree_scalar (FabYamlDoc *doc, const char *text, const FabMark *mark);

/* Returns the node in `slot` as one that the document may change. A node of another document is replaced in the
 * slot by a copy; the slot itself belongs to this document. NULL when the document is full. */
FabYamlNode *fab_yaml_tree_own (FabYamlDoc *doc, FabYamlNode **slot);

/* Does the same for the whole tree. FALSE when the document is full. */
gboolean fab_yaml_tree_own_all (FabYamlDoc *doc);

/* `key` is NULL for a sequence; in a mapping it must be new. */
void fab_yaml_tree_append (FabYamlNode *parent, FabYamlNode *key, FabYamlNode *value);
/* Takes a value, and its key, out of a mapping or a sequence, and returns the value. */
FabYamlNode *fab_yaml_tree_remove (FabYamlNode *parent, guint index);

/* Reads the YAML behind `offset` of a source. NULL: a diagnostic was added. An empty text is a null scalar. */
FabYamlNode *fab_yaml_tree_read (FabYamlDoc *doc, const FabYamlSource *source, gsize offset,
                                 FabDiagnostics *diagnostics);

/* Reads a whole source, which the document takes over. An empty text is an empty mapping. */
FabYamlNode *fab_yaml_tree_add (FabYamlDoc *doc, FabYamlSource *source, FabDiagnostics *diagnostics);
