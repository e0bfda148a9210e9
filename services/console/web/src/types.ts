// The messages of proto/tapedeck/v1 that the page speaks, as protobuf's JSON has them: 64-bit integers, times and durations are
// texts, bytes are base64, and what the node leaves out is absent.

export type Int64 = string;
export type Time = string; // 2026-01-31T12:00:00.5Z
export type Span = string; // 1.5s

export interface ConsoleInfo {
  node: string;
  version: string;
  identity: string;
  workers: string[];
  listen?: string;
}

export interface Lun {
  name: string;
  uid: string;
  store: string;
  members?: string[];
  capacityBytes: Int64;
  usedBytes: Int64;
  recordings: Int64;
  createTime?: Time;
  fullPolicy: string;
  maxAge?: Span;
  maxFillPercent: number;
  state: string;
  cause: string;
  prewriteFiles: number;
  prewriteBytes: Int64;
  copies: number;
  description: string;
  labels?: Record<string, string>;
}

export interface Channel {
  name: string;
  blockBytes: Int64;
  datatype: string;
  sampleRate: number;
  transferOp: string;
  commitLevel: string;
  createTime?: Time;
  preTrigger?: Span;
  postTrigger?: Span;
  segmentBytes: Int64;
  moveTo: string;
  moveAfter?: Span;
  moveRateBytesPerSecond: Int64;
  description: string;
  labels?: Record<string, string>;
}

export interface Annotation {
  sampleStart: Int64;
  sampleCount: Int64;
  label: string;
  comment: string;
}

export interface OriginStage {
  name: string;
  parameters?: Record<string, string>;
}

// How a recording was made.
export interface Origin {
  source?: OriginStage;
  transforms?: OriginStage[];
  datatype: string;
  device: string;
  worker: string;
  version: string;
  beside: string;
}

export interface Recording {
  name: string;
  uid: string;
  state: string;
  blocks: Int64;
  bytes: Int64;
  missingBlocks: Int64;
  durableWatermark: Int64;
  blockBytes: Int64;
  datatype: string;
  sampleRate: number;
  commitLevel: string;
  openTime?: Time;
  startTime?: Time; // of its first sample; absent: unknown
  endTime?: Time;
  cause: string;
  labels?: Record<string, string>;
  annotations?: Annotation[];
  kept: boolean;
  stream: string;
  segment: Int64;
  description: string;
  origin?: Origin;
  group?: { id: string; name: string; number: number; members: number };
  part?: { number: number; parts: number; copies: number; whole: string };
  original: string;
}

export interface DamagedBlock {
  sequence: Int64;
  kind: string;
  detail: string;
}

export interface VerifyProgress {
  checkedBlocks: Int64;
  blocks: Int64;
  damaged?: DamagedBlock[];
}

export interface Scrub {
  parent: string;
  state: string;
  recording: string;
  recordings: Int64;
  blocks: Int64;
  damaged: Int64;
  repaired: Int64;
  findings?: { recording: string; block: DamagedBlock; repaired: boolean }[];
  cause: string;
}

export interface Rail {
  name: string;
  transport: string;
  address: string;
  port: number;
  device: string;
  wireLimitBytesPerS: Int64;
  tls?: boolean;
}

export interface NodeInfo {
  name: string;
  role: string;
  version: string;
  rails?: Rail[];
  memory?: { device: string; description: string; status: string }[];
  sessions: number;
  stages?: string[];
  stores?: { name: string; description: string }[];
}

export interface RailProgress {
  name: string;
  blocks: Int64;
  bytes: Int64;
  up: boolean;
  cause: string;
}

export interface Counters {
  crcErrors: Int64;
  retransmittedBlocks: Int64;
  duplicateBlocks: Int64;
  resumes: Int64;
}

export interface Stats {
  sessions: number;
  bytes: Int64;
  blocks: Int64;
  counters?: Counters;
  ringBytes: Int64;
  rails?: RailProgress[];
}

export interface Stage {
  name: string;
  parameters?: Record<string, { text: string }>;
}

export interface Job {
  name: string;
  direction: string;
  state: string;
  recording: string;
  device: string;
  blocks: Int64;
  bytes: Int64;
  totalBlocks?: Int64;
  progress?: number;
  elapsed?: Span;
  mbPerS: number;
  lostBlocks: Int64;
  counters?: Counters;
  rails?: { name: string; blocks: Int64; mbPerS: number; up: boolean; cause: string }[];
  error?: { code: number; message: string };
  startTime?: Time;
  endTime?: Time;
  notes?: string[]; // the texts of codedNotes, or all there is of a worker without codes
  codedNotes?: Note[];
  captures?: string[];
}

// A name of NoteCode, the same for people, and what it names.
export interface Note {
  code: string;
  text: string;
  facts: { [key: string]: string };
}

export interface Finding {
  code: string;
  severity: string;
  what: string;
  why: string;
  fix: string;
}

export interface SampleRun {
  firstSample: Int64;
  sampleCount: Int64;
}
