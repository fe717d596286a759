/**
 * Names as a careless file system might see them: the form in which a name is held against the few names
 * that protect something. Two names with one folded form may be one file somewhere (NTFS, APFS, HFS+).
 */
export function foldName(name: string): string {
  const bare = name.normalize("NFC").replace(ignoredByHfs, "").split(":")[0] ?? "";
  // Upper case first: it also folds characters such as "ſ", which APFS takes for an "s".
  return bare
    .toUpperCase()
    .toLowerCase()
    .replace(/[. ]+$/, "")
    .normalize("NFC");
}

/** Folds a pattern over names as `foldName` folds the names, so that each still matches what it matched. */
export function foldPattern(pattern: string): string {
  return pattern.normalize("NFC").replace(ignoredByHfs, "").toUpperCase().toLowerCase().normalize("NFC");
}

/** Code points that HFS+ leaves out when it compares names. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** True for ".git" in any disguise, NTFS's short form "git~1" included. */
export function isGitName(name: string): boolean {
  const folded = foldName(name);
  return folded === ".git" || /^git~\d+$/.test(folded);
}

/**
 * The name under which an action keeps a file beside the one it changes, until it has ended. Never an entry
 * of the workspace; recovery removes what a crash left behind.
 */
export function stagingName(actionId: string, count: number): string {
  return `.lares-${actionId}~${count}`;
}

export function isStagingName(name: string): boolean {
  return /^\.lares-[0-9a-f-]{36}~\d+$/.test(name);
}
