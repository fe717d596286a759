#!/usr/bin/env bash
# Builds faiss-node's addon where npm fetched no prebuilt one and Debian's libraries are there:
#   apt-get install -y --no-install-recommends g++ libfaiss-dev libopenblas-dev
# Without them it says so and ends well: FAISS is optional. `--required`: then that is an error.
set -euo pipefail
cd "$(dirname "$0")/../.."

say() { echo "build:faiss: $*"; }
cannot() {
  say "$* Lares does without FAISS: usearch serves instead."
  [ "$required" = no ] || exit 1
  exit 0
}
required=no
[ "${1-}" != --required ] || required=yes

loads() { node -e 'require("faiss-node")' 2>/dev/null; }
folder_of() { node -p "require('node:path').dirname(require.resolve('$1/package.json'))" 2>/dev/null; }

package=$(folder_of faiss-node) || cannot "The optional package faiss-node is not installed."
if loads; then
  say "the addon loads already; nothing to do."
  exit 0
fi
headers=$(folder_of node-api-headers) || cannot "The package node-api-headers is not installed (npm ci)."
wrapper=$(cd "$package" && folder_of node-addon-api) || cannot "The package node-addon-api is not installed."
command -v g++ >/dev/null || cannot "There is no g++."
library=/usr/include/faiss/Index.h
[ -e "$library" ] || cannot "There is no $library (Debian: libfaiss-dev)."

out="$package/build/Release/faiss-node.node"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# faiss 1.7.3, which Debian 12 has, keeps idx_t inside of Index; faiss-node expects it beside.
if ! grep -q 'idx_t' /usr/include/faiss/MetricType.h; then
  printf '#include <cstdint>\nnamespace faiss { using idx_t = int64_t; }\n' >"$work/compat.h"
else
  : >"$work/compat.h"
fi
say "compiling $package/src/faiss.cc with $(g++ --version | head -n 1)"
g++ -O3 -std=c++17 -fPIC -shared -fopenmp -DNAPI_VERSION=8 -DNODE_GYP_MODULE_NAME=faiss-node \
  -I"$headers/include" -I"$wrapper" -include "$work/compat.h" \
  "$package/src/faiss.cc" -o "$work/faiss-node.node" -lfaiss -lopenblas ||
  cannot "It does not compile (is libopenblas-dev there?)."
mkdir -p "$(dirname "$out")"
# In place as a whole: a build that was interrupted leaves nothing that looks like an addon.
cp "$work/faiss-node.node" "$out.new"
mv "$out.new" "$out"
loads || {
  rm -f "$out"
  cannot "It was built and does not load."
}
say "built $out"
