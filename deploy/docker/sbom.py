#!/usr/bin/python3
"""sbom.py ROOT NAME VERSION SECONDS: what Debian packages an image's root holds, as dpkg lists them, as SPDX 2.3 JSON on stdout.
SECONDS since 1970 is when it was made, so that the same image has the same list. Licences are those that the packages' copyright
files name in a form that a program can read; of the others it says NOASSERTION."""
import datetime
import hashlib
import json
import pathlib
import re
import sys


def paragraphs(text):
    """The fields of each package in dpkg's status file; of those with several lines the first."""
    for paragraph in text.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", paragraph, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed"):
            yield fields


def licences(root, package):
    """The names of licences in a copyright file of Debian's format, each once."""
    file = root / "usr/share/doc" / package / "copyright"
    if not file.is_file():
        return []
    text = file.read_text(encoding="utf-8", errors="replace")
    if "copyright-format/1.0" not in text.split("\n\n")[0]:
        return []
    return sorted(set(re.findall(r"^License: *(\S.*)$", text, re.MULTILINE)))


def spdx_package(root, fields):
    name, version = fields["Package"], fields["Version"]
    package = {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "supplier": "Person: " + fields.get("Maintainer", "NOASSERTION"),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{name}@{version}?arch={fields['Architecture']}",
        }],
    }
    found = licences(root, name)
    if found:
        package["licenseComments"] = "Named in its copyright file: " + "; ".join(found)
    return package


def document(root, name, version, seconds):
    status = (root / "var/lib/dpkg/status").read_text(encoding="utf-8")
    packages = sorted((spdx_package(root, fields) for fields in paragraphs(status)), key=lambda package: package["name"])
    digest = hashlib.sha256(json.dumps(packages).encode()).hexdigest()
    image = {"SPDXID": "SPDXRef-image", "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
             "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
             "copyrightText": "NOASSERTION"}
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-image")]
    relations += [("SPDXRef-image", "CONTAINS", package["SPDXID"]) for package in packages]
    made = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{name}-{version}",
        "documentNamespace": f"https://tapedeck.invalid/spdx/{name}-{version}-{digest}",
        "creationInfo": {"created": made, "creators": ["Tool: tapedeck-sbom"]},
        "packages": [image, *packages],
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in relations],
    }


if __name__ == "__main__":
    print(json.dumps(document(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])), indent=1))
