// What can be set of a channel, as services/model/channel.h lists it.
export interface Setting {
  name: string; // in messages; a span has NAME_s there
  option: string; // of tapectl
  kind: 'text' | 'number' | 'bytes' | 'span' | 'labels';
  words: string[]; // that it may be; none: it is no enum
  help: string;
  initial: string;
  zero: string; // what it means to give nothing
}

export const CHANNEL_SETTINGS: Setting[] = [
  // The settings, made by proto/page_types.py.
  {"name": "block_bytes", "option": "block-bytes", "kind": "bytes", "words": [], "help": "Payload per block, 64KiB to 8MiB", "initial": "1MiB", "zero": ""},
  {"name": "datatype", "option": "datatype", "kind": "text", "words": [], "help": "SigMF datatype, e.g. ci16_le", "initial": "cf32_le", "zero": ""},
  {"name": "sample_rate", "option": "sample-rate", "kind": "number", "words": [], "help": "Samples per second, e.g. 1e9", "initial": "", "zero": "unknown"},
  {"name": "transfer_op", "option": "transfer-op", "kind": "text", "words": ["READ", "WRITE", "SEND"], "help": "READ, WRITE or SEND", "initial": "", "zero": "READ to record, WRITE to play"},
  {"name": "commit_level", "option": "commit", "kind": "text", "words": ["received", "written", "durable"], "help": "received, written or durable", "initial": "durable", "zero": ""},
  {"name": "pre_trigger", "option": "pre-trigger", "kind": "span", "words": [], "help": "Time to keep before a trigger, e.g. 2s; in memory with --commit received, otherwise in the segments of a ring LUN", "initial": "", "zero": "nothing"},
  {"name": "post_trigger", "option": "post-trigger", "kind": "span", "words": [], "help": "Time to keep after a trigger, e.g. 2s", "initial": "", "zero": "nothing"},
  {"name": "segment_bytes", "option": "segment", "kind": "bytes", "words": [], "help": "Start a new segment after this much payload, e.g. 10GiB", "initial": "", "zero": "never, in a ring LUN after 1/64 of it"},
  {"name": "move_after", "option": "after", "kind": "span", "words": [], "help": "With --move-to: delay after the end of a recording, e.g. 1h", "initial": "", "zero": ""},
  {"name": "move_to", "option": "move-to", "kind": "text", "words": [], "help": "Move recordings to this LUN of the node, --after their end; \"\": never", "initial": "", "zero": ""},
  {"name": "move_rate_bytes_per_second", "option": "move-rate", "kind": "bytes", "words": [], "help": "With --move-to: limit in bytes per second, e.g. 200MB", "initial": "", "zero": "100 MB"},
  {"name": "description", "option": "description", "kind": "text", "words": [], "help": "Description for people", "initial": "", "zero": ""},
  {"name": "labels", "option": "label", "kind": "labels", "words": [], "help": "NAME=VALUE, for programs; repeat it for several", "initial": "", "zero": "no labels"},
  // The end of what proto/page_types.py makes.
];
