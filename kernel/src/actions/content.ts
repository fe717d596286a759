import { unlimitedCpu } from "../base/cpu-budget.ts";
import { invalidParams, limitExceeded, LaresError, notFound } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import type { Effect } from "../base/vocabulary/action.ts";
import { fingerprint } from "./fingerprint.ts";
import { actionLimits } from "./limits.ts";
import type { EffectRecord } from "./action-record.ts";
import { valueOf, type Operation } from "./operations.ts";
import type { ActionPorts } from "./ports.ts";

/**
 * Returns a piece of the content before or after an effect. Stored contents come from the object store. Before the
 * commit, the side "before" is read from the workspace's own file as long as it is unchanged (Stale otherwise).
 */
export async function readContent(
  ports: Pick<ActionPorts, "files" | "contents" | "objects">,
  record: EffectRecord,
  side: "before" | "after",
  offset: number,
  length: number,
): Promise<{ bytes: Uint8Array; eof: boolean }> {
  if (length > actionLimits.contentRangeBytes) {
    throw limitExceeded(
      "contentRangeBytes",
      length,
      `At most ${actionLimits.contentRangeBytes} bytes can be read at once. Read the content in pieces.`,
    );
  }
  if (!record.contentsKept) throw noLongerKept(record.id);
  const { effect, operation } = checked(record);
  const hash = effect[side];
  if (hash === null) throw notFound("content", `${effect.path} (${side})`);
  if (operation.do === "metadata") {
    if (side === "before") throw notFound("content", `${effect.path} (before)`);
    if (operation.isStored === true) return ports.objects.readRange(hash, offset, length);
    const bytes = new TextEncoder().encode(canonicalJson(valueOf(operation.change)));
    return { bytes: bytes.subarray(offset, offset + length), eof: offset + length >= bytes.length };
  }
  if (await ports.objects.has(hash)) return ports.objects.readRange(hash, offset, length);
  for (const path of placesOf(operation)) {
    const stat = await ports.files.stat(path);
    if (stat?.kind === "file" && (await fingerprint(ports.contents, path, stat, unlimitedCpu)) === hash)
      return ports.files.readRange(path, offset, length);
  }
  throw new LaresError(
    "Stale",
    `The content of ${JSON.stringify(effect.path)} before the action is not stored, and the file has changed since.`,
    {
      path: effect.path,
    },
  );
}

/**
 * Returns the unified diff of one effect: the stored one, or one computed now if the action's diffs exceeded their
 * total limit. For a field or sidecar it is the new value as JSON. Null if the effect has no content, if a side is not
 * text, or if a side is longer than `diffTextBytes`. Rejects as `readContent` does.
 */
export async function readDiff(
  ports: Pick<ActionPorts, "files" | "contents" | "objects">,
  record: EffectRecord,
): Promise<string | null> {
  const { effect, operation } = checked(record);
  if (effect.diff !== undefined) return effect.diff;
  if (operation.do === "move" || operation.do === "mkdir" || operation.do === "rmdir") return null;
  if (operation.do === "metadata" && (operation.change.kind === "tag" || effect.after === null)) return null;
  const side = (of: "before" | "after") => readShort(ports, record, of);
  const before = operation.do === "metadata" || effect.before === null ? null : await side("before");
  const after = effect.after === null ? null : await side("after");
  if (before === tooLong || after === tooLong) return null;
  const isJson = operation.do === "metadata";
  const { diff } = await ports.contents.change(
    {
      path: effect.path,
      old: before === null ? null : { bytes: before },
      made: after === null ? { from: "nothing" } : { from: "content", bytes: after, isJson },
      wantsDiff: true,
    },
    unlimitedCpu,
  );
  return diff ?? null;
}

const tooLong = Symbol("longer than is shown");

async function readShort(
  ports: Pick<ActionPorts, "files" | "contents" | "objects">,
  record: EffectRecord,
  side: "before" | "after",
): Promise<Uint8Array | typeof tooLong> {
  const { bytes, eof } = await readContent(ports, record, side, 0, actionLimits.diffTextBytes + 1);
  return eof && bytes.length <= actionLimits.diffTextBytes ? bytes : tooLong;
}

/** The action ended long ago, or many others have ended since. */
export function noLongerKept(id: string): LaresError {
  return new LaresError(
    "NotFound",
    `The contents of the action ${id} are no longer stored, so it can neither be shown nor undone.`,
    { what: "content", name: id },
  );
}

function checked({ effect, operation, index, count }: EffectRecord): {
  effect: Effect;
  operation: Operation;
} {
  if (effect !== null && operation !== null) return { effect, operation };
  throw invalidParams(`There is no effect ${index}. The action has ${count}, counted from 0.`);
}

function placesOf(operation: Operation): string[] {
  if (operation.do === "move") return operation.kind === "file" ? [operation.from, operation.to] : [];
  return "path" in operation ? [operation.path] : [];
}
