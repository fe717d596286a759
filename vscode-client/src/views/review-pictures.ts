import { workspace } from "vscode";
import { contentOf } from "../deciding/content.ts";
import { hasContents } from "../model/effect-text.ts";
import type { ClientContext } from "../feature.ts";
import { uriOf } from "../model/uris.ts";
import type { Action } from "../protocol.ts";
import { maxPictureCharacters } from "../webviews/review/messages.ts";

/** Larger pictures are not shown on a card. */
export const maxPictureBytes = Math.floor((maxPictureCharacters * 3) / 4) - 1_000;

const beginnings: readonly (readonly [type: string, at: number, bytes: readonly number[]])[] = [
  ["image/png", 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", 0, [0xff, 0xd8, 0xff]],
  ["image/gif", 0, [0x47, 0x49, 0x46, 0x38]],
  ["image/bmp", 0, [0x42, 0x4d]],
  ["image/webp", 8, [0x57, 0x45, 0x42, 0x50]],
  ["image/avif", 4, [0x66, 0x74, 0x79, 0x70, 0x61, 0x76, 0x69, 0x66]],
];

/**
 * Returns the media type of a picture from its bytes, not its name. Documents such as SVG do not count as pictures.
 */
export function pictureType(bytes: Uint8Array): string | undefined {
  return beginnings.find(([, at, magic]) => magic.every((byte, index) => bytes[at + index] === byte))?.[0];
}

/** Returns the picture that an effect moves or writes, as a data URL. */
export async function pictureOf(
  { kernel }: Pick<ClientContext, "kernel">,
  action: Action,
  index: number,
): Promise<{ data?: string; bytes?: number }> {
  const effect = action.effects[index];
  if (effect === undefined) return {};
  const bytes = hasContents(effect)
    ? await contentOf(kernel, action.id, index, effect.after === null ? "before" : "after")
    : await fileOf(action.state === "Committed" ? effect.path : (effect.from ?? effect.path));
  const type = bytes === null ? undefined : pictureType(bytes);
  if (bytes === null || type === undefined || bytes.length > maxPictureBytes) return {};
  return { data: `data:${type};base64,${Buffer.from(bytes).toString("base64")}`, bytes: bytes.length };
}

/** Returns a file of the workspace, or null if it cannot be read or is too large. */
async function fileOf(path: string): Promise<Uint8Array | null> {
  const uri = uriOf(path);
  if (uri === undefined) return null;
  try {
    const { size } = await workspace.fs.stat(uri);
    return size <= maxPictureBytes ? await workspace.fs.readFile(uri) : null;
  } catch {
    // The file is gone or cannot be read; the card has only text then.
    return null;
  }
}
