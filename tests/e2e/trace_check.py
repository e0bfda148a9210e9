#!/usr/bin/python3
"""Reads a timeline by Perfetto's published field numbers alone, and checks that every block's stamps of both nodes come in
the order of cause and effect.
  trace_check.py FILE record|play BLOCKS UNCERTAINTY_NS OP"""
import collections
import sys

from message_fields import fields

# Of each block, in the order in which they happen; "?": on another node than the one before.
RECORD = {"READ": "worker: made computed ready given rail; storage: asked arrived checked store written durable told; worker: acknowledged",
          "WRITE": "worker: made computed ready given rail taken; storage: arrived checked store written durable told; "
                   "worker: acknowledged"}
PLAY = {"WRITE": "storage: fetch fetched given rail taken; worker: arrived checked consume computed consumed told; "
                 "storage: acknowledged",
        "READ": "storage: fetch fetched given rail; worker: asked arrived checked consume computed consumed told; "
                "storage: acknowledged"}
SLICES = {"record": {"compute", "send", "write", "hold", "flush"}, "play": {"fetch", "send", "compute", "hold"}}
WATERMARKS = ("durable", "told")


def message(data):
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def text(found, number):
    return found[number][0].decode() if found[number] else ""


def number(found, key, default=0):
    return found[key][0] if found[key] else default


class Timeline:
    def __init__(self, data):
        self.tracks, self.instants, self.slices, self.counters = {}, [], [], collections.defaultdict(list)
        open_slices = collections.defaultdict(list)
        first = True
        for key, packet in fields(data):
            assert key == 1, "a file is a Trace: packets alone"
            found = message(packet)
            assert number(found, 10) == 1, "one writer"
            assert (number(found, 13) == 1) == first, "the first packet depends on none"
            first = False
            if found[60]:
                self.add_track(message(found[60][0]))
            else:
                self.add_event(number(found, 8), message(found[11][0]), open_slices)
        assert not any(open_slices.values()), "every slice ends"

    def add_track(self, found):
        parent = number(found, 5)
        track = {"name": text(found, 2), "parent": parent}
        if found[3]:
            track["node"] = text(message(found[3][0]), 6)
        else:
            track["node"] = self.tracks[parent]["node"]
        track["thread"] = text(message(found[4][0]), 5) if found[4] else ""
        self.tracks[number(found, 1)] = track

    def add_event(self, time_ns, found, open_slices):
        kind, track = number(found, 9), number(found, 11)
        place = self.tracks[track]
        notes = {}
        for note in found[4]:
            note = message(note)
            value = text(note, 6) if note[6] else number(note, 4)
            notes[text(note, 10)] = value
        event = {"time": time_ns, "name": text(found, 23), "track": place, "notes": notes, "flows": found[47]}
        if kind == 1:
            open_slices[track].append(event)
        elif kind == 2:
            event = open_slices[track].pop()
            event["end"] = time_ns
            self.slices.append(event)
        elif kind == 3:
            self.instants.append(event)
        else:
            assert kind == 4, f"event of type {kind}"
            self.counters[place["name"]].append(number(found, 30))


def steps(line):
    for part in line.split("; "):
        node, names = part.split(": ")
        for name in names.split():
            yield node, name


def node_of(event):
    return event["track"]["node"].rsplit("/", 1)[-1]


def main(path, way, blocks, uncertainty_ns, op):
    with open(path, "rb") as file:
        timeline = Timeline(file.read())
    stamps = [event for event in timeline.instants if event["track"]["thread"]]
    times, flows = collections.defaultdict(dict), collections.defaultdict(set)
    below = collections.defaultdict(list)
    for event in stamps:
        where = (node_of(event), event["name"])
        if "below" in event["notes"]:
            below[where].append((event["time"], event["notes"].get("from", 0), event["notes"]["below"]))
        else:
            times[where].setdefault(event["notes"]["block"], event["time"])
            for flow in event["flows"]:
                flows[event["notes"]["block"]].add(flow)
    finished = {node_of(event): event["time"] for event in stamps if event["name"] == "finished"}
    wrong, whole, worst = [], 0, 0
    for block in range(blocks):
        last, last_node, missing = None, None, False
        for node, name in steps((RECORD if way == "record" else PLAY)[op]):
            if name in WATERMARKS:
                at = min((time for time, first, end in below[(node, name)] if first <= block < end), default=None)
            else:
                at = times[(node, name)].get(block)
            # The last of a session may be acknowledged by its end, before or without a word on a rail.
            if name in ("told", "acknowledged") and node in finished:
                at = min(at or finished[node], finished[node])
            if at is None:
                wrong.append(f"block {block}: no stamp \"{name}\" of the {node}")
                missing = True
                break
            slack = uncertainty_ns if last_node not in (None, node) else 0
            if last is not None and at + slack < last:
                wrong.append(f"block {block}: \"{name}\" of the {node} {last - at} ns before what causes it")
            if last is not None and last_node != node:
                worst = max(worst, last - at)
            last, last_node = at, node
        whole += not missing
        if len(flows[block]) != 1:
            wrong.append(f"block {block}: arrows {flows[block]} join its stamps, not one")
    names = {event["name"] for event in timeline.slices}
    wrong += [f"no slice \"{name}\"" for name in SLICES[way] - names]
    for event in timeline.slices:
        if event["end"] < event["time"]:
            wrong.append(f"a slice ends before it begins: {event}")
    for rail in ("rail r0", "rail r1"):
        for node in ("worker", "storage"):
            expected = not (node != ("worker" if way == "record" else "storage") and op != "READ")
            if expected and not any(s["track"]["name"] == rail and node_of(s) == node for s in timeline.slices):
                wrong.append(f"nothing on the track of {rail} of the {node}")
    counters = {name.split(" ", 1)[1] for name in timeline.counters}
    for name in ("in flight on r0", "credits of r1", "ring: blocks held", "ring: blocks waiting"):
        if name not in counters:
            wrong.append(f"no counter \"{name}\" in {counters}")
    ups = [event for event in timeline.instants if event["name"] == "rail_up" and not event["track"]["thread"]]
    if {(node_of(event), event["notes"]["rail"]) for event in ups} != {(n, r) for n in ("worker", "storage") for r in ("r0", "r1")}:
        wrong.append("both rails of both nodes came up, and the incidents do not say so")
    print(f"{way} {op}: {whole} of {blocks} blocks with all their stamps, {len(stamps)} stamps; between nodes the effect is at "
          f"most {worst} ns before its cause, of {uncertainty_ns} ns uncertainty")
    for line in wrong[:10]:
        print("  " + line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]))
