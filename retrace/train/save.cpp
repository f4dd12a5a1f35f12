#include "retrace/train/save.h"

#include <fmt/format.h>

#include <set>

#include "retrace/base/file.h"
#include "retrace/train/foreign_file.h"
#include "retrace/train/npz.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace {

// Throws unless the names are the paths of one tree.
void check_paths(const SafeTensors& file, const std::string& path) {
  std::set<std::string_view> names;
  for (const auto& tensor : file.tensors) names.insert(tensor.name);
  for (const std::string_view name : names) {
    bool good = !name.empty() && name.front() != '/' && name.back() != '/' && name.find("//") == name.npos;
    for (size_t end = name.find('/'); good && end != name.npos; end = name.find('/', end + 1))
      good = !names.contains(name.substr(0, end));
    if (good) continue;
    throw Error(ErrorKind::bad_data, 546,
                fmt::format("\"{}\": the tensor \"{}\" has a name that is no path of a tree", printable(path),
                            printable(name.substr(0, 200))));
  }
}

// The branch or leaf of that path, made now.
Tree& entry_of(Tree& tree, std::string_view path) {
  const size_t end = path.find('/');
  Tree& child = tree[path.substr(0, end)];
  return end == path.npos ? child : entry_of(child, path.substr(end + 1));
}

}  // namespace

void save(const Tree& tree, const std::string& path, Place place) {
  with_place(place, [&] {
    if (tree.is_leaf())
      throw Error(ErrorKind::usage, 547, "save: a single tensor has no name in a file")
          .expected("a tree with names")
          .help("save({{\"x\", x}}, path)");
    check_own_ending(path);
    if (path.ends_with(".npz"))
      write_npz(path, to_safetensors(tree));
    else
      write_safetensors(path, to_safetensors(tree));
  });
}

Tree load(const std::string& path, Place place) {
  return with_place(place, [&] {
    const SafeTensors file = read_tensors(path);
    check_paths(file, path);
    check_fingerprints(file, path);
    Tree tree;
    for (const auto& tensor : file.tensors) entry_of(tree, tensor.name) = tensor_of(tensor, path);
    return tree;
  });
}

}  // namespace retrace
