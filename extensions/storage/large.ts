import type { Context } from "./context.ts";
import { withLarge, type LargeFile } from "./memory.ts";
import { inUnits } from "./wording.ts";

/** The number of files that a notification names. */
const named = 5;

/** Records these large files, and warns once about those without a second copy. */
export async function warnAboutLarge(ctx: Context, seen: readonly LargeFile[]): Promise<void> {
  if (seen.length === 0) return;
  let alone: LargeFile[] = [];
  await ctx.memory.plan.update((memory) => {
    const next = withLarge(memory, seen);
    alone = next.alone;
    return next.memory;
  });
  const [first] = alone;
  if (first === undefined) return;
  for (const { path, size } of alone.slice(0, named)) {
    ctx.trace.warn(`${path} (${inUnits(size)}) has no second copy`, { path, size });
  }
  const title =
    alone.length === 1
      ? "A large file has no second copy"
      : `${alone.length} large files have no second copy`;
  const list = alone.slice(0, named).map(({ path, size }) => `${path} (${inUnits(size)})`);
  if (alone.length > named) list.push(`${alone.length - named} more`);
  await ctx.notify(title, list.join(", "), { severity: "warning" });
}
