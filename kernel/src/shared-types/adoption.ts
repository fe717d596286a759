import { isLaresError, LaresError, messageOf } from "../base/errors.ts";
import { canonicalJson, isJsonObject, wellFormed } from "../base/json.ts";
import { type Foreign, isForeign } from "../base/vocabulary/foreign.ts";
import type { SharedTypeDefinition } from "../base/vocabulary/shared-type.ts";
import { sharedTypeBounds } from "./bounds.ts";
import type { Migrate, SharedTypePorts } from "./ports.ts";
import type { StoredType, TypeRows, ValueRow } from "./type-rows.ts";

/** Stored schemas that were found equal to a declared definition. Cached, because every call compares, and schemas may be long. */
const foundSame = new WeakMap<SharedTypeDefinition, string>();

/** Returns true if the stored and the declared definition are the same. */
export function isSameDefinition(stored: StoredType, declared: SharedTypeDefinition): boolean {
  if (stored.version !== declared.version || stored.key !== declared.key) return false;
  if (foundSame.get(declared) === stored.schema) return true;
  const isSame = canonicalJson(JSON.parse(stored.schema)) === canonicalJson(declared.schema);
  if (isSame) foundSame.set(declared, stored.schema);
  return isSame;
}

interface Rooms {
  readonly rows: TypeRows;
  readonly ports: Pick<SharedTypePorts, "misfitAmong" | "foreign">;
}

/**
 * Puts a declared definition into force. If its version is higher, `migrate` converts the values first. Changes nothing and throws
 * InvalidDocument, naming the first misfit, unless all values fit.
 */
export async function adoptDefinition(
  rooms: Rooms,
  stored: StoredType | null,
  type: string,
  declared: SharedTypeDefinition,
  migrate: Migrate | null,
): Promise<void> {
  if (stored === null || stored.count === 0) return await rooms.rows.adopt(type, declared);
  const isMigrated = migrate !== null && declared.version > stored.version;
  const changed: Pick<ValueRow, "key" | "value">[] = [];
  const marked: { readonly keys: readonly string[]; readonly foreign: Foreign }[] = [];
  const { foreign: marks } = rooms.ports;
  let characters = 0;
  const batches = isMigrated
    ? unmarkedFirst(rooms.rows, type, (key) => marks.isMarked(type, key))
    : batchesOf(rooms.rows, type);
  for await (const batch of batches) {
    const before = batch.map(({ value }): unknown => JSON.parse(value));
    const keys = batch.map(({ key }) => key);
    const read = isMigrated ? marks.reading(type, keys) : null;
    const values = isMigrated ? await migrated(migrate, stored, declared, before) : before;
    await refuseMisfit(rooms, stored, declared, batch, values);
    if (read === null) continue;
    const rewritten: string[] = [];
    for (const [index, { key, value: old }] of batch.entries()) {
      const value = canonicalJson(wellFormed(values[index]));
      if (value !== old) rewritten.push(key);
      characters += value.length;
      if (value.length > sharedTypeBounds.valueCharacters || characters > sharedTypeBounds.allCharacters)
        throw refusal(stored, declared, `its value ${JSON.stringify(key)} is too large after migrate`);
      changed.push({ key, value });
    }
    // The program may have copied text from any value that it had read.
    const { foreign } = read;
    if (isForeign(foreign)) marked.push({ keys: rewritten, foreign });
  }
  for (const { keys, foreign } of marked) await marks.mark(type, keys, foreign);
  await rooms.rows.adopt(type, declared, changed);
}

function refusal(
  { type, version: before }: StoredType,
  { version }: SharedTypeDefinition,
  why: string,
): LaresError {
  const change =
    version === before ? "changed and kept its version" : `changed from version ${before} to ${version}`;
  const help =
    version > before
      ? "Let migrate of the program return values that fit, or keep to a schema that its values fit."
      : "Raise its version and add migrate to the program, or keep to a schema that its values fit.";
  return new LaresError("InvalidDocument", `The type ${type} ${change}, but ${why}. ${help}`);
}

/** Throws the refusal for the first value that does not fit, or has another key. */
async function refuseMisfit(
  { ports }: Rooms,
  stored: StoredType,
  declared: SharedTypeDefinition,
  batch: readonly ValueRow[],
  values: readonly unknown[],
): Promise<void> {
  const { type } = stored;
  const { key, schema } = declared;
  const misfit = await ports.misfitAmong(ownerOf(type), type, schema, values);
  if (misfit?.kind === "unchecked")
    throw refusal(stored, declared, `its values could not be checked: ${misfit.message.replace(/\.$/, "")}`);
  const moved = batch.findIndex((row, index) => keyOf(values[index], key) !== row.key);
  const nameOf = (index: number): string => JSON.stringify(batch[index]?.key);
  if (misfit !== null && (moved === -1 || misfit.index <= moved)) {
    const where = misfit.path === "" ? "it" : misfit.path;
    throw refusal(
      stored,
      declared,
      `its value ${nameOf(misfit.index)} does not fit: ${where} ${misfit.message}`,
    );
  }
  if (moved !== -1)
    throw refusal(
      stored,
      declared,
      `its value ${nameOf(moved)} has another ${JSON.stringify(key)}, by which it is found`,
    );
}

/** Returns the extension of a type. */
export const ownerOf = (type: string): string => type.slice(0, type.indexOf("/"));

/** Returns what a value has at its key property. */
export function keyOf(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

async function migrated(
  migrate: Migrate,
  stored: StoredType,
  declared: SharedTypeDefinition,
  values: readonly unknown[],
): Promise<readonly unknown[]> {
  let answer: readonly unknown[];
  try {
    answer = await migrate(declared.name, stored.version, values);
  } catch (error) {
    // The program ended, which has its own message.
    if (isLaresError(error, "AgentError")) throw error;
    throw refusal(stored, declared, `migrate failed: ${messageOf(error).replace(/\.$/, "")}`);
  }
  if (answer.length === values.length) return answer;
  throw refusal(stored, declared, `migrate returned ${answer.length} values for ${values.length}`);
}

/** Sorts unmarked values first, so that the program migrates them before it has read marked ones. */
async function* unmarkedFirst(
  rows: TypeRows,
  type: string,
  isMarked: (key: string) => boolean,
): AsyncGenerator<readonly ValueRow[]> {
  for (const wanted of [false, true])
    for await (const batch of batchesOf(rows, type)) {
      const some = batch.filter(({ key }) => isMarked(key) === wanted);
      if (some.length > 0) yield some;
    }
}

async function* batchesOf(rows: TypeRows, type: string): AsyncGenerator<readonly ValueRow[]> {
  for (let after: string | null = null; ;) {
    const batch: readonly ValueRow[] = await rows.after(type, after);
    const last = batch.at(-1);
    if (last === undefined) return;
    yield batch;
    after = last.key;
  }
}
