#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sentences.py: every sentence has a verb (docs/reference/style.md): in strings of C, on pages, and in the heads, summaries
and notes of scenarios and of the catalogue.

These are labels and need no verb: headings, tables, `Label: list`, texts of fewer than four words or without a full stop,
lists of sources, and the first sentence of a head, of a summary, of a list item or of an initialiser in C (the description
of a key). A note whose key ends in `_note` explains a number or a word, so it is sentences with a full stop.

A word counts as a verb by the lists below. A word that is a noun as well (`links`, `cost`) counts by its neighbours: where it
begins the sentence, or ends it behind a subject, before a word such as `the` or after a word such as `they`. So this finds
sentences that have no word for what happens; it does not prove that a sentence is one."""
import re

from csource import files, read, report, without_comments
from prose import values

def words(text):
    return set(text.split())


# Always verbs: auxiliaries, forms of the past, and third persons of words that are something else in the plural or the base.
FINITE = words("""
    is are was were be has have had do does did can cannot may might must shall should will would let let's that's there's
    it's isn't aren't don't doesn't can't couldn't won't became began came chose differed drew fell found gave got grew held
    kept knew led left lost made mattered met paid ran rose said saw sent showed spoke stood took told went won wrote acts
    answers clears closes corrects covers draws feeds fits helps leads lies lowers lasts matters means misses need needs
    opens owns places receives runs separates show shows sorts support supports times tries uses waits wins works
    """)
# Verbs that are hardly ever anything else in these texts. The base and the third person count.
VERBS = words("""
    accept achieve add adjust affect agree allow appear apply argue arrive ask assign assume attach attend avoid
    become begin behave believe belong bind bring build buy calculate carry catch choose collide combine come
    communicate compare compete compute confirm connect consist contain continue converge create decay decide declare
    define deliver depend derive describe determine die differ disagree disappear divide do dominate earn embed emit
    enable ensure exclude execute exist expand expect explain explore express extend fall fill find finish follow
    forget gather get give go govern grow happen have hear hide hold ignore imply improve include indicate insist
    install interrupt join keep kill know lack learn leave let look lose maintain make meet mention minimise move
    multiply notify obey observe obtain occupy occur overload override overtake perform precede predict prefer
    prefetch prepare prevent prove provide publish put qualify quote reach receive recognise recommend refer refuse
    reject rely remain remember remove repeat replace represent require resemble resolve respect rewrite say see seem
    select sell send serve settle ship shorten shrink simulate sit skip solve speak spend spray stay subtract succeed
    suffice suggest suit suppose survive take tell tend think travel treat understand vary warn win write yield zoom
    """)
# Nouns or adjectives as well.
EITHER = words("""
    account act answer bear book bound break buffer call cap cause change charge check claim clear close command copy
    cost count cover cross cut decline default delay double draw drive drop end equal estimate exceed exchange fail
    feed figure fit flow force form forward gain group guess halve hand help import increase issue judge launch lead
    lie limit link list load lower map mark match matter mean measure mind miss model name need offer open order
    overlap own pair pay pick place plan play point post price print process produce promise queue raise range rank
    rate read record reduce relay release report request reserve rest result return rise round route rule run sample
    save scale search separate set share show size slow sort sound split spread stage stand start state step stop
    store sum support test tie time touch trace track train transfer transport trust try turn type update use
    value visit wait want watch weigh work
    """)
BEFORE = words("""
    i we you they it he she who which that what to not and or then never always also only still both neither there usually
    often
    """)
AFTER = words("""
    a an the its their his her your our this these those each every all any both no none one two three four half another
    other others before after only not never always also it them him us you itself themselves by from to as at for in into
    on over under up out off down with without through between among until when where how what whether which who if because
    so too more less most least fewer larger smaller equal much many few several about twice once again together alone here
    then now first last zero nothing anything everything something random
    """)
NOUNS_FOLLOW = words("of a an the its their no per with by in for and or from to on at two three other each all one more less than")

HELP = re.compile(r"[<>{}\\|=]|\b(?:SELECT|CREATE|VIEW)\b")
STRINGS = re.compile(r'(?:"(?:\\.|[^"\\\n])*"\s*)+')
SENTENCES = re.compile(r"(?<=[.?!])(?<! al\.)(?<!\b[A-Z]\.)\s+(?=[A-Z`(*\"'%])")
# The pages of docs/reference that programs write say what C says.
AS_IS = ("docs/reference/style.md", "docs/reference/api.md", "docs/reference/bench.md", "docs/reference/glossary.md",
         "docs/reference/validation", ".ci/", "tests/", "validate/measured/", "validate/variants/")


def third(verb):
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", verb) else verb + "s"


SURE = FINITE | VERBS | {third(verb) for verb in VERBS}
MAYBE = EITHER | {third(verb) for verb in EITHER}


def has_verb(sentence):
    said = [word.lower() for word in re.findall(r"[A-Za-z][A-Za-z']*|[0-9][0-9.,]*|%\S*|`[^`]*`", sentence)]
    for word, before, after in zip(said, ["", *said], [*said[1:], ""]):
        is_between = not before or before in BEFORE or after in AFTER or re.match(r"[0-9%`]", after)
        is_last = not after and before not in NOUNS_FOLLOW | EITHER and word.endswith("s") != before.endswith("s")
        if word in SURE or (word in MAYBE and (is_between or is_last)):
            return True
    return " = " in sentence  # an equation


def verbless(text, begins_with_label=False):
    """The sentences of a text that have no verb."""
    for i, sentence in enumerate(SENTENCES.split(text)):
        is_label = i == 0 and begins_with_label or re.match(r"\*\*|[(]?[A-Z][\w' -]{0,40}:", sentence)
        ends = re.search(r"[A-Za-z0-9%`)\]][.!?][)*\"']*$", sentence) and re.match(r"[*(\"']*[A-Z]", sentence)
        if ends and not is_label and len(sentence.split()) >= 4 and not has_verb(sentence):
            yield sentence


def is_initialiser(before):
    """Whether what follows stands outside functions: the layout has their braces in the first column."""
    return before.rfind("\n{\n") <= before.rfind("\n}")


def strings(path):
    """(line, text, whether it is an initialiser) of what may be sentences in a C file."""
    text = without_comments(path)
    for match in STRINGS.finditer(text):
        joined = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', match.group(0)))
        for i, paragraph in enumerate(re.split(r"(?:\\n)+", joined)):
            if not HELP.search(paragraph) and ". " in paragraph + " ":
                yield text.count("\n", 0, match.start()) + 1, paragraph, is_initialiser(text[:match.start()])


def paragraphs(text):
    """(line, text, whether it begins with a label) of what stands in sentences on a page."""
    text = re.sub(r"^```.*?^```", lambda block: "\n" * block.group().count("\n"), text, flags=re.M | re.S)
    part, lines, start, is_item = "", [], 0, False
    for number, line in enumerate(text.split("\n") + [""], 1):
        item = re.match(r" *(?:- |\d+\. )", line)
        if item or not line.strip() or re.match(r"#|\||    ", line):
            if lines and "source" not in part.lower():
                said = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(" ".join(lines).split()))
                yield start, said, is_item
            lines, is_item = [], bool(item)
            part = line if line.startswith("#") else part
            line = line[item.end():] if item else ""
        if line.strip():
            start = start if lines else number
            lines.append(line)


def head(text):
    """(line, text, whether it begins with a label) of the paragraphs of the comment at the top of a scenario."""
    comment = re.match(r"(?:#.*\n)*", text).group(0)
    page = re.sub(r"^#(?: (?:simulator|derived|measured):.*| ?)", "", comment, flags=re.M)
    return ((line, said, line == 1 or is_item) for line, said, is_item in paragraphs(page))


def catalogue(text):
    """(line, text, whether it begins with a label) of the head, summaries and notes of a scenario or of the catalogue."""
    yield from head(text)
    for line, key, said in values(text):
        yield line, said, not key.endswith("_note")


def unfinished(text):
    """(line, text) of the notes that explain something and are not sentences."""
    return [(line, said) for line, key, said in values(text)
            if key.endswith("_note") and not re.fullmatch(r"[A-Z].*\.", said)]


# What the lists above must and must not find.
WITH_A_VERB = """The step waits for the network. A ring costs less than a tree. Links carry bytes in both directions.
    Write the rate of the port. On AMD accelerators RCCL runs. It took no more time. Ranks share the links of a leaf."""
WITHOUT = """Switches without a port count. The rates of links and the costs of end points. Nothing above 100 Mb/s and no GPU.
    A leaf with all its NICs in one plane. Half of the rate of the whole node."""

problems = [f".ci/sentences.py: finds no verb in its example: {said}" for said in verbless(WITH_A_VERB)]
if len(list(verbless(WITHOUT))) != len(SENTENCES.split(WITHOUT)):
    problems.append(".ci/sentences.py: finds a verb in an example that has none")
for path in files("*.c", "*.h", "*.md", "*.yaml"):
    if not path.startswith(AS_IS):
        is_yaml = path.endswith(".yaml")
        texts = strings(path) if path.endswith((".c", ".h")) else (catalogue if is_yaml else paragraphs)(read(path))
        problems += [f"{path}:{line}: not a sentence: {said}" for line, said in (unfinished(read(path)) if is_yaml else ())]
        problems += [f"{path}:{line}: no verb: {sentence}"
                     for line, text, is_labelled in texts for sentence in verbless(text, is_labelled)]
report(problems)
