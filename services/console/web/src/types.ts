// The messages of proto/tapedeck/v1 that the page speaks, in the JSON that tapectl prints: durations are seconds, bytes base64, and
// what is not known is null.

export type Time = string; // 2026-01-31T12:00:00.5Z

export interface ErrorBody {
  code: string;
  reason: string;
  message: string;
  metadata: Record<string, string>;
}

// With its facts.
export interface Note {
  code: string;
  text: string;
  [fact: string]: string;
}

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
  members: string[];
  capacity_bytes: number;
  used_bytes: number;
  recordings: number;
  create_time: Time | null;
  full_policy: FullPolicy;
  max_age_s: number;
  max_fill_percent: number;
  state: LunState;
  cause: string;
  prewrite_files: number;
  prewrite_bytes: number;
  description: string;
  labels: Record<string, string>;
  copies: number;
}

export type FullPolicy = 'stop' | 'ring';

export type LunState = 'READY' | 'OFFLINE' | 'DEGRADED' | 'STANDBY';

export interface Channel {
  name: string;
  block_bytes: number;
  datatype: string;
  sample_rate: number;
  transfer_op: TransferOp | null;
  commit_level: CommitLevel;
  create_time: Time | null;
  pre_trigger_s: number;
  post_trigger_s: number;
  segment_bytes: number;
  description: string;
  labels: Record<string, string>;
  move_to: string;
  move_after_s: number;
  move_rate_bytes_per_second: number;
}

export type TransferOp = 'READ' | 'WRITE' | 'SEND';

export type CommitLevel = 'received' | 'written' | 'durable';

export interface Recording {
  name: string;
  uid: string;
  state: RecordingState;
  blocks: number;
  bytes: number;
  missing_blocks: number;
  durable_watermark: number;
  block_bytes: number;
  datatype: string;
  sample_rate: number;
  commit_level: CommitLevel;
  start_time: Time | null;
  close_time: Time | null;
  cause: string;
  labels: Record<string, string>;
  annotations: Annotation[];
  kept: boolean;
  stream: string;
  segment: number;
  description: string;
  original: string;
  original_uid: string;
  earlier_originals: string[];
  open_time: Time | null;
  origin: Origin | null;
  group: RecordingGroup | null;
  part: Part | null;
  etag: string;
}

export type RecordingState = 'RECORDING' | 'SEALED' | 'SALVAGED' | 'DELETING';

export interface Annotation {
  sample_start: number;
  sample_count: number;
  label: string;
  comment: string;
  details: string;
  foreign: boolean;
}

export interface Origin {
  source: OriginStage | null;
  transforms: OriginStage[];
  datatype: string;
  device: string;
  worker: string;
  version: string;
  beside: string;
  move_draft: string;
  repairs: string;
  original_cause: string;
  metadata: string;
}

export interface OriginStage {
  name: string;
  parameters: Record<string, string>;
}

export interface RecordingGroup {
  id: string;
  name: string;
  number: number;
  members: number;
  starts_at: Time | null;
  clock: string;
  clock_error_s: number;
}

export interface Part {
  number: number;
  parts: number;
  copies: number;
  whole: string;
}

export interface VerifyProgress {
  checked_blocks: number;
  blocks: number;
  damaged: DamagedBlock[];
  done: boolean;
}

export interface DamagedBlock {
  sequence: number;
  kind: DamageKind;
  detail: string;
  ranges: ByteRange[];
  stray_crc32c: number;
}

export type DamageKind =
  | 'none'
  | 'rot'
  | 'torn'
  | 'zeroed'
  | 'stale'
  | 'misdirected'
  | 'swapped'
  | 'truncated'
  | 'missing'
  | 'header'
  | 'index'
  | 'manifest'
  | 'io';

export interface ByteRange {
  offset: number;
  bytes: number;
}

export interface Scrub {
  parent: string;
  state: ScrubState;
  recording: string;
  recordings: number;
  blocks: number;
  damaged: number;
  findings: ScrubFinding[];
  cause: string;
  repaired: number;
}

export type ScrubState = 'NONE' | 'RUNNING' | 'STOPPED' | 'DONE';

export interface ScrubFinding {
  recording: string;
  block: DamagedBlock | null;
  repaired: boolean;
}

export interface NodeInfo {
  name: string;
  role: NodeRole;
  version: string;
  protocol_version: number;
  pid: number;
  rails: Rail[];
  memory: MemoryKindInfo[];
  sessions: number;
  stages: string[];
  stores: StoreKindInfo[];
}

export type NodeRole = 'STORAGE' | 'WORKER';

export interface Rail {
  name: string;
  transport: string;
  address: string;
  port: number;
  device: string;
  wire_limit_bytes_per_s: number;
  pci_address: string;
  numa_node: number | null;
  tls: boolean;
}

export interface MemoryKindInfo {
  device: string;
  description: string;
  bytes: number;
  status: string;
  pci_address: string;
  numa_node: number | null;
  distances: RailDistance[];
  rungs: string[];
}

export interface RailDistance {
  rail: string;
  distance: Distance;
  weight: number;
}

export type Distance = 'SWITCH' | 'NODE' | 'SYSTEM' | 'UNKNOWN';

export interface StoreKindInfo {
  name: string;
  description: string;
}

export interface Stats {
  sessions: number;
  sessions_opened: number;
  blocks: number;
  bytes: number;
  crc_errors: number;
  retransmitted_blocks: number;
  duplicate_blocks: number;
  resumes: number;
  ring_bytes: number;
  rails: RailProgress[];
}

export interface RailProgress {
  name: string;
  blocks: number;
  bytes: number;
  up: boolean;
  cause: string;
}

export interface Job {
  name: string;
  direction: Direction;
  state: JobState;
  recording: string;
  device: string;
  blocks: number;
  bytes: number;
  total_blocks: number | null;
  elapsed_s: number;
  mb_per_s: number;
  lost_blocks: number;
  crc_errors: number;
  retransmitted_blocks: number;
  duplicate_blocks: number;
  resumes: number;
  rails: JobRail[];
  error?: ErrorBody;
  start_time: Time | null;
  end_time: Time | null;
  notes: Note[];
  timing?: Timing;
  outputs: JobOutput[];
  group: string;
  progress: number | null;
  captures: string[];
}

export type Direction = 'RECORD' | 'PLAYBACK';

export type JobState = 'STARTING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED' | 'RESUMING' | 'NOT_COMPARED' | 'PREPARING';

export interface JobRail {
  name: string;
  blocks: number;
  mb_per_s: number;
  up: boolean;
  cause: string;
}

export interface Timing {
  samples_per_s: number;
  blocks: number;
  samples: number;
  turns: number;
  underruns: number;
  jitter: JitterCount[];
  worst_jitter_s: number;
  first_time: Time | null;
  after_at_s: number;
  jitter_p50_s: number;
  jitter_p99_s: number;
  jitter_p999_s: number;
}

export interface JitterCount {
  up_to_s: number;
  blocks: number;
}

export interface JobOutput {
  channel: string;
  recording: string;
  blocks: number;
  bytes: number;
  lost_blocks: number;
  error?: ErrorBody;
}

export interface Finding {
  code: string;
  severity: Severity;
  what: string;
  why: string;
  fix: string;
}

export type Severity = 'note' | 'warning' | 'error';

export interface Timeline {
  state: RecordingState;
  samples: number;
  sample_rate: number;
  frequency: number;
  datatype: string;
  start_time: Time | null;
  durable_samples: number;
  gaps: SampleRun[];
  gaps_total: number;
  captures: CaptureStart[];
  annotations: MarkedSpan[];
  annotations_total: number;
  block_samples: number;
}

export interface SampleRun {
  first_sample: number;
  sample_count: number;
}

export interface CaptureStart {
  sample: number;
  stream_sample: number;
  frequency: number;
  time: Time | null;
}

export interface MarkedSpan {
  first_sample: number;
  sample_count: number;
  label: string;
  comment: string;
}

export interface SpectrogramMessage {
  columns: number;
  rows: number;
  first_sample: number;
  samples_per_row: number;
  powers: string;
  bytes_read: number;
  sample_rate: number;
  frequency: number;
  sample_count: number;
  damaged_pieces: number;
  transforms_per_row: number;
  complex: boolean;
  band_rate: number;
  bins: number;
  covered_samples: number;
  means: string;
  transforms: number;
}

export interface SamplesMessage {
  first_sample: number;
  sample_count: number;
  datatype: string;
  samples: string;
  missing: SampleRun[];
  damaged_pieces: number;
  bytes_read: number;
}

export interface EnvelopeMessage {
  points: number;
  first_sample: number;
  samples_per_point: number;
  minima: string;
  maxima: string;
  powers: string;
  bytes_read: number;
  sample_count: number;
  damaged_pieces: number;
}

export interface Explanation {
  limited_by: string;
  elapsed_s: number;
  stages: StageShare[];
  rails: StageShare[];
  advice: string;
  text: string;
  running: boolean;
}

export interface StageShare {
  name: string;
  share: number;
  seconds: number;
  thread?: string;
  thread_share?: number;
}

// The end of what proto/page_types.py makes.
