#include "services/rpc/identity/caller_tokens.h"

#include <openssl/crypto.h>
#include <sys/random.h>

#include "absl/strings/str_cat.h"
#include "services/rpc/identity/caller.h"

namespace tapedeck::services::identity {
namespace {

// Between identity and certificate: no identity has it, as all of one is printable.
constexpr char kBetween = '\0';

}  // namespace

absl::StatusOr<CallerTokens> CallerTokens::Create() {
  Secret secret;
  // Up to 256 bytes come whole once the system has booted: getrandom(2).
  if (getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size())) {
    return absl::InternalError("getrandom: no random numbers for calls of the process itself");
  }
  return CallerTokens(secret);
}

std::string CallerTokens::Write(const Caller& caller) const {
  std::string text(secret_.data(), secret_.size());
  absl::StrAppend(&text, caller.peer, absl::string_view(&kBetween, 1), caller.certificate);
  return text;
}

absl::StatusOr<Caller> CallerTokens::Read(absl::string_view text) const {
  const size_t end = text.find(kBetween, secret_.size());
  // Takes as long whatever the bytes are, so that nobody learns them one by one.
  const bool own = text.size() > secret_.size() &&
                   CRYPTO_memcmp(text.data(), secret_.data(), secret_.size()) == 0;
  if (!own || end == absl::string_view::npos) {
    return AccessDenied({}, "the call has a token that this process did not make");
  }
  return Caller{.peer = std::string(text.substr(secret_.size(), end - secret_.size())),
                .acting_for = "",
                .certificate = std::string(text.substr(end + 1))};
}

}  // namespace tapedeck::services::identity
