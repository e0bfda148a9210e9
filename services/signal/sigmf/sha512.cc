#include "services/signal/sigmf/sha512.h"

#include <openssl/evp.h>

#include "absl/strings/escaping.h"

namespace tapedeck::services::sigmf {

// SHA-512 of OpenSSL's default provider cannot fail on bytes in memory.
struct Sha512Sum::State {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free};
};

Sha512Sum::Sha512Sum() : state_(std::make_unique<State>()) {
  EVP_DigestInit_ex(state_->context.get(), EVP_sha512(), nullptr);
}

Sha512Sum::~Sha512Sum() = default;

void Sha512Sum::Add(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size());
}

std::string Sha512Sum::Hex() {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  EVP_DigestFinal_ex(state_->context.get(), reinterpret_cast<unsigned char*>(digest.data()), &size);
  digest.resize(size);
  return absl::BytesToHexString(digest);
}

std::string Sha512(absl::string_view text) {
  Sha512Sum sum;
  sum.Add(std::as_bytes(std::span<const char>(text)));
  return sum.Hex();
}

}  // namespace tapedeck::services::sigmf
