# Writes OUTPUT, the C++ file that holds the FILES of a page (cmake -P; lists are separated by "|").
# Bytes are written as numbers: no text can end them.
set(types_html "text/html; charset=utf-8")
set(types_css "text/css; charset=utf-8")
set(types_js "text/javascript; charset=utf-8")
set(types_svg "image/svg+xml")

string(REPLACE "|" ";" FILES "${FILES}")
set(arrays "")
set(table "")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  get_filename_component(extension "${file}" LAST_EXT)
  string(SUBSTRING "${extension}" 1 -1 extension)
  string(MAKE_C_IDENTIFIER "${name}" identifier)
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "constexpr char ${identifier}[] = {${bytes}'\\0'};\n")
  set(path "/${name}")
  if(name STREQUAL "index.html")
    set(path "/")
  endif()
  string(APPEND table "    {\"${path}\", \"${types_${extension}}\", ${identifier}},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from src/lab/page.
#include \"lab/page_files.hpp\"

namespace holdfast::lab {

namespace {

${arrays}
constexpr PageFile table[] = {
${table}};

}  // namespace

std::span<const PageFile> page_files() { return table; }

}  // namespace holdfast::lab
")
