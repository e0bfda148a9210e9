#include "services/formats/import.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/files/errors.h"
#include "services/signal/sigmf/text.h"

namespace tapedeck::services::formats {

using dataplane::Block;

namespace {

// Of two rates that count as one: a channel's is written by hand, and packets have fixed point.
constexpr double kMostOff = 1e-6;

// Of a channel that has been looked at.
uint64_t SampleBytes(const Channel& channel) {
  return dataplane::ParseDatatype(channel.datatype)->bytes_per_sample();
}

uint64_t BlockSamples(const Channel& channel) { return channel.block_bytes / SampleBytes(channel); }

// Whether all samples from `first` to before `end` are in one gap.
bool IsMissing(const std::vector<SampleRange>& gaps, uint64_t first, uint64_t end) {
  const auto after = std::ranges::upper_bound(gaps, first, {}, &SampleRange::first);
  if (after == gaps.begin()) return false;
  const SampleRange& gap = *std::prev(after);
  return gap.first + gap.count >= end;
}

// Of a block with so many bytes; none: it is missing.
void SetHeader(const ImportRequest& request, uint64_t sequence, uint64_t bytes,
               dataplane::BlockHeader* header) {
  const Content& content = request.reader->content();
  const uint64_t sample = sequence * BlockSamples(request.channel);
  header->sequence = sequence;
  header->sample_index = content.first_index + sample;
  header->capture_ns = model::TimeAfter(request.start_ns, sample, request.channel.sample_rate)
                           .value_or(dataplane::kTimeUnknown);
  header->payload_bytes = static_cast<uint32_t>(bytes);
  if (bytes < request.channel.block_bytes) header->flags = dataplane::kBlockPartial;
  if (bytes == 0) header->flags = dataplane::kBlockMissing;
}

// Whatever ends the stream, what has come is whole.
absl::Status ImportStream(const ImportRequest& request, InputStream& stream) {
  const uint64_t block_bytes = request.channel.block_bytes;
  const auto go_on = [&] { return request.progress(stream.bytes()); };
  for (uint64_t sequence = 0;; ++sequence) {
    TD_ASSIGN_OR_RETURN(Block block, request.slot());
    TD_ASSIGN_OR_RETURN(const uint64_t bytes,
                        stream.Read(block.memory().first(block_bytes), go_on));
    if (bytes == 0) return absl::OkStatus();
    SetHeader(request, sequence, bytes, &block.header());
    request.give(std::move(block));
    if (bytes < block_bytes) return absl::OkStatus();
  }
}

}  // namespace

std::string RateText(const std::string& file, double rate, const ReadOptions& told) {
  return absl::StrFormat("%s %.15g samples a second",
                         told.sample_rate > 0 ? "--sample-rate says" : file + " has", rate);
}

absl::Status CheckCompatible(const std::string& path, const Content& content,
                             const Channel& channel, const ReadOptions& told) {
  if (content.bytes == 0) return files::Invalid(path, "it holds no samples");
  const auto refused = [&](const char* option, bool is_told, const std::string& text) {
    return is_told ? ArgumentInvalid(option, text) : files::FileInvalid(path, text);
  };
  if (!content.datatype.empty() && content.datatype != channel.datatype) {
    const bool is_told = !told.datatype.empty();
    return refused(
        "datatype", is_told,
        absl::StrCat(is_told ? "--datatype says" : path + " holds", " ", content.datatype,
                     ", the channel holds ", channel.datatype, "; import it into a channel of ",
                     content.datatype, "; tapectl channel create --datatype ", content.datatype,
                     " makes one"));
  }
  const double rate = channel.sample_rate;
  const bool tells = content.sample_rate > 0 && rate > 0;
  if (!tells || std::fabs(content.sample_rate - rate) <= kMostOff * rate) return absl::OkStatus();
  return refused(
      "sample-rate", told.sample_rate > 0,
      absl::StrCat(RateText(path, content.sample_rate, told),
                   absl::StrFormat(", the channel has %.15g; --sample-rate %.15g takes its samples "
                                   "as the channel's",
                                   rate, rate)));
}

uint64_t BlocksOf(const Content& content, const Channel& channel) {
  return (content.bytes + channel.block_bytes - 1) / channel.block_bytes;
}

absl::Status Import(const ImportRequest& request) {
  if (InputStream* stream = request.reader->stream()) return ImportStream(request, *stream);
  const Content& content = request.reader->content();
  const Channel& channel = request.channel;
  const uint64_t block_samples = BlockSamples(channel);
  for (uint64_t sequence = 0, offset = 0; offset < content.bytes; ++sequence) {
    const uint64_t bytes = std::min(channel.block_bytes, content.bytes - offset);
    TD_ASSIGN_OR_RETURN(Block block, request.slot());
    const uint64_t sample = sequence * block_samples;
    const bool missing = IsMissing(content.gaps, sample, sample + block_samples);
    SetHeader(request, sequence, missing ? 0 : bytes, &block.header());
    if (!missing) TD_RETURN_IF_ERROR(request.reader->Read(offset, block.payload()));
    request.give(std::move(block));
    offset += bytes;
    if (!request.progress(offset)) return JobCancelled();
  }
  return absl::OkStatus();
}

std::vector<Annotation> LostWithinBlocks(const Content& content, const Channel& channel) {
  const uint64_t block_samples = BlockSamples(channel);
  std::vector<Annotation> lost;
  const auto add = [&](uint64_t first, uint64_t end) {
    if (first >= end) return;
    lost.push_back(
        {.sample_start = first, .sample_count = end - first, .label = sigmf::kLostLabel});
  };
  for (const SampleRange& gap : content.gaps) {
    const uint64_t end = gap.first + gap.count;
    const uint64_t whole_from = (gap.first + block_samples - 1) / block_samples * block_samples;
    const uint64_t whole_to = end / block_samples * block_samples;
    if (whole_from >= whole_to) {
      add(gap.first, end);
    } else {
      add(gap.first, whole_from);
      add(whole_to, end);
    }
  }
  return lost;
}

}  // namespace tapedeck::services::formats
