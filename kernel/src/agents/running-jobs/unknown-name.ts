import { LaresError } from "../../base/errors.ts";

/** Maximum number of a program's names in a refusal, which is stored with a dead job. */
const maxNamesShown = 10;

/** Throws NotFound unless the program has a job or task of this name. */
export function refuseUnknown(what: "job" | "task", name: string, names: ReadonlySet<string>): void {
  if (names.has(name)) return;
  const shown = [...names].slice(0, maxNamesShown).map((one) => `"${one}"`);
  const more = names.size - shown.length;
  const has = names.size === 0 ? "none" : `${shown.join(", ")}${more === 0 ? "" : `, and ${more} more`}`;
  throw new LaresError("NotFound", `The program has no ${what} "${name}"; it has ${has}.`, { what, name });
}
