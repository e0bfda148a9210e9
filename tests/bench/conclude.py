#!/usr/bin/python3
"""Ends a bench: reads its line of JSON, prints it with what became of its promises, and writes it into README.md.

  conclude.py [--check] [--record] [--disk DIRECTORY] PROMISE... <RESULT

A promise is "KEY >= NUMBER" or "KEY <= NUMBER" of a figure's or ratio's median. --check: exit status 1 if one is missed.
--record: the figures go between the bench's marks in README.md, with the day and the machine.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
PAGE, CAUSES = HERE / "README.md", HERE / "causes.json"
PROMISE = re.compile(r"([a-z0-9_.]+) (>=|<=) ([0-9.]+)$")


def value_of(result, key):
    """The figure's own value, its median, or a part of it that the key names."""
    name, _, part = key.partition(".")
    found = {**result.get("ratios", {}), **result.get("figures", {})}[name]
    return found[part or "median"] if isinstance(found, dict) else found


def judge(result, text):
    key, relation, bound = PROMISE.match(text).groups()
    value = value_of(result, key)
    kept = value >= float(bound) if relation == ">=" else value <= float(bound)
    return {"promise": text, "value": value, "kept": kept}


def disk_of(directory):
    """What kind of disk a directory lies on, in words."""
    device = os.stat(directory).st_dev
    link = pathlib.Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if not link.exists():
        return "files in memory or a network"
    place = link.resolve()
    disk = place.parent if (place / "partition").exists() else place
    if disk.name.startswith("vd"):
        return "a virtual disk"
    if disk.name.startswith("nvme"):
        return "an NVMe drive"
    rotates = (disk / "queue/rotational").read_text().strip() == "1" if (disk / "queue/rotational").exists() else False
    return "a hard disk" if rotates else "a solid-state disk"


def machine_of(machine, disk):
    kernel = re.match(r"\d+\.\d+", machine["kernel"]).group(0)
    return (f"{machine['cores']} cores, Linux {kernel}, {machine['memory_bytes'] / 1e9:.0f} GB of memory, {disk}, "
            f"load {machine['load']} at the end")


def unknown_cause(machine):
    """A bench keeps some threads for each core busy by itself; beyond that others have had a part."""
    if machine["load"] <= 4 * machine["cores"]:
        return "cause not known"
    return f"not told from other programs' part of the machine (load {machine['load']} on {machine['cores']} cores)"


def number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def rows_of(figures):
    for name, value in figures.items():
        if isinstance(value, dict) and "median" in value:
            yield f"| {name} | {number(value['median'])} | {number(value['min'])} | {number(value['max'])} |"
        elif isinstance(value, dict):
            for part, each in value.items():
                yield f"| {name}, {part} | {number(each)} | | |"
        else:
            yield f"| {name} | {number(value)} | | |"


def block_of(result, disk):
    today = datetime.datetime.now(datetime.timezone.utc).date()
    device = f", device {result['device']}" if "device" in result else ""
    where = f"Last run: {today}, {machine_of(result['machine'], disk)}{device}."
    lines = [textwrap.fill(where, 120), "",
             "| figure | median | least | most |", "|---|---|---|---|"]
    for part in ("ratios", "figures", "peers"):
        lines += rows_of(result.get(part, {}))
    if result["promises"]:
        lines += ["", "| promise | value | |", "|---|---|---|"]
    causes = json.loads(CAUSES.read_text()).get(result["bench"], {})
    unknown = unknown_cause(result["machine"])
    for each in result["promises"]:
        key = each["promise"].split(" ")[0]
        said = "kept" if each["kept"] else f"**missed**: {causes.get(key, unknown)}"
        lines.append(f"| {each['promise']} | {number(each['value'])} | {said} |")
    return "\n".join(lines)


def record(result, disk):
    begin, end = f"<!-- {result['bench']} -->", f"<!-- end of {result['bench']} -->"
    page = PAGE.read_text()
    if begin not in page or end not in page:
        sys.exit(f"conclude.py: {PAGE} has no place for {result['bench']}: a line {begin} and a line {end}")
    before, rest = page.split(begin, 1)
    after = rest.split(end, 1)[1]
    PAGE.write_text(f"{before}{begin}\n{block_of(result, disk)}\n{end}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--disk", default=".")
    parser.add_argument("promises", nargs="*")
    options = parser.parse_args()
    result = json.load(sys.stdin)
    result["promises"] = [judge(result, text) for text in options.promises]
    print(json.dumps(result, separators=(",", ":")))
    if options.record:
        record(result, disk_of(options.disk))
    missed = [each["promise"] for each in result["promises"] if not each["kept"]]
    if options.check and missed:
        sys.exit(f"bench: missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
