// Every metric of both nodes, once: its name, type, labels and help. Whoever has its value names it
// (page.h), which the compiler looks up here. Names are Prometheus': base units, _total of what
// only grows. Labels are of the node's own making: LUNs, its own rails, words of ours; never a
// recording, a job, or what a peer may choose, since each value of a label is kept by whoever
// scrapes.
#pragma once

#include <cstddef>
#include <iterator>

#include "absl/strings/string_view.h"

namespace tapedeck::services::telemetry {

enum class MetricType { kCounter, kGauge, kHistogram };

struct Metric {
  absl::string_view name;
  MetricType type = MetricType::kGauge;
  absl::string_view labels;  // "rail,direction"
  absl::string_view help;
  // Of an RDMA port: the file of /sys/class/infiniband/*/ports/*/hw_counters that has it.
  absl::string_view hw_counter = {};
};

// Beside these there is tapedeck_NAME_total{direction} for each counter of
// dataplane/transfer/counters.h.
inline constexpr Metric kMetrics[] = {
    {"tapedeck_build_info", MetricType::kGauge, "role,version", "1, of the program that runs."},
    {"process_cpu_seconds_total", MetricType::kCounter, "", "Processor time, user and system."},
    {"process_resident_memory_bytes", MetricType::kGauge, "", "Resident memory."},
    {"process_open_fds", MetricType::kGauge, "", "Open file descriptors."},
    {"process_max_fds", MetricType::kGauge, "", "Limit of open file descriptors."},
    {"process_threads", MetricType::kGauge, "", "Threads."},
    {"process_start_time_seconds", MetricType::kGauge, "", "Start, since the Unix epoch."},
    {"tapedeck_log_lines_total", MetricType::kCounter, "level", "Lines written to the log."},
    {"tapedeck_log_lines_left_out_total", MetricType::kCounter, "",
     "Lines of the log that came too often and were counted instead."},
    {"tapedeck_trace_spans_exported_total", MetricType::kCounter, "",
     "Spans that the collector of traces has taken. Only where tracing is on."},
    {"tapedeck_trace_spans_dropped_total", MetricType::kCounter, "",
     "Spans that the collector has not taken, or that found no space to wait."},
    {"tapedeck_tls_certificate_expiry_timestamp_seconds", MetricType::kGauge, "",
     "End of the node's certificate, since the Unix epoch. Only where there is one."},
    {"tapedeck_policy_loaded_timestamp_seconds", MetricType::kGauge, "",
     "When the policy in force was read, since the Unix epoch. Only where there is one."},
    {"tapedeck_policy_last_reload_successful", MetricType::kGauge, "",
     "0 while the policy's file is wrong, and an older one in force."},
    {"tapedeck_tls_handshakes_failed_total", MetricType::kCounter, "",
     "Connections that ended before they proved an identity."},
    {"tapedeck_connections_turned_away_total", MetricType::kCounter, "",
     "Connections that the node closed because there were too many."},
    {"tapedeck_page_samples_left_out", MetricType::kGauge, "",
     "Samples that did not fit on this page."},

    {"tapedeck_rail_info", MetricType::kGauge, "rail,transport,address,device", "1, of each rail."},
    {"tapedeck_rail_up", MetricType::kGauge, "rail",
     "Whether the rail's port has a link, where the system tells."},
    {"tapedeck_rail_temperature_celsius", MetricType::kGauge, "rail",
     "Temperature of the rail's card, where the system tells."},
    {"tapedeck_rail_connections", MetricType::kGauge, "rail", "Connections of sessions."},
    {"tapedeck_rail_failures_total", MetricType::kCounter, "rail",
     "Connections of sessions that failed, and attempts to connect."},
    {"tapedeck_rail_blocks_total", MetricType::kCounter, "rail,direction",
     "Blocks that passed the rail: sent ones once the peer has taken them."},
    {"tapedeck_rail_bytes_total", MetricType::kCounter, "rail,direction", "Payload of those."},
    {"tapedeck_rail_block_latency_seconds", MetricType::kHistogram, "rail",
     "Time of a sent block until the peer acknowledged it at the session's commit level."},
    {"tapedeck_rail_waited_for_seconds_total", MetricType::kCounter, "rail",
     "Time in which a session waited only for a block that this rail carried."},

    {"tapedeck_infiniband_out_of_sequence_packets_received_total", MetricType::kCounter, "rail",
     "Packets out of sequence: some were lost.", "out_of_sequence"},
    {"tapedeck_infiniband_packet_sequence_errors_total", MetricType::kCounter, "rail",
     "NAKs for a sequence error: the peer missed packets.", "packet_seq_err"},
    {"tapedeck_infiniband_implied_nak_sequence_errors_total", MetricType::kCounter, "rail",
     "Answers that imply an earlier one was lost.", "implied_nak_seq_err"},
    {"tapedeck_infiniband_local_ack_timeout_errors_total", MetricType::kCounter, "rail",
     "Acknowledgements that did not come in time.", "local_ack_timeout_err"},
    {"tapedeck_infiniband_rnr_nak_retry_packets_received_total", MetricType::kCounter, "rail",
     "The peer had no receive posted.", "rnr_nak_retry_err"},
    {"tapedeck_infiniband_out_of_buffer_drops_total", MetricType::kCounter, "rail",
     "Packets dropped for want of a posted receive.", "out_of_buffer"},
    {"tapedeck_infiniband_duplicate_requests_packets_total", MetricType::kCounter, "rail",
     "Requests that came again.", "duplicate_request"},
    {"tapedeck_infiniband_transport_retries_exceeded_total", MetricType::kCounter, "rail",
     "Times that all retries were used up.", "req_transport_retries_exceeded"},
    {"tapedeck_infiniband_roce_adp_retransmits_total", MetricType::kCounter, "rail",
     "Adaptive retransmissions.", "roce_adp_retrans"},
    {"tapedeck_infiniband_np_cnp_packets_sent_total", MetricType::kCounter, "rail",
     "Congestion notifications sent: what arrives was marked on the way.", "np_cnp_sent"},
    {"tapedeck_infiniband_np_ecn_marked_roce_packets_received_total", MetricType::kCounter, "rail",
     "Packets that a switch had marked for congestion.", "np_ecn_marked_roce_packets"},
    {"tapedeck_infiniband_rp_cnp_packets_handled_total", MetricType::kCounter, "rail",
     "Congestion notifications received: the port sends more slowly then.", "rp_cnp_handled"},
    {"tapedeck_infiniband_rxe_completer_retry_errors_total", MetricType::kCounter, "rail",
     "Soft-RoCE: requests sent again.", "completer_retry_err"},
    {"tapedeck_infiniband_rxe_received_sequence_errors_total", MetricType::kCounter, "rail",
     "Soft-RoCE: packets out of sequence.", "rcvd_seq_err"},
    {"tapedeck_infiniband_rxe_retries_exceeded_total", MetricType::kCounter, "rail",
     "Soft-RoCE: times that all retries were used up.", "retry_exceeded_err"},

    {"tapedeck_sessions", MetricType::kGauge, "direction", "Sessions or jobs that run."},
    {"tapedeck_session_blocks_total", MetricType::kCounter, "direction",
     "Blocks of all sessions; on a worker those that count as recorded or played."},
    {"tapedeck_session_bytes_total", MetricType::kCounter, "direction", "Payload of those."},
    {"tapedeck_stage_seconds_total", MetricType::kCounter, "direction,stage",
     "Time that all sessions spent on each stage, as services/observe/explain/README.md says."},
    {"tapedeck_sessions_opened_total", MetricType::kCounter, "", "Sessions that were begun."},
    {"tapedeck_sessions_refused_total", MetricType::kCounter, "",
     "Workers that got no session because the node was full or shutting down."},
    {"tapedeck_ring_bytes", MetricType::kGauge, "", "Memory of the rings of sessions."},

    {"tapedeck_state_failing", MetricType::kGauge, "",
     "1 while the state directory takes nothing, or takes it too slowly."},
    {"tapedeck_state_changes_waiting", MetricType::kGauge, "",
     "Changes of the catalog that wait for the state directory."},
    {"tapedeck_lun_online", MetricType::kGauge, "lun", "0 while a member of the LUN is away."},
    {"tapedeck_lun_standby", MetricType::kGauge, "lun",
     "1 while another node has the LUN, which this one then takes over."},
    {"tapedeck_lun_degraded", MetricType::kGauge, "lun",
     "1 while one of the two copies that the LUN keeps is not whole."},
    {"tapedeck_lun_capacity_bytes", MetricType::kGauge, "lun", "Capacity; +Inf: no limit."},
    {"tapedeck_lun_used_bytes", MetricType::kGauge, "lun",
     "Bytes that recordings take, with those reserved for running ones."},
    {"tapedeck_lun_time_until_full_seconds", MetricType::kGauge, "lun",
     "At the rate of the last minute; +Inf while nothing is written. None of a ring."},
    {"tapedeck_lun_recordings", MetricType::kGauge, "lun", "Recordings."},
    {"tapedeck_lun_recordings_open", MetricType::kGauge, "lun", "Those that are being written."},
    {"tapedeck_lun_written_blocks_total", MetricType::kCounter, "lun", "Blocks written."},
    {"tapedeck_lun_written_bytes_total", MetricType::kCounter, "lun", "Payload of those."},
    {"tapedeck_lun_commit_latency_seconds", MetricType::kHistogram, "lun",
     "Age of the oldest block at each flush, since it was written."},
    {"tapedeck_lun_watermark_age_seconds", MetricType::kGauge, "lun",
     "Since the oldest block was written that is not durable; 0: all are."},
    {"tapedeck_lun_failed_flushes_total", MetricType::kCounter, "lun", "Flushes that failed."},
    {"tapedeck_lun_tasks_waiting", MetricType::kGauge, "lun",
     "Requests to the LUN's disks that are not done."},
    {"tapedeck_lun_scrubbed_blocks_total", MetricType::kCounter, "lun", "Blocks read by scrubs."},
    {"tapedeck_lun_damaged_blocks_total", MetricType::kCounter, "lun,found_by",
     "Damage found, each time that it is found."},
    {"tapedeck_lun_repaired_blocks_total", MetricType::kCounter, "lun",
     "Damage of an index, a manifest or one of two copies that a scrub repaired."},
    {"tapedeck_lun_moved_recordings_total", MetricType::kCounter, "lun",
     "Recordings that policies have moved to another LUN."},
    {"tapedeck_lun_moved_bytes_total", MetricType::kCounter, "lun", "Payload bytes of those."},
    {"tapedeck_lun_failed_moves_total", MetricType::kCounter, "lun",
     "Moves by policies that failed; each is tried again."},
    {"tapedeck_lun_moves_waiting", MetricType::kGauge, "lun",
     "Recordings that a policy should have moved, and has not yet."},
    {"tapedeck_scrubs_running", MetricType::kGauge, "", "Scrubs under way."},
    {"tapedeck_follow_memory_bytes", MetricType::kGauge, "", "Memory for followers, resident."},
    {"tapedeck_follow_memory_limit_bytes", MetricType::kGauge, "", "As --follow-memory says."},

    {"tapedeck_jobs", MetricType::kGauge, "direction,state", "Jobs that have not ended."},
    {"tapedeck_jobs_ended_total", MetricType::kCounter, "direction,state", "Jobs that have."},
    {"tapedeck_device_info", MetricType::kGauge, "device,description",
     "1, of each device that jobs compute on."},
    {"tapedeck_ladder_rung_info", MetricType::kGauge, "device,rail,direction,rung",
     "1, of the way between the device's memory and the rail."},
};

inline constexpr size_t kMetricCount = std::size(kMetrics);

}  // namespace tapedeck::services::telemetry
