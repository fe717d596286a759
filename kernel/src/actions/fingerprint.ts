import type { CpuBudget } from "../base/cpu-budget.ts";
import { canonicalJson } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { sha256 } from "../platform/hash.ts";
import type { FileStat } from "../platform/rooted-fs.ts";
import { actionLimits } from "./limits.ts";
import type { ContentWork } from "./ports.ts";

/**
 * What a file is compared by: the SHA-256 of its content; of one above `preimageBytes`, which can be moved and
 * nothing else, that of its inode, size and time of modification, because reading it would take minutes.
 * Null if it is gone.
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
