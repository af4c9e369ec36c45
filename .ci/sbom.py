#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py DIR - what the files that the build directory DIR installs are made of, as SPDX 2.3 (JSON).

Each file that a build makes for users is a file of the package `fabricast`. What the linker wrote into it (NEEDED)
is matched to the libraries that meson found, whose versions meson knows. D3 is inside the program.
The same build gives the same bytes: the time is that of $SOURCE_DATE_EPOCH or of the commit.
"""
import datetime
import glob
import hashlib
import json
import os
import re
import subprocess
import sys

from introspect import introspected

# Licences that the libraries' own sources state. A library that is not here is NOASSERTION, which a reader must look up.
LICENSES = {"glib-2.0": "LGPL-2.1-or-later", "gio-2.0": "LGPL-2.1-or-later", "gmodule-no-export-2.0": "LGPL-2.1-or-later",
            "gobject-2.0": "LGPL-2.1-or-later", "json-glib-1.0": "LGPL-2.1-or-later", "libsoup-3.0": "LGPL-2.0-or-later",
            "sqlite3": "blessing", "yaml-0.1": "MIT", "zlib": "Zlib", "d3": "BSD-3-Clause", "glibc": "LGPL-2.1-or-later"}
C_LIBRARY = re.compile(r"lib(c|m|dl|pthread|rt)\.so\.\d+|ld-linux.*")


def output_of(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def dynamic(path, tag):
    return re.findall(rf"\({tag}\).*\[(.*)\]", output_of("readelf", "--dynamic", "--wide", path))


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def libraries(directory):
    """The name and the version of each library that meson found, by the name that programs need it by (SONAME)."""
    found = {}
    for dependency in introspected(directory, "--dependencies"):
        files = [word for word in dependency["link_args"] if ".so" in word and os.path.exists(word)]
        for path in files[:1]:
            for soname in dynamic(path, "SONAME"):
                found.setdefault(soname, (dependency["name"], dependency["version"]))
        for path in files[1:]:  # what comes with it, such as gobject with gio
            for soname in dynamic(path, "SONAME"):
                found.setdefault(soname, (re.sub(r"^lib|\.so.*", "", os.path.basename(path)), dependency["version"]))
    return found


def installed_files(directory):
    for source, target in sorted(introspected(directory, "--installed").items()):
        with open(source, "rb") if os.path.isfile(source) else open(os.devnull, "rb") as file:
            if file.read(4) == b"\x7fELF":
                yield source, target


def package(name, version, license_name="NOASSERTION"):
    return {"SPDXID": identifier(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": license_name, "copyrightText": "NOASSERTION"}


def created(root):
    told = os.environ.get("SOURCE_DATE_EPOCH")
    if told is None:
        done = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "log", "-1", "--format=%ct"], capture_output=True, text=True)
        told = done.stdout.strip() or "0"
    return datetime.datetime.fromtimestamp(int(told), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def document(directory):
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    version = introspected(directory, "--projectinfo")["version"]
    known, packages, files, relations = libraries(directory), {}, [], []
    glibc = output_of("getconf", "GNU_LIBC_VERSION").split()[1]

    def relate(one, kind, other):
        relations.append({"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other})

    packages["fabricast"] = package("fabricast", version, "Apache-2.0")
    own = {os.path.basename(source) for source, _ in installed_files(directory)}
    for source, target in installed_files(directory):
        with open(source, "rb") as file:
            content = file.read()
        name = identifier("file" + target)
        files.append({"SPDXID": name, "fileName": "." + target, "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION",
                      "checksums": [{"algorithm": one.upper(), "checksumValue": hashlib.new(one, content).hexdigest()}
                                    for one in ("sha1", "sha256")]})
        relate(identifier("fabricast"), "CONTAINS", name)
        for needed in dynamic(source, "NEEDED"):
            if any(needed == file or file.startswith(needed + ".") for file in own):
                continue
            library, found = ("glibc", glibc) if C_LIBRARY.fullmatch(needed) else known.get(needed, (needed, "NOASSERTION"))
            packages.setdefault(library, package(library, found, LICENSES.get(library, "NOASSERTION")))
            relate(name, "DYNAMIC_LINK", identifier(library))
        inside = re.search(rb"// https://d3js\.org v([0-9.]+) Copyright", content)
        if inside:
            packages.setdefault("d3", package("d3", inside.group(1).decode(), LICENSES["d3"]))
            relate(name, "CONTAINS", identifier("d3"))
    relate("SPDXRef-DOCUMENT", "DESCRIBES", identifier("fabricast"))
    relations = [json.loads(text) for text in sorted({json.dumps(relation, sort_keys=True) for relation in relations})]
    content = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"fabricast-{version}",
               "creationInfo": {"created": created(root), "creators": ["Tool: .ci/sbom.py"]},
               "packages": [packages[name] for name in sorted(packages)], "files": files, "relationships": relations}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return {**content, "documentNamespace": f"urn:fabricast:sbom:{version}:{digest}"}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(json.dumps(document(sys.argv[1]), indent=2, sort_keys=True))
