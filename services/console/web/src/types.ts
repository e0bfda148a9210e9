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

// The messages, made by proto/page_types.py.

export interface Lun {
  name: string;
  uid: string;
  store: string;
  members?: string[];
  capacityBytes: Int64;
  usedBytes: Int64;
  recordings: Int64;
  createTime?: Time;
  fullPolicy: FullPolicy;
  maxAge?: Span;
  maxFillPercent: number;
  state: LunState;
  cause: string;
  prewriteFiles: number;
  prewriteBytes: Int64;
  description: string;
  labels?: Record<string, string>;
  copies: number;
}

export type FullPolicy = 'FULL_POLICY_UNSPECIFIED' | 'FULL_POLICY_STOP' | 'FULL_POLICY_RING';

export type LunState = 'LUN_STATE_UNSPECIFIED' | 'LUN_STATE_READY' | 'LUN_STATE_OFFLINE' | 'LUN_STATE_DEGRADED' | 'LUN_STATE_STANDBY';

export interface Channel {
  name: string;
  blockBytes: Int64;
  datatype: string;
  sampleRate: number;
  transferOp: TransferOp;
  commitLevel: CommitLevel;
  createTime?: Time;
  preTrigger?: Span;
  postTrigger?: Span;
  segmentBytes: Int64;
  description: string;
  labels?: Record<string, string>;
  moveTo: string;
  moveAfter?: Span;
  moveRateBytesPerSecond: Int64;
}

export type TransferOp = 'TRANSFER_OP_UNSPECIFIED' | 'TRANSFER_OP_READ' | 'TRANSFER_OP_WRITE' | 'TRANSFER_OP_SEND';

export type CommitLevel = 'COMMIT_LEVEL_UNSPECIFIED' | 'COMMIT_LEVEL_RECEIVED' | 'COMMIT_LEVEL_WRITTEN' | 'COMMIT_LEVEL_DURABLE';

export interface Recording {
  name: string;
  uid: string;
  state: RecordingState;
  blocks: Int64;
  bytes: Int64;
  missingBlocks: Int64;
  durableWatermark: Int64;
  blockBytes: Int64;
  datatype: string;
  sampleRate: number;
  commitLevel: CommitLevel;
  startTime?: Time;
  closeTime?: Time;
  cause: string;
  labels?: Record<string, string>;
  annotations?: Annotation[];
  kept: boolean;
  stream: string;
  segment: Int64;
  description: string;
  stageTimes?: StageTime[];
  original: string;
  originalUid: string;
  earlierOriginals?: string[];
  openTime?: Time;
  origin?: Origin;
  group?: RecordingGroup;
  part?: Part;
  etag: string;
}

export type RecordingState =
  | 'RECORDING_STATE_UNSPECIFIED'
  | 'RECORDING_STATE_RECORDING'
  | 'RECORDING_STATE_SEALED'
  | 'RECORDING_STATE_SALVAGED'
  | 'RECORDING_STATE_DELETING';

export interface Annotation {
  sampleStart: Int64;
  sampleCount: Int64;
  label: string;
  comment: string;
  details: string;
  foreign: boolean;
}

export interface StageTime {
  what: string;
  rail: string;
  time?: Span;
}

export interface Origin {
  source?: OriginStage;
  transforms?: OriginStage[];
  datatype: string;
  device: string;
  worker: string;
  version: string;
  beside: string;
  moveDraft: string;
  repairs: string;
  originalCause: string;
  metadata: string;
}

export interface OriginStage {
  name: string;
  parameters?: Record<string, string>;
}

export interface RecordingGroup {
  id: string;
  name: string;
  number: number;
  members: number;
  startsAt?: Time;
  clock: string;
  clockError?: Span;
}

export interface Part {
  number: number;
  parts: number;
  copies: number;
  whole: string;
}

export interface VerifyProgress {
  checkedBlocks: Int64;
  blocks: Int64;
  damaged?: DamagedBlock[];
  done: boolean;
}

export interface DamagedBlock {
  sequence: Int64;
  kind: DamageKind;
  detail: string;
  ranges?: ByteRange[];
  strayCrc32c: number;
}

export type DamageKind =
  | 'DAMAGE_KIND_UNSPECIFIED'
  | 'DAMAGE_KIND_ROT'
  | 'DAMAGE_KIND_TORN'
  | 'DAMAGE_KIND_ZEROED'
  | 'DAMAGE_KIND_STALE'
  | 'DAMAGE_KIND_MISDIRECTED'
  | 'DAMAGE_KIND_SWAPPED'
  | 'DAMAGE_KIND_TRUNCATED'
  | 'DAMAGE_KIND_MISSING'
  | 'DAMAGE_KIND_HEADER'
  | 'DAMAGE_KIND_INDEX'
  | 'DAMAGE_KIND_MANIFEST'
  | 'DAMAGE_KIND_IO';

export interface ByteRange {
  offset: Int64;
  bytes: Int64;
}

export interface Scrub {
  parent: string;
  state: ScrubState;
  recording: string;
  recordings: Int64;
  blocks: Int64;
  damaged: Int64;
  findings?: ScrubFinding[];
  cause: string;
  repaired: Int64;
}

export type ScrubState = 'SCRUB_STATE_UNSPECIFIED' | 'SCRUB_STATE_RUNNING' | 'SCRUB_STATE_STOPPED' | 'SCRUB_STATE_DONE';

export interface ScrubFinding {
  recording: string;
  block?: DamagedBlock;
  repaired: boolean;
}

export interface NodeInfo {
  name: string;
  role: NodeRole;
  version: string;
  protocolVersion: number;
  pid: Int64;
  rails?: Rail[];
  memory?: MemoryKindInfo[];
  sessions: number;
  stages?: string[];
  stores?: StoreKindInfo[];
}

export type NodeRole = 'NODE_ROLE_UNSPECIFIED' | 'NODE_ROLE_STORAGE' | 'NODE_ROLE_WORKER';

export interface Rail {
  name: string;
  transport: string;
  address: string;
  port: number;
  device: string;
  wireLimitBytesPerS: Int64;
  pciAddress: string;
  numaNode?: number;
  tls: boolean;
}

export interface MemoryKindInfo {
  device: string;
  description: string;
  bytes: Int64;
  status: string;
  pciAddress: string;
  numaNode?: number;
  distances?: RailDistance[];
  rungs?: string[];
}

export interface RailDistance {
  rail: string;
  distance: Distance;
  weight: number;
}

export type Distance = 'DISTANCE_UNSPECIFIED' | 'DISTANCE_SWITCH' | 'DISTANCE_NODE' | 'DISTANCE_SYSTEM' | 'DISTANCE_UNKNOWN';

export interface StoreKindInfo {
  name: string;
  description: string;
}

export interface Stats {
  sessions: number;
  sessionsOpened: Int64;
  blocks: Int64;
  bytes: Int64;
  counters?: Counters;
  ringBytes: Int64;
  rails?: RailProgress[];
}

export interface Counters {
  crcErrors: Int64;
  retransmittedBlocks: Int64;
  duplicateBlocks: Int64;
  resumes: Int64;
}

export interface RailProgress {
  name: string;
  blocks: Int64;
  bytes: Int64;
  up: boolean;
  cause: string;
}

export interface Job {
  name: string;
  direction: Direction;
  state: JobState;
  recording: string;
  device: string;
  blocks: Int64;
  bytes: Int64;
  totalBlocks?: Int64;
  elapsed?: Span;
  mbPerS: number;
  lostBlocks: Int64;
  counters?: Counters;
  rails?: JobRail[];
  error?: { code: number; message: string };
  startTime?: Time;
  endTime?: Time;
  notes?: string[];
  stageTimes?: StageTime[];
  timing?: Timing;
  outputs?: JobOutput[];
  group: string;
  progress?: number;
  captures?: string[];
  codedNotes?: Note[];
}

export type Direction = 'DIRECTION_UNSPECIFIED' | 'DIRECTION_RECORD' | 'DIRECTION_PLAYBACK';

export type JobState =
  | 'JOB_STATE_UNSPECIFIED'
  | 'JOB_STATE_STARTING'
  | 'JOB_STATE_RUNNING'
  | 'JOB_STATE_SUCCEEDED'
  | 'JOB_STATE_FAILED'
  | 'JOB_STATE_CANCELLED'
  | 'JOB_STATE_RESUMING'
  | 'JOB_STATE_NOT_COMPARED'
  | 'JOB_STATE_PREPARING';

export interface JobRail {
  name: string;
  blocks: Int64;
  mbPerS: number;
  up: boolean;
  cause: string;
}

export interface Timing {
  samplesPerS: number;
  blocks: Int64;
  samples: Int64;
  turns: Int64;
  underruns: Int64;
  jitter?: JitterCount[];
  worstJitter?: Span;
  firstTime?: Time;
  afterAt?: Span;
}

export interface JitterCount {
  upTo?: Span;
  blocks: Int64;
}

export interface JobOutput {
  channel: string;
  recording: string;
  blocks: Int64;
  bytes: Int64;
  lostBlocks: Int64;
  error?: { code: number; message: string };
}

export interface Note {
  code: string;
  text: string;
  facts?: Record<string, string>;
}

export interface Stage {
  name: string;
  parameters?: Record<string, Parameter>;
}

export interface Parameter {
  integer?: Int64;
  unsignedInteger?: Int64;
  number?: number;
  text?: string;
  flag?: boolean;
  numbers?: NumberList;
}

export interface NumberList {
  values?: number[];
}

export interface Finding {
  code: string;
  severity: Severity;
  what: string;
  why: string;
  fix: string;
}

export type Severity = 'SEVERITY_UNSPECIFIED' | 'SEVERITY_NOTE' | 'SEVERITY_WARNING' | 'SEVERITY_ERROR';

export interface Timeline {
  state: RecordingState;
  samples: Int64;
  sampleRate: number;
  frequency: number;
  datatype: string;
  startTime?: Time;
  durableSamples: Int64;
  gaps?: SampleRun[];
  gapsTotal: Int64;
  captures?: CaptureStart[];
  annotations?: MarkedSpan[];
  annotationsTotal: Int64;
  blockSamples: Int64;
}

export interface SampleRun {
  firstSample: Int64;
  sampleCount: Int64;
}

export interface CaptureStart {
  sample: Int64;
  streamSample: Int64;
  frequency: number;
  time?: Time;
}

export interface MarkedSpan {
  firstSample: Int64;
  sampleCount: Int64;
  label: string;
  comment: string;
}

export interface SpectrogramMessage {
  columns: number;
  rows: number;
  firstSample: Int64;
  samplesPerRow: number;
  powers: string;
  bytesRead: Int64;
  sampleRate: number;
  frequency: number;
  sampleCount: Int64;
  damagedPieces: Int64;
  transformsPerRow: number;
  complex: boolean;
  bandRate: number;
  bins: number;
  coveredSamples: Int64;
  means: string;
  transforms: Int64;
}

export interface SamplesMessage {
  firstSample: Int64;
  sampleCount: Int64;
  datatype: string;
  samples: string;
  missing?: SampleRun[];
  damagedPieces: Int64;
  bytesRead: Int64;
}

export interface EnvelopeMessage {
  points: number;
  firstSample: Int64;
  samplesPerPoint: number;
  minima: string;
  maxima: string;
  powers: string;
  bytesRead: Int64;
  sampleCount: Int64;
  damagedPieces: Int64;
}

export interface Explanation {
  limitedBy: string;
  elapsedSeconds: number;
  stages?: StageShare[];
  rails?: StageShare[];
  advice: string;
  text: string;
  running: boolean;
}

export interface StageShare {
  name: string;
  share: number;
  seconds: number;
  thread: string;
  threadShare: number;
}

// The end of what proto/page_types.py makes.
