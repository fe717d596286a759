import { applyPatch, parsePatch, reversePatch } from "diff";
import { diff3Merge } from "node-diff3";
import { stale } from "../../base/errors.ts";
import { sha256 } from "../../platform/files/hash.ts";
import type { NewContent } from "../content-requests.ts";
import { textOf } from "../text.ts";

/**
 * Returns the proposed content, merged into the current content: the proposal itself if its base is unchanged,
 * otherwise a three-way merge by lines. Throws Stale if both changed the same lines, if the file is gone or new, or if
 * it is not text.
 */
export function merged(
  path: string,
  { base, proposed, diff }: Extract<NewContent, { from: "merge" }>,
  now: Uint8Array | null,
): Uint8Array {
  if ((now === null ? null : sha256(now)) === base) return proposed;
  if (now === null) throw noLongerApplies(path, "no longer exists");
  if (base === null) throw noLongerApplies(path, "exists now");
  const [ours, theirs] = [textOf(proposed), textOf(now)];
  const original = ours === null || diff === null ? null : originalOf(ours, diff, base);
  if (ours === null || theirs === null || original === null)
    throw noLongerApplies(path, "has changed, and its original text is no longer known");
  const regions = diff3Merge(linesOf(ours), linesOf(original), linesOf(theirs), {
    excludeFalseConflicts: true,
  });
  const lines: string[] = [];
  for (const region of regions) {
    if (region.ok === undefined) throw noLongerApplies(path, "has other changes in the same lines");
    for (const line of region.ok) lines.push(line);
  }
  const text = lines.join("");
  if (text === theirs) throw noLongerApplies(path, "already contains this change");
  return new TextEncoder().encode(text);
}

/** Returns the text that the diff starts from, given its result; null if that text does not have this hash. */
function originalOf(changed: string, diff: string, base: string): string | null {
  const [patch] = parsePatch(diff);
  if (patch === undefined) return null;
  // Line ends are part of the text.
  const original = applyPatch(changed, reversePatch(patch), { autoConvertLineEndings: false });
  return original !== false && sha256(original) === base ? original : null;
}

/** The lines of a text, each with its line end. */
function linesOf(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

function noLongerApplies(path: string, why: string) {
  return stale(path, `The change no longer applies: ${JSON.stringify(path)} ${why}.`);
}
