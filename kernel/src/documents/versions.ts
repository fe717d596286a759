const form = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

/** True for 1.2.3, with or without a pre-release or build. */
export function isVersion(text: string): boolean {
  return form.test(text);
}

/** True if `version` precedes `other` by major, minor and patch. */
export function isOlder(version: string, other: string): boolean {
  const left = form.exec(version)?.slice(1, 4).map(Number) ?? [];
  const right = form.exec(other)?.slice(1, 4).map(Number) ?? [];
  const first = left.findIndex((part, index) => part !== right[index]);
  return first >= 0 && (left[first] ?? 0) < (right[first] ?? 0);
}
