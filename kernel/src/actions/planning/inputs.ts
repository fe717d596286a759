import { invalidParams, limitExceeded, notFound, scopeViolation, stale } from "../../base/errors.ts";
import { plainText } from "../../base/plain-text.ts";
import { quotedText } from "../../base/visible-text.ts";
import type { EffectInput } from "../../base/vocabulary/action.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import { canonicalPath, maxNameBytes, tooLongName } from "../../policy/paths.ts";
import { actionLimits } from "../limits.ts";
import type { FileNode, Node, Overlay } from "./overlay.ts";

/** Returns the canonical path of an entry. Rejects paths outside the workspace and the workspace itself. */
export function entryPath(input: string): string {
  const canonical = canonicalPath(input);
  if (!canonical.ok) throw scopeViolation(input, `The path ${JSON.stringify(input)} ${canonical.reason}.`);
  if (canonical.path === ".")
    throw invalidParams("An effect cannot change the workspace folder itself. Name a file or folder in it.");
  return canonical.path;
}

/**
 * Rejects a new path that no file system takes, or whose name would look like another one, before a person is asked about it.
 */
export function checkNames(path: string): void {
  if (plainText(path) !== path)
    throw invalidParams(
      `The name ${quotedText(path)} has characters that are invisible, or that reorder the text around them. Choose a name without them.`,
      { path },
    );
  const found = tooLongName(path);
  if (found === null) return;
  const start = found.name.slice(0, 40).toWellFormed();
  throw invalidParams(
    `The name "${start}…" has ${found.bytes} bytes; a name of a file or folder may have at most ${maxNameBytes}. Choose a shorter one.`,
    { path },
  );
}

export function fileOf(path: string, node: Node): FileNode {
  if (node.kind === "absent") throw notFound("file", path);
  if (node.kind === "folder")
    throw invalidParams(`${JSON.stringify(path)} is a folder, not a file.`, { path });
  return node;
}

export async function checkExpected(
  overlay: Overlay,
  path: string,
  node: Node,
  expected: Hash | null | undefined,
): Promise<void> {
  if (expected === undefined) return;
  const found = node.kind === "file" ? await overlay.hashOf(path, node) : null;
  if (found === expected) return;
  const is = found === null ? "does not exist" : `has the content ${found}`;
  throw stale(
    path,
    `${JSON.stringify(path)} ${is}. The proposal expected ${expected ?? "that it does not exist"}.`,
  );
}

export function contentOf(input: Extract<EffectInput, { kind: "file.write" }>): Uint8Array {
  if ("content" in input) {
    if (!input.content.isWellFormed())
      throw invalidParams('"content" is not valid Unicode. Use "content_base64".');
    return new TextEncoder().encode(input.content);
  }
  try {
    return Uint8Array.from(atob(input.content_base64), (character) => character.charCodeAt(0));
  } catch (error) {
    if (error instanceof DOMException) throw invalidParams('"content_base64" is not valid base64.');
    throw error;
  }
}

/** Rejects a file that is too large to be edited, before it is read. */
export function checkEditable(path: string, { size }: FileNode): void {
  if (size <= actionLimits.previewFileBytes) return;
  throw limitExceeded(
    "previewFileBytes",
    size,
    `${JSON.stringify(path)} has ${size} bytes. Only files up to ${actionLimits.previewFileBytes} bytes can be written or edited.`,
  );
}

/** Rejects a file that is too large to be kept for an undo. */
export function checkKeepable(path: string, { size }: FileNode, instead: string): void {
  if (size <= actionLimits.preimageBytes) return;
  throw limitExceeded(
    "preimageBytes",
    size,
    `${JSON.stringify(path)} has ${size} bytes, more than can be stored for an undo (${actionLimits.preimageBytes}). ${instead}.`,
  );
}
