import type { CpuBudget } from "../base/cpu-budget.ts";
import { canonicalJson } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { FileStat } from "../platform/files/rooted-fs.ts";
import { actionLimits } from "./limits.ts";
import type { ContentWork } from "./ports.ts";

/**
 * Returns the hash by which a file is compared: the SHA-256 of its content. A file above `preimageBytes` can only be
 * moved, and reading it would take minutes, so its inode, size and modification time are hashed instead. Null if the
 * file is gone.
 */
export async function fingerprint(
  contents: ContentWork,
  path: string,
  stat: FileStat,
  budget: CpuBudget,
): Promise<Hash | null> {
  if (stat.size <= actionLimits.preimageBytes) return contents.hash(path, budget);
  const { device, inode, size, mtimeMs } = stat;
  return sha256(canonicalJson({ device, inode, size, mtimeMs }));
}
