// cxx.cc - the header in a C++ program.
#include <cstdio>
#include <cstring>

#include "paddlemps.h"

int main() {
  const bool good = pmps_abi_version() == PMPS_ABI_VERSION && std::strcmp(pmps_code_name(PMPS_FORKED), "FORKED") == 0;
  std::printf("%s cxx_programs_link\n", good ? "ok" : "FAIL");
  return good ? 0 : 1;
}
