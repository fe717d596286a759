import { maxPathLength } from "../base/vocabulary/bounds.ts";
import { foldName } from "../base/names.ts";

type CanonicalPath =
  { readonly ok: true; readonly path: string } | { readonly ok: false; readonly reason: string };

/**
 * Returns a path as the kernel writes it: relative to the workspace, "/" between names, no "." or "..", no trailing
 * slash; "." is the workspace itself. Unicode is left unchanged (two forms may be two files); the two functions below
 * compare paths.
 *
 * A path that only Windows would interpret differently is refused everywhere, so that a path means the same on each
 * machine that opens the workspace. The reason completes the sentence "The path … ".
 */
export function canonicalPath(input: string): CanonicalPath {
  const refuse = (reason: string): CanonicalPath => ({ ok: false, reason });
  if (input === "") return refuse("is empty");
  if (input.length > maxPathLength) return refuse(`has more than ${maxPathLength} characters`);
  if (controlCharacter.test(input)) return refuse("contains a control character");
  if (!input.isWellFormed()) return refuse("is not valid Unicode");
  if (input.includes("\\")) return refuse('contains a backslash; write "/" between folders');
  if (input.startsWith("/")) return refuse("is absolute; write it relative to the workspace");
  if (/^[A-Za-z]:/.test(input)) return refuse("names a drive; write it relative to the workspace");

  const names: string[] = [];
  for (const name of input.split("/")) {
    if (name === "" || name === ".") continue;
    if (name === "..") return refuse('contains ".."; write it relative to the workspace');
    const fault = nameFault(name);
    if (fault !== null) return refuse(fault);
    names.push(name);
  }
  return { ok: true, path: names.length === 0 ? "." : names.join("/") };
}

// eslint-disable-next-line no-control-regex -- they are what is looked for
const controlCharacter = /[\u0000-\u001f\u007f]/;

function nameFault(name: string): string | null {
  if (name.includes(":")) return `contains ":" in "${name}", which Windows reads as a drive or a stream`;
  if (/[. ]$/.test(name)) return `contains "${name}", which ends in a dot or a space that Windows drops`;
  if (deviceName.test(name)) return `contains "${name}", which is a device on Windows`;
  return null;
}

const deviceName = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?: *\..*)?$/i;

/**
 * True if `path` is `folder` or lies in it, in exactly this spelling; both canonical, "." is the whole workspace. For
 * checks that grant: granting one spelling does not grant a folder that only looks the same.
 */
export function isWithinExactly(folder: string, path: string): boolean {
  return folder === "." || path === folder || path.startsWith(`${folder}/`);
}

/**
 * Returns the path with each name folded, so that spellings that some file system treats as equal (Unicode form, case,
 * trailing dots) are one. For checks that restrict: another spelling does not evade a restriction. "." stays.
 */
export function foldPath(path: string): string {
  return path === "." ? "." : path.split("/").map(foldName).join("/");
}

/** Returns the folders above a path, the outermost first, without the workspace itself. */
export function foldersAbove(path: string): string[] {
  const above: string[] = [];
  for (let parent = parentOf(path); parent !== null && parent !== "."; parent = parentOf(parent))
    above.push(parent);
  return above.toReversed();
}

/** The maximum length of a name in bytes, on every common file system. */
export const maxNameBytes = 255;

/** Returns the first name of a path that is too long for a new file or folder, and how long it is; null if none is. */
export function tooLongName(path: string): { readonly name: string; readonly bytes: number } | null {
  for (const name of path.split("/")) {
    const bytes = new TextEncoder().encode(name).length;
    if (bytes > maxNameBytes) return { name, bytes };
  }
  return null;
}

/** Returns the folder that contains a path; "." for a path at the top, null for the workspace itself. */
export function parentOf(path: string): string | null {
  if (path === ".") return null;
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "." : path.slice(0, slash);
}
