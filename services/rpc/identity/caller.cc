#include "services/rpc/identity/caller.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/rpc/identity/tls/openssl.h"

namespace tapedeck::services::identity {
namespace {

absl::Status NoName(absl::string_view why) {
  return AccessDenied({}, absl::StrCat("the caller's certificate gives no identity: ", why));
}

// The names of a certificate by kind, those that count first.
struct Names {
  std::vector<std::string> uris, hosts, common;
};

absl::StatusOr<std::string> NameIn(const Names& names) {
  if (names.uris.size() > 1) return NoName("it has more than one URI");
  for (const auto* kind : {&names.uris, &names.hosts, &names.common}) {
    if (kind->empty()) continue;
    const std::string& name = kind->front();
    // An authority that watches over URIs may let any common name pass.
    if (names.uris.empty() && name.find_first_of(":/") != std::string::npos) {
      return NoName("a name with : or / is a URI, and stands among the alternative names");
    }
    return name;
  }
  return NoName("it has no URI, no DNS name and no common name");
}

Names NamesIn(const grpc::AuthContext& connection) {
  const auto all = [&](const char* property) {
    std::vector<std::string> names;
    for (const auto& name : connection.FindPropertyValues(property)) {
      names.emplace_back(name.data(), name.size());
    }
    return names;
  };
  return {.uris = all(GRPC_PEER_URI_PROPERTY_NAME),
          .hosts = all(GRPC_PEER_DNS_PROPERTY_NAME),
          .common = all(GRPC_X509_CN_PROPERTY_NAME)};
}

std::string TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

Names NamesIn(const X509* certificate) {
  Names names;
  using Alternatives = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;
  const Alternatives alternatives(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(alternatives.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(alternatives.get(), i);
    if (name->type == GEN_URI) names.uris.push_back(TextOf(name->d.uniformResourceIdentifier));
    if (name->type == GEN_DNS) names.hosts.push_back(TextOf(name->d.dNSName));
  }
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  unsigned char* utf8 = nullptr;
  const int bytes = at < 0 ? -1
                           : ASN1_STRING_to_UTF8(
                                 &utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  if (bytes < 0) return names;
  names.common.emplace_back(reinterpret_cast<char*>(utf8), static_cast<size_t>(bytes));
  OPENSSL_free(utf8);
  return names;
}

std::string PemOf(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || PEM_write_bio_X509(bio.get(), certificate) != 1) return "";
  char* text = nullptr;
  const long bytes = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<size_t>(bytes)};
}

absl::Status CheckIdentity(absl::string_view name) {
  if (name.empty() || name.size() > kMaxIdentityBytes) {
    return NoName(absl::StrCat("a name has 1 to ", kMaxIdentityBytes, " bytes"));
  }
  for (absl::string_view left = name; !left.empty();) {
    const size_t bytes = dataplane::PrintableBytes(left);
    if (bytes == 0) return NoName("the name is not printable");
    left.remove_prefix(bytes);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Caller> CallerOf(const grpc::AuthContext& connection, absl::string_view acting_for) {
  Caller caller{.acting_for = std::string(acting_for)};
  TD_ASSIGN_OR_RETURN(caller.peer, NameIn(NamesIn(connection)));
  TD_RETURN_IF_ERROR(CheckIdentity(caller.peer));
  if (!acting_for.empty()) TD_RETURN_IF_ERROR(CheckIdentity(acting_for));
  const auto found = connection.FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (!found.empty()) caller.certificate.assign(found.front().data(), found.front().size());
  return caller;
}

absl::StatusOr<Caller> CallerOfCertificate(absl::string_view certificate) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(certificate.data());
  const Certificate parsed(d2i_X509(nullptr, &bytes, static_cast<long>(certificate.size())));
  if (parsed == nullptr) return NoName("it cannot be read");
  Caller caller;
  TD_ASSIGN_OR_RETURN(caller.peer, NameIn(NamesIn(parsed.get())));
  TD_RETURN_IF_ERROR(CheckIdentity(caller.peer));
  caller.certificate = PemOf(parsed.get());
  // What is revoked is known by it.
  if (caller.certificate.empty()) return NoName("it cannot be written as PEM");
  return caller;
}

absl::Status AccessDenied(const Denial& denial, absl::string_view text) {
  return WithReason(
      absl::PermissionDeniedError(text), "ACCESS_DENIED",
      {{"identity", denial.identity}, {"role", denial.role}, {"resource", denial.resource}});
}

bool IsAccessDenied(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() && reason->reason == "ACCESS_DENIED";
}

}  // namespace tapedeck::services::identity
