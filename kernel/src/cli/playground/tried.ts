import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject } from "../../base/json.ts";
import { manifestNames } from "../../documents/names.ts";
import { formatOf, parseDocument } from "../../documents/text/parse.ts";

/** What the playground takes from the manifest of the extension that is tried, before any kernel has checked it. */
export interface Tried {
  readonly id: string;
  /** Its own events, without its id. */
  readonly events: readonly string[];
  /** Events of other extensions that its hooks wait for, by their publisher. */
  readonly heard: ReadonlyMap<string, readonly string[]>;
}

/** Reads the manifest in a folder; null if there is none. What is missing or wrong in it is left to its kernel, which says so. */
export async function readTried(folder: string): Promise<Tried | null> {
  for (const name of manifestNames) {
    const text = await readFile(join(folder, name), "utf8").catch(() => null);
    const format = formatOf(name);
    if (text !== null && format !== undefined) return triedOf(parseDocument(text, format).value);
  }
  return null;
}

const eventName = /^([a-z0-9.-]+)\/([A-Za-z][A-Za-z0-9]*)$/;

export function triedOf(manifest: unknown): Tried {
  const extension = objectIn(objectIn(manifest)["extension"]);
  const id = typeof extension["id"] === "string" ? extension["id"] : "";
  const heard = new Map<string, string[]>();
  for (const hook of listIn(extension["hooks"])) {
    const [, publisher, event] = eventName.exec(String(objectIn(hook)["on"])) ?? [];
    if (publisher === undefined || event === undefined || publisher === id) continue;
    const known = heard.get(publisher) ?? [];
    heard.set(publisher, known.includes(event) ? known : [...known, event]);
  }
  const events = [
    ...names(extension["events"]),
    ...listIn(objectIn(extension["permissions"])["emit_events"]).filter((name) => typeof name === "string"),
  ].filter((name) => eventName.test(`a/${name}`));
  return { id, events: [...new Set(events)], heard };
}

const objectIn = (value: unknown): Readonly<Record<string, unknown>> => (isJsonObject(value) ? value : {});
const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const names = (list: unknown): string[] =>
  listIn(list).flatMap((item) => {
    const { name } = objectIn(item);
    return typeof name === "string" ? [name] : [];
  });
