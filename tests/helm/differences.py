#!/usr/bin/python3
"""What a set of values makes other than the golden set that it is most like: differences.py DIRECTORY [--update].

differences.table has a part for each set without a golden file, "[SET like GOLDEN]", and a line for each thing that is not as
there: "PLACE = VALUE", "PLACE gone", or "KIND NAME gone" of a whole object. Nothing else may differ, in either way. A place is
KIND NAME/KEY/...; a thing in a list has its name, an argument of a program its option. --update writes the table anew."""
import pathlib
import sys

import policy

HERE = pathlib.Path(__file__).parent
TABLE = HERE / "differences.table"
NAMES = ("name", "mountPath", "devicePath", "secretName", "request", "port")
ABOUT = "# Written by render.sh --update; differences.py says what a line means.\n"


def name_of(thing, number):
    """By which a thing in a list is known, whatever its place."""
    if isinstance(thing, dict):
        return next((str(thing[key]) for key in NAMES if isinstance(thing.get(key), (str, int))), str(number))
    return str(number)


def arguments(words):
    """(option, value) of a command line."""
    pairs = []
    for word in words:
        if pairs and pairs[-1][1] is None and not word.startswith("--"):
            pairs[-1] = (pairs[-1][0], word)
        else:
            pairs.append((word, None))
    return pairs


def unique(names):
    """The names, of equal ones the second with #2."""
    seen = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}#{seen[name]}"


def flat(value, place, out):
    """Adds {place: text} of everything in it."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            flat(inner, f"{place}/{key}", out)
    elif isinstance(value, list) and value and place.endswith(("/args", "/command")):
        pairs = arguments(value)
        for name, (_, said) in zip(unique(option for option, _ in pairs), pairs):
            out[f"{place}/{name}"] = "set" if said is None else repr(said)
    elif isinstance(value, list) and value:
        names = list(unique(name_of(thing, i) for i, thing in enumerate(value)))
        if names != [str(i) for i in range(len(names))]:
            out[f"{place}/order"] = " ".join(names)
        for name, thing in zip(names, value):
            if isinstance(thing, dict) and len(thing) > 1:  # its name stands in its place
                thing = {key: inner for key, inner in thing.items() if key not in NAMES or str(inner) != name.split("#")[0]}
            flat(thing, f"{place}/{name}", out)
    else:
        out[place] = repr(value)


def places(path):
    """{object: {place: text}} of a file."""
    found = {}
    for each in policy.load(path):
        head = f"{each['kind']} {each['metadata']['name']}"
        if head.endswith("-dashboard"):  # long; rules.sh looks at it
            each = {**each, "data": sorted(each["data"])}
        flat(each, head, found.setdefault(head, {}))
    return found


def gone(was, now):
    """The places that are there no more, of a thing that is gone as a whole its own alone."""
    left = {place[:i] for place in now for i in range(len(place) + 1) if i == len(place) or place[i] == "/"}
    return {next(place[:i] for i in range(1, len(place) + 1) if (i == len(place) or place[i] == "/") and place[:i] not in left)
            for place in was if place not in now and place not in left}


def differences(golden, made):
    """The lines of the table."""
    lines = [f"{head} gone" for head in golden if head not in made]
    for head, now in made.items():
        was = golden.get(head, {})
        lines += [f"{place} = {text}" for place, text in now.items() if was.get(place) != text]
        lines += [f"{place} gone" for place in gone(was, now)]
    return sorted(lines)


def parts(text):
    """{(set, golden): lines} of the table."""
    found = {}
    for line in text.splitlines():
        if line.startswith("["):
            name, golden = line.strip("[]").split(" like ")
            lines = found.setdefault((name, golden), [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return found


def nearest(made, goldens):
    return min(goldens, key=lambda name: (len(differences(goldens[name], made)), name))


def update(sets, goldens):
    text = ABOUT
    for name, made in sets.items():
        if name not in goldens:
            golden = nearest(made, goldens)
            text += "\n".join(["", f"[{name} like {golden}]", *differences(goldens[golden], made), ""])
    TABLE.write_text(text, encoding="utf-8")


def check(sets, goldens, table):
    """What is not as the table says."""
    told = {name for name, _ in table}
    yield from (f"golden/{name}.yaml is of no set" for name in goldens if name not in sets)
    yield from (f"{name} is in neither golden/ nor differences.table" for name in sets if name not in told and name not in goldens)
    for (name, golden), lines in table.items():
        if name not in sets or golden not in goldens:
            yield f"[{name} like {golden}]: there is no such set"
            continue
        found = differences(goldens[golden], sets[name])
        yield from (f"{name}: not so: {line}" for line in lines if line not in found)
        yield from (f"{name}: unlike {golden}, which the table does not say: {line}" for line in found if line not in lines)


def main(directory):
    sets = {path.stem: places(path) for path in sorted(pathlib.Path(directory).glob("*.yaml"))}
    goldens = {path.stem: sets.get(path.stem, {}) for path in sorted((HERE / "golden").glob("*.yaml"))}
    if "--update" in sys.argv:
        update(sets, goldens)
    table = parts(TABLE.read_text(encoding="utf-8"))
    found = list(check(sets, goldens, table))
    print("\n".join(found) or f"{len(table)} sets have {sum(map(len, table.values()))} differences from {len(goldens)} golden ones")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main(sys.argv[1])
