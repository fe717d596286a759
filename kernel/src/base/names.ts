/**
 * Folds a name to the form in which it is compared with the few names that need protection. Two names with the same
 * folded form may be the same file on some file system (NTFS, APFS, HFS+).
 */
export function foldName(name: string): string {
  const bare = name.normalize("NFC").replace(ignoredByHfs, "").split(":")[0] ?? "";
  // Upper case first: this also folds characters such as "ſ", which APFS treats as "s".
  return bare
    .toUpperCase()
    .toLowerCase()
    .replace(/(?<![. ])[. ]+$/, "")
    .normalize("NFC");
}

/** Folds a pattern over names as `foldName` folds the names, so that each folded name still matches. */
export function foldPattern(pattern: string): string {
  return pattern.normalize("NFC").replace(ignoredByHfs, "").toUpperCase().toLowerCase().normalize("NFC");
}

/** Code points that HFS+ ignores when it compares names. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** True for every spelling of ".git", including NTFS's short form "git~1". */
export function isGitName(name: string): boolean {
  const folded = foldName(name);
  return folded === ".git" || /^git~\d+$/.test(folded);
}

/**
 * Returns the name under which an action keeps a file beside the one it changes, until the action has ended. Such a
 * name is never an entry of the workspace; recovery removes files that a crash left behind.
 */
export function stagingName(actionId: string, count: number): string {
  return `.lares-${actionId}~${count}`;
}

export function isStagingName(name: string): boolean {
  return /^\.lares-[0-9a-f-]{36}~\d+$/.test(name);
}
