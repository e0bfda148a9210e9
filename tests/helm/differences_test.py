#!/usr/bin/python3
"""Every value that a set without a golden file has is missed when it is another: differences_test.py DIRECTORY of rendered sets."""
import copy
import pathlib
import sys

import differences
import policy

# What a mistake in a template would leave of a set, as Python on its objects by kind, and the place that must be named.
FAULTS = (
    ("ceph-pair", "args = storage['args']; i = args.index('--standby-for'); del args[i:i + 2]", "--standby-for"),
    ("ceph-rook", "del storage['volumeMounts'][-1]", "volumeMounts"),
    ("cert-manager", "kinds['Certificate']['spec']['issuerRef']['name'] = 'other'", "issuerRef/name"),
    ("host-network", "del spec['hostNetwork']", "spec/hostNetwork"),
    ("job", "del kinds['Job']", "Job "),
    ("minimal", "storage['args'].remove('--insecure')", "--insecure"),
    ("shared-rdma", "del storage['resources']['limits']['hugepages-2Mi']", "hugepages-2Mi"),
    ("sriov", "storage['args'].reverse()", "args"),
    ("storage-only", "kinds['Service']['spec']['ports'].pop()", "ports"),
)


def leaves(value, path=()):
    """The way to each value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from leaves(inner, path + (key,)) if isinstance(inner, (dict, list)) and inner else [path + (key,)]


def changed(thing, path):
    """A copy with another value there."""
    other = copy.deepcopy(thing)
    place = other
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = {str: "other", bool: None, int: -7}.get(type(place[path[-1]]), "other")
    return other


def found_for(name, golden, objects, table):
    """What differs of a set that has these objects."""
    made = {}
    for each in objects:
        head = f"{each['kind']} {each['metadata']['name']}"
        differences.flat(each, head, made.setdefault(head, {}))
    return list(differences.check({name: made, **golden}, golden, table))


def try_fault(directory, golden, table, fault):
    name, change, place = fault
    objects = policy.load(directory / f"{name}.yaml")
    kinds = {each["kind"]: each for each in reversed(objects)}
    spec = kinds["StatefulSet"]["spec"]["template"]["spec"]
    exec(change, {"kinds": kinds, "spec": spec, "storage": spec["containers"][0]})  # pylint: disable=exec-used
    left = [each for each in objects if each["kind"] in kinds]
    found = found_for(name, golden, left, table)
    return [] if any(place in line for line in found) else [f"{name}, {change}: {place} is not named in {found}"]


def try_leaves(directory, golden, table, name):
    """(tried, missed): each value of the set by itself."""
    tried, missed = 0, []
    for each in policy.load(directory / f"{name}.yaml"):
        head = f"{each['kind']} {each['metadata']['name']}"
        for path in leaves(each):
            if path in (("kind",), ("metadata", "name")) or (head.endswith("-dashboard") and path[0] == "data"):
                continue
            was, now = {}, {}
            differences.flat(each, head, was)
            differences.flat(changed(each, path), head, now)
            tried += 1
            if was == now:
                missed.append(f"{name}: {head} {path}: nobody sees that it is another")
    return tried, missed


def main(directory):
    golden = {path.stem: differences.places(directory / path.name) for path in (differences.HERE / "golden").glob("*.yaml")}
    table = differences.parts(differences.TABLE.read_text(encoding="utf-8"))
    missed = []
    for fault in FAULTS:
        only = {key: lines for key, lines in table.items() if key[0] == fault[0]}
        missed += try_fault(directory, golden, only, fault) if only else [f"{fault[0]} has no part in the table"]
    missed += [f"no fault is tried of {name}" for name, _ in table if name not in {fault[0] for fault in FAULTS}]
    tried = 0
    for name, _ in table:
        count, unseen = try_leaves(directory, golden, table, name)
        tried, missed = tried + count, missed + unseen
    print("\n".join(missed) or f"{len(FAULTS)} faults and {tried} other values are found")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
