// A LUN and a channel of which every field that is kept is another than in a new one.
#pragma once

#include "services/model/channel.h"
#include "services/model/lun.h"

namespace tapedeck::storage_node {

inline services::Lun EveryLunField() {
  return {.name = "luns/l",
          .uid = "00112233-4455-4677-8899-aabbccddeeff",
          .origin_uid = "00112233-4455-4677-8899-aabbccddee00",
          .revision = 10,
          .store = "direct",
          .members = {"/a", "/b"},
          .capacity_bytes = 5,
          .full_policy = services::FullPolicy::kRing,
          .max_age_ns = 7,
          .max_fill_percent = 8,
          .prewrite_files = 9,
          .prewrite_bytes = 4096,
          .description = "the left rack",
          .labels = {{"site", "north"}},
          .create_time_ns = 6,
          .copies = 2};
}

inline services::Channel EveryChannelField() {
  return {.name = "luns/l/channels/c",
          .block_bytes = 128 << 10,
          .datatype = "ci16_le",
          .sample_rate = 2000,
          .op = dataplane::TransferOp::kSend,
          .commit = dataplane::CommitLevel::kReceived,
          .pre_trigger_ns = 1'000'000'000,
          .post_trigger_ns = 2'000'000'000,
          .segment_bytes = 5 << 20,
          .description = "antenna 3",
          .labels = {{"band", "L"}},
          .create_time_ns = 9,
          .move_to = "luns/deep",
          .move_after_ns = 3'600'000'000'000,
          .move_bytes_per_s = 1 << 30};
}

}  // namespace tapedeck::storage_node
