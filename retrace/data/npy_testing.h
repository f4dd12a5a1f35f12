#pragma once
// NPY files for tests.

#include <string>
#include <string_view>
#include <vector>

namespace retrace {

// A file of that header and those bytes of values. The header is filled with blanks, as numpy does it.
inline std::string npy_with_header(const std::string& dictionary, std::string_view values, int version = 1) {
  std::string header = dictionary;
  const size_t prefix = version == 1 ? 10 : 12;
  while ((prefix + header.size() + 1) % 64) header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version), file += '\0';
  for (size_t i = 8; i < prefix; ++i) file += static_cast<char>(header.size() >> (8 * (i - 8)));
  return file + header + std::string(values);
}

// A file of values in the order in which they are given.
template <class T>
std::string npy_of(const std::string& descr, const std::string& shape, const std::vector<T>& values,
                   bool fortran = false, int version = 1) {
  const std::string dictionary =
      "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
  return npy_with_header(dictionary, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)},
                         version);
}

}  // namespace retrace
