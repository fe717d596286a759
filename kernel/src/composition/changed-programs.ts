import { isCovered, type AcceptedWishes, type Wishes } from "../decisions/wishes.ts";

/**
 * The extensions whose changed program is all that waits for a person's yes; none where anything else waits too.
 * Worked out from the wishes and never from the sentences a person is shown: those carry names a stranger chose.
 */
export function onlyChangedPrograms(wishes: Wishes, accepted: AcceptedWishes): string[] {
  const changed: string[] = [];
  const extensions = { ...wishes.extensions };
  for (const [id, wish] of Object.entries(wishes.extensions)) {
    const before = accepted.extensions[id];
    if (before === undefined || wish.program === null || wish.program === before.program) continue;
    changed.push(id);
    extensions[id] = { ...wish, program: before.program };
  }
  return isCovered({ ...wishes, extensions }, accepted) ? changed : [];
}
