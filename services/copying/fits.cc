#include "services/copying/fits.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/errors.h"

namespace tapedeck::services::copying {

absl::Status CheckFits(const Recording& source, const Channel& channel) {
  const auto differ = [&](absl::string_view what, const auto& has, const auto& holds) {
    return ArgumentInvalid(
        "channel", absl::StrCat(source.name, " has ", what, " ", has, ", and ", channel.name,
                                " has ", holds, "; make a channel that is like it"));
  };
  if (source.datatype != channel.datatype)
    return differ("datatype", source.datatype, channel.datatype);
  if (source.block_bytes != channel.block_bytes)
    return differ("block_bytes", source.block_bytes, channel.block_bytes);
  if (source.sample_rate != channel.sample_rate)
    return differ("sample_rate", source.sample_rate, channel.sample_rate);
  if (channel.segment_bytes > 0) {
    return ArgumentInvalid("channel", absl::StrCat(channel.name,
                                                   " cuts what it takes into segments; "
                                                   "name a channel that does not"));
  }
  return absl::OkStatus();
}

std::vector<std::string> EarlierOf(const Recording& source) {
  std::vector<std::string> earlier;
  if (!source.original.empty()) earlier.push_back(source.original);
  for (const std::string& name : source.earlier_originals) {
    if (earlier.size() < model::kMaxEarlierOriginals) earlier.push_back(name);
  }
  return earlier;
}

model::Origin OriginOf(const Recording& source) {
  model::Origin origin = source.origin;
  if (source.cause.empty()) return origin;
  std::string& cause = origin.original_cause;
  // Of a copy that was cut off itself, both.
  cause = cause.empty() ? source.cause : absl::StrCat(source.cause, "; its original: ", cause);
  size_t end = std::min(cause.size(), model::kMaxOriginValueBytes);
  while (end < cause.size() && end > 0 && (cause[end] & 0xC0) == 0x80) --end;  // within a character
  cause.resize(end);
  return model::OriginProblem(origin).empty() ? origin : source.origin;
}

}  // namespace tapedeck::services::copying
