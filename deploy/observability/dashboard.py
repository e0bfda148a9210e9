#!/usr/bin/python3
"""Prints the Grafana dashboard of both nodes as JSON, or with --queries each of its queries as Prometheus takes it, one a line."""
import json
import sys

# (title, unit of Grafana, [(query, legend)]); None begins a row.
PANELS = [
    (None, "Nodes", None),
    ("Nodes that answer", "short", [('up{job=~"tapedeck-.*"}', "{{job}} {{instance}}")]),
    ("Versions", "short", [("count by (role, version) (tapedeck_build_info)", "{{role}} {{version}}")]),
    ("Sessions and jobs", "short", [("sum by (job, direction) (tapedeck_sessions)", "{{job}} {{direction}}"),
                                    ("sum by (direction, state) (tapedeck_jobs)", "jobs {{direction}} {{state}}")]),
    ("Jobs that ended", "short", [("sum by (direction, state) (increase(tapedeck_jobs_ended_total[$__rate_interval]))",
                                   "{{direction}} {{state}}")]),
    ("Warnings and errors in the logs", "short",
     [('sum by (job, level) (increase(tapedeck_log_lines_total{level=~"warning|error"}[$__rate_interval]))', "{{job}} {{level}}"),
      ("sum by (job) (increase(tapedeck_log_lines_left_out_total[$__rate_interval]))", "{{job}} left out")]),
    ("Sessions refused", "short", [("increase(tapedeck_sessions_refused_total[$__rate_interval])", "{{instance}}")]),

    (None, "Rates", None),
    ("Sessions", "Bps", [("sum by (job, direction) (rate(tapedeck_session_bytes_total[$__rate_interval]))",
                          "{{job}} {{direction}}")]),
    ("Rails", "Bps", [("rate(tapedeck_rail_bytes_total[$__rate_interval])", "{{job}} {{rail}} {{direction}}")]),
    ("Written to LUNs", "Bps", [("rate(tapedeck_lun_written_bytes_total[$__rate_interval])", "{{lun}}")]),
    ("Block latency, 50 % and 99 %", "s",
     [("histogram_quantile(0.5, sum by (job, rail, le) (rate(tapedeck_rail_block_latency_seconds_bucket[$__rate_interval])))",
       "{{job}} {{rail}} 50 %"),
      ("histogram_quantile(0.99, sum by (job, rail, le) (rate(tapedeck_rail_block_latency_seconds_bucket[$__rate_interval])))",
       "{{job}} {{rail}} 99 %")]),
    ("Commit latency, 99 %", "s",
     [("histogram_quantile(0.99, sum by (lun, le) (rate(tapedeck_lun_commit_latency_seconds_bucket[$__rate_interval])))",
       "{{lun}}")]),
    ("Age of the durable watermark", "s", [("tapedeck_lun_watermark_age_seconds", "{{lun}}")]),
    ("What sessions spend their time on", "percentunit",
     [("sum by (job, direction, stage) (rate(tapedeck_stage_seconds_total[$__rate_interval]))", "{{job}} {{direction}} {{stage}}")]),
    ("Rails that are waited for", "percentunit",
     [("rate(tapedeck_rail_waited_for_seconds_total[$__rate_interval])", "{{job}} {{rail}}")]),

    (None, "LUNs", None),
    ("Online", "short", [("tapedeck_lun_online", "{{lun}}")]),
    ("Fill", "percentunit", [("tapedeck_lun_used_bytes / tapedeck_lun_capacity_bytes", "{{lun}}")]),
    ("Time until full", "s", [("tapedeck_lun_time_until_full_seconds", "{{lun}}")]),
    ("Recordings", "short", [("tapedeck_lun_recordings", "{{lun}}"), ("tapedeck_lun_recordings_open", "{{lun}} open")]),
    ("Damage found", "short", [("increase(tapedeck_lun_damaged_blocks_total[1h])", "{{lun}} {{found_by}}"),
                               ("increase(tapedeck_lun_repaired_blocks_total[1h])", "{{lun}} repaired")]),
    ("Scrubs", "short", [("rate(tapedeck_lun_scrubbed_blocks_total[$__rate_interval])", "{{lun}} blocks/s"),
                         ("tapedeck_scrubs_running", "running")]),
    ("Disks: tasks that wait, flushes that failed", "short",
     [("tapedeck_lun_tasks_waiting", "{{lun}} waiting"), ("increase(tapedeck_lun_failed_flushes_total[1h])", "{{lun}} failed")]),
    ("Memory for followers", "bytes", [("tapedeck_follow_memory_bytes", "{{instance}}"),
                                       ("tapedeck_follow_memory_limit_bytes", "{{instance}} limit")]),

    (None, "Rails", None),
    ("Links", "short", [("tapedeck_rail_up", "{{job}} {{rail}} link"), ("tapedeck_rail_connections", "{{job}} {{rail}} connections")]),
    ("Failures", "short", [("increase(tapedeck_rail_failures_total[$__rate_interval])", "{{job}} {{rail}}")]),
    ("Sent again, duplicates, CRC errors", "short",
     [("sum by (job) (increase(tapedeck_retransmitted_blocks_total[$__rate_interval]))", "{{job}} sent again"),
      ("sum by (job) (increase(tapedeck_duplicate_blocks_total[$__rate_interval]))", "{{job}} duplicates"),
      ("sum by (job) (increase(tapedeck_crc_errors_total[$__rate_interval]))", "{{job}} CRC errors")]),
    ("RDMA: packets lost", "pps",
     [("rate(tapedeck_infiniband_out_of_sequence_packets_received_total[$__rate_interval])", "{{job}} {{rail}} out of sequence"),
      ("rate(tapedeck_infiniband_packet_sequence_errors_total[$__rate_interval])", "{{job}} {{rail}} sequence errors"),
      ("rate(tapedeck_infiniband_local_ack_timeout_errors_total[$__rate_interval])", "{{job}} {{rail}} timeouts")]),
    ("RDMA: congestion", "pps",
     [("rate(tapedeck_infiniband_np_cnp_packets_sent_total[$__rate_interval])", "{{job}} {{rail}} notified"),
      ("rate(tapedeck_infiniband_rp_cnp_packets_handled_total[$__rate_interval])", "{{job}} {{rail}} slowed down")]),
    ("Temperature", "celsius", [("tapedeck_rail_temperature_celsius", "{{job}} {{rail}}")]),
    ("GPU and its way to the rails", "short", [("tapedeck_device_info", "{{device}} {{description}}"),
                                               ("tapedeck_ladder_rung_info", "{{device}} {{rail}} {{direction}} {{rung}}")]),

    (None, "Processes", None),
    ("Processors", "short", [('rate(process_cpu_seconds_total{job=~"tapedeck-.*"}[$__rate_interval])', "{{job}} {{instance}}")]),
    ("Resident memory, rings", "bytes", [('process_resident_memory_bytes{job=~"tapedeck-.*"}', "{{job}} {{instance}}"),
                                         ("tapedeck_ring_bytes", "{{instance}} rings")]),
    ("Descriptors, threads", "short", [('process_open_fds{job=~"tapedeck-.*"}', "{{job}} descriptors"),
                                       ('process_threads{job=~"tapedeck-.*"}', "{{job}} threads")]),
]
WIDTH, HEIGHT, COLUMNS = 8, 7, 24
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def panel(title, unit, queries):
    return {
        "type": "timeseries", "title": title, "datasource": SOURCE,
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}},
        "targets": [{"refId": chr(ord("A") + i), "expr": query, "legendFormat": legend, "datasource": SOURCE}
                    for i, (query, legend) in enumerate(queries)],
    }


def placed():
    """The panels where they go: rows across, three panels beside each other."""
    x = y = 0
    for number, (title, unit, queries) in enumerate(PANELS, 1):
        if title is None:
            y += HEIGHT if x else 0
            yield {"type": "row", "title": unit, "collapsed": False, "panels": [], "id": number,
                   "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1}}
            x, y = 0, y + 1
            continue
        yield {**panel(title, unit, queries), "id": number, "gridPos": {"x": x, "y": y, "w": WIDTH, "h": HEIGHT}}
        x += WIDTH
        if x == COLUMNS:
            x, y = 0, y + HEIGHT


def dashboard():
    return {
        "title": "Tapedeck", "uid": "tapedeck", "tags": ["tapedeck"], "schemaVersion": 38, "editable": True,
        "time": {"from": "now-1h", "to": "now"}, "refresh": "10s", "panels": list(placed()),
        "templating": {"list": [{"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}]},
    }


if __name__ == "__main__":
    if sys.argv[1:] == ["--queries"]:
        for _, _, queries in PANELS:
            for query, _ in queries or []:
                print(query.replace("$__rate_interval", "1m"))
    else:
        json.dump(dashboard(), sys.stdout, indent=2)
        print()
