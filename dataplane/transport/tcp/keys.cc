#include "dataplane/transport/tcp/keys.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <string.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::tcp {
namespace {

struct FreeKdf {
  void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
  void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
};

// Another text for anything that is made of the same secret, or in another way.
constexpr absl::string_view kFromListener = "tapedeck rail 1 aes-128-gcm listener to caller";
constexpr absl::string_view kFromCaller = "tapedeck rail 1 aes-128-gcm caller to listener";

OSSL_PARAM Octets(const char* name, std::span<const uint8_t> bytes) {
  // Parameters that are set are only read.
  return OSSL_PARAM_construct_octet_string(name, const_cast<uint8_t*>(bytes.data()), bytes.size());
}

absl::StatusOr<DirectionKeys> Derive(const KeyMaterial& material, absl::string_view direction) {
  std::array<uint8_t, 2 * kTokenBytes> salt;
  std::ranges::copy(material.caller, std::ranges::copy(material.listener, salt.begin()).out);
  std::array<uint8_t, sizeof(DirectionKeys)> bytes;
  TD_RETURN_IF_ERROR(
      HkdfSha256(material.secret, salt,
                 {reinterpret_cast<const uint8_t*>(direction.data()), direction.size()}, bytes));
  DirectionKeys keys;
  auto from = bytes.begin();
  for (const std::span<uint8_t> part :
       {std::span<uint8_t>(keys.key), std::span<uint8_t>(keys.salt), std::span<uint8_t>(keys.iv)}) {
    std::copy_n(from, part.size(), part.begin());
    from += static_cast<ptrdiff_t>(part.size());
  }
  explicit_bzero(bytes.data(), bytes.size());
  return keys;
}

}  // namespace

absl::Status HkdfSha256(std::span<const uint8_t> secret, std::span<const uint8_t> salt,
                        std::span<const uint8_t> info, std::span<uint8_t> out) {
  const std::unique_ptr<EVP_KDF, FreeKdf> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  if (kdf == nullptr) return absl::InternalError("EVP_KDF_fetch: OpenSSL has no HKDF");
  const std::unique_ptr<EVP_KDF_CTX, FreeKdf> context(EVP_KDF_CTX_new(kdf.get()));
  if (context == nullptr) return absl::InternalError("EVP_KDF_CTX_new: no memory");
  std::array<char, 7> digest = {"SHA256"};
  std::vector<OSSL_PARAM> parameters = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      Octets(OSSL_KDF_PARAM_KEY, secret)};
  // OpenSSL takes none that is empty.
  if (!salt.empty()) parameters.push_back(Octets(OSSL_KDF_PARAM_SALT, salt));
  if (!info.empty()) parameters.push_back(Octets(OSSL_KDF_PARAM_INFO, info));
  parameters.push_back(OSSL_PARAM_construct_end());
  if (EVP_KDF_derive(context.get(), out.data(), out.size(), parameters.data()) != 1) {
    return absl::InternalError("EVP_KDF_derive: OpenSSL's HKDF failed");
  }
  return absl::OkStatus();
}

absl::StatusOr<ConnectionKeys> DeriveKeys(const KeyMaterial& material, Side own) {
  TD_ASSIGN_OR_RETURN(const DirectionKeys from_listener, Derive(material, kFromListener));
  TD_ASSIGN_OR_RETURN(const DirectionKeys from_caller, Derive(material, kFromCaller));
  if (own == Side::kListener) {
    return ConnectionKeys{.send = from_listener, .receive = from_caller};
  }
  return ConnectionKeys{.send = from_caller, .receive = from_listener};
}

}  // namespace tapedeck::dataplane::tcp
