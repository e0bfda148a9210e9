#include "services/base/addresses/service_records.h"

#include <arpa/nameser.h>
#include <netdb.h>
#include <resolv.h>

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/base/addresses/node_name.h"

namespace tapedeck::services::naming {
namespace {

constexpr int kSecondsOfServer = 2;
constexpr int kTries = 2;
constexpr size_t kFixedBytes = 3 * NS_INT16SZ;  // priority, weight and port before the name

class Resolver {
 public:
  Resolver() : ready_(res_ninit(&state_) == 0) {}
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver() {
    if (ready_) res_nclose(&state_);
  }

  // Null where the machine's settings cannot be read.
  res_state get() { return ready_ ? &state_ : nullptr; }

 private:
  struct __res_state state_ = {};
  const bool ready_;
};

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the name server's answer ", what));
}

absl::StatusOr<ServiceRecord> RecordOf(const ns_msg& message, const ns_rr& record) {
  if (ns_rr_rdlen(record) <= kFixedBytes) return Malformed("has a truncated record");
  const uint8_t* data = ns_rr_rdata(record);
  std::array<char, NS_MAXDNAME> name{};
  if (ns_name_uncompress(ns_msg_base(message), ns_msg_end(message), data + kFixedBytes, name.data(),
                         name.size()) < 0) {
    return Malformed("has an invalid name");
  }
  absl::string_view host = name.data();
  absl::ConsumeSuffix(&host, ".");
  // "." alone: there is decidedly no such service.
  if (!host.empty() && !IsHostName(host)) return Malformed("names something that is not a host");
  return ServiceRecord{.priority = static_cast<uint16_t>(ns_get16(data)),
                       .port = static_cast<uint16_t>(ns_get16(data + 2 * NS_INT16SZ)),
                       .host = std::string(host)};
}

absl::Status NoAnswer(int error) {
  if (error == HOST_NOT_FOUND) return absl::NotFoundError("there is no such name");
  if (error == NO_DATA) return absl::NotFoundError("it has no SRV records");
  return absl::UnavailableError("no name server answers");
}

}  // namespace

absl::StatusOr<std::vector<ServiceRecord>> ParseServiceRecords(absl::Span<const uint8_t> message) {
  ns_msg parsed;
  if (ns_initparse(message.data(), static_cast<int>(message.size()), &parsed) < 0) {
    return Malformed("is not a DNS message");
  }
  const size_t count = ns_msg_count(parsed, ns_s_an);
  if (count > kMaxServiceRecords) {
    return Malformed(
        absl::StrCat("has ", count, " records; at most ", kMaxServiceRecords, " are read"));
  }
  std::vector<ServiceRecord> out;
  for (size_t i = 0; i < count; ++i) {
    ns_rr record;
    if (ns_parserr(&parsed, ns_s_an, static_cast<int>(i), &record) < 0) {
      return Malformed("is cut");
    }
    if (ns_rr_type(record) != ns_t_srv || ns_rr_class(record) != ns_c_in) continue;
    absl::StatusOr<ServiceRecord> one = RecordOf(parsed, record);
    if (!one.ok()) return one.status();
    if (!one->host.empty()) out.push_back(*std::move(one));
  }
  return out;
}

absl::StatusOr<std::vector<ServiceRecord>> AskForService(const std::string& name,
                                                         const std::optional<sockaddr_in>& server) {
  Resolver resolver;
  res_state state = resolver.get();
  if (state == nullptr) return absl::UnavailableError("this machine's resolver is not set up");
  if (server.has_value()) {
    state->nscount = 1;
    state->nsaddr_list[0] = *server;
  }
  state->retrans = kSecondsOfServer;
  state->retry = kTries;
  std::vector<uint8_t> answer(NS_MAXMSG);
  const int bytes = res_nquery(state, name.c_str(), ns_c_in, ns_t_srv, answer.data(),
                               static_cast<int>(answer.size()));
  if (bytes < 0) return NoAnswer(state->res_h_errno);
  return ParseServiceRecords(
      absl::MakeConstSpan(answer).subspan(0, std::min<size_t>(bytes, answer.size())));
}

}  // namespace tapedeck::services::naming
