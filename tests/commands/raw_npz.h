#pragma once

#include <fmt/format.h>
#include <zip.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace palimpsest::testing {

/// An .npy of version 1.0 with any header and any data.
inline std::string npy_with_header(const std::string& header, const std::string& data) {
  std::string padded = header;
  padded.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10, ' ');
  padded.back() = '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(padded.size() & 0xFFU);
  bytes += static_cast<char>(padded.size() >> 8U);
  return bytes + padded + data;
}

/// The same with a header as numpy writes it; `shape` like "(3, 2)".
inline std::string npy(const std::string& descr, bool fortran_order, const std::string& shape,
                       const std::string& data) {
  return npy_with_header(fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr,
                                     fortran_order ? "True" : "False", shape),
                         data);
}

/// The bytes of `values`, each turned around for big endian (on the little-endian machines we build for).
template <class Number>
std::string number_bytes(const std::vector<Number>& values, bool turned = false) {
  std::string bytes;
  for (const Number value : values) {
    char raw[sizeof(Number)];
    std::memcpy(raw, &value, sizeof(Number));
    if (turned) std::reverse(std::begin(raw), std::end(raw));
    bytes.append(raw, sizeof(Number));
  }
  return bytes;
}

/// A zip archive of these members, stored.
inline void write_zip(const std::filesystem::path& path, const std::map<std::string, std::string>& members) {
  int error = 0;
  zip_t* archive = zip_open(path.string().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
  if (archive == nullptr) throw std::runtime_error("zip_open");
  for (const auto& [name, bytes] : members) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) throw std::runtime_error("zip_file_add");
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  if (zip_close(archive) != 0) throw std::runtime_error("zip_close");
}

}  // namespace palimpsest::testing
