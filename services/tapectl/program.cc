#include "services/tapectl/program.h"

#include <algorithm>
#include <iostream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/client/channel.h"
#include "services/tapectl/units.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr absl::Duration kCallTimeout = absl::Seconds(10);
// A call needs a deadline; no job lasts this long without being cancelled.
constexpr absl::Duration kJobTimeout = absl::Hours(24 * 30);

std::string Line(const Row& row, const std::vector<size_t>& widths) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    absl::StrAppend(&line, row[i], std::string(widths[i] - row[i].size() + 2, ' '));
  }
  return std::string(absl::StripTrailingAsciiWhitespace(line));
}

absl::StatusOr<client::Channel> Connect(const std::string& address, absl::Duration timeout) {
  client::Channel channel = client::MakeChannel(address);
  TD_RETURN_IF_ERROR(client::WaitForConnected(channel, std::min(timeout, absl::Seconds(5))));
  return channel;
}

}  // namespace

// The option has been checked when it was read.
absl::Duration Program::call_timeout() const {
  return timeout.empty() ? kCallTimeout : absl::Nanoseconds(*ParseDurationNs(timeout));
}

absl::Duration Program::job_timeout() const {
  return timeout.empty() ? kJobTimeout : absl::Nanoseconds(*ParseDurationNs(timeout));
}

absl::StatusOr<std::unique_ptr<client::CatalogClient>> Program::Catalog() const {
  TD_ASSIGN_OR_RETURN(const client::Channel channel, Connect(storage, call_timeout()));
  return std::make_unique<client::CatalogClient>(channel, call_timeout());
}

absl::StatusOr<std::unique_ptr<client::JobsClient>> Program::Jobs() const {
  TD_ASSIGN_OR_RETURN(const client::Channel channel, Connect(worker, call_timeout()));
  return std::make_unique<client::JobsClient>(channel, call_timeout());
}

void Program::Print(const Json& object, const Row& heads, const std::vector<Row>& rows) const {
  if (json()) {
    std::cout << Dump(object) << std::endl;
    return;
  }
  std::vector<size_t> widths(heads.size());
  const auto widen = [&widths](const Row& row) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  };
  widen(heads);
  std::for_each(rows.begin(), rows.end(), widen);
  std::cout << Line(heads, widths) << "\n";
  for (const Row& row : rows) std::cout << Line(row, widths) << "\n";
  std::cout << std::flush;
}

void Program::Print(const Json& object, const std::string& line) const {
  std::cout << (json() ? Dump(object) : line) << std::endl;
}

}  // namespace tapedeck::services::tapectl
