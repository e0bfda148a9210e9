#!/usr/bin/python3
"""A channel that holds its last second in memory; a trigger makes a recording of what was before it and comes after.
  record_and_trigger.py NODE WORKER LUN/CHANNEL [SAMPLE_RATE]          makes the channel"""
import sys
import time

import tapedeck


def main(node: str, worker: str, channel: str, rate: str = "1e6") -> None:
    with tapedeck.connect(node, worker=worker) as deck:
        deck.create_channel(channel, block_bytes=64 << 10, sample_rate=float(rate), commit_level="RECEIVED",
                            pre_trigger_s=0.5, post_trigger_s=0.2)
        job = deck.record(channel, "synth:seed=3", duration_s=1)
        for state in job.watch():
            if state.blocks > 20:
                break
        captures = deck.trigger(channel, label="seen")
        for capture in captures:
            print(f"{capture.recording}: samples {capture.first_sample} to {capture.end_sample}, "
                  f"triggered at {capture.trigger_sample}")
        print(f"{job.wait().blocks} blocks went by")

        recording = deck.recording(captures[0].recording)
        while not recording.refresh().info.closed:
            time.sleep(0.05)
        at = captures[0].trigger_sample - recording.first_sample
        print(f"the trigger came {recording.time_of(at)}; marks: {[note.label for note in recording.annotations]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
