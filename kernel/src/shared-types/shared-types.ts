import { neverAborted } from "../base/abort.ts";
import type { CpuBudget } from "../base/cpu-budget.ts";
import { invalidParams, LaresError, limitExceeded, notFound } from "../base/errors.ts";
import { canonicalJson, type JsonValue, wellFormed } from "../base/json.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { Slices } from "../base/slices.ts";
import type { SharedTypeDefinition } from "../base/vocabulary/shared-type.ts";
import { checkedConditions } from "../memory-contract/conditions.ts";
import { holdAll } from "../memory-contract/holds.ts";
import type { Where } from "../memory-contract/queries.ts";
import type { Database } from "../platform/database/database.ts";
import { adoptDefinition, isSameDefinition, keyOf, ownerOf } from "./adoption.ts";
import { sharedTypeBounds } from "./bounds.ts";
import type { Migrate, SharedTypePorts } from "./ports.ts";
import { type StoredType, TypeRows, type ValueRow } from "./type-rows.ts";

interface SharedValue {
  readonly version: number;
  readonly value: JsonValue;
}

interface SharedValuePage {
  readonly items: readonly SharedValue[];
  /** Where the next page begins; absent on the last page. */
  readonly cursor?: string;
}

interface ValueQuery {
  readonly where?: readonly Where[] | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

interface QueryOptions {
  readonly signal?: AbortSignal;
  /** Charged for the time of the query. */
  readonly cpu: CpuBudget;
  /** Receives the keys of values when they have been read, and before anything can be written. */
  readonly read?: (keys: readonly string[]) => void;
  /** Receives the keys of the page's values, before they are returned. */
  readonly found?: (keys: readonly string[]) => void;
}

const defaultPage = 100;

/**
 * Values of types that extensions declare, which agents of one workspace share. Permissions are checked before. An
 * acknowledged write survives the death of any process.
 */
export class SharedTypes {
  readonly #rows: TypeRows;
  readonly #ports: SharedTypePorts;
  readonly #slices: Slices;
  /**
   * Writes and changed definitions of one type, one at a time, because each is checked against the result of the others. The
   * open calls of each agent are limited.
   */
  readonly #turns = new OneAtATime();

  /** Requires a database with `sharedTypesMigrations` applied. */
  constructor(database: Database, slices: Slices, ports: SharedTypePorts) {
    this.#rows = new TypeRows(database);
    this.#ports = ports;
    this.#slices = slices;
  }

  /**
   * Puts an extension's definitions into force. `migrateOf` returns null for a type that the program cannot migrate. Throws
   * InvalidDocument that names the first value that does not fit.
   */
  async adopt(
    extension: string,
    definitions: readonly SharedTypeDefinition[],
    migrateOf: (name: string) => Migrate | null,
  ): Promise<void> {
    for (const declared of definitions) {
      const type = `${extension}/${declared.name}`;
      await this.#turns.run(type, async () => {
        const stored = await this.#rows.type(type);
        if (stored !== null && isSameDefinition(stored, declared)) return;
        const rooms = { rows: this.#rows, ports: this.#ports };
        await adoptDefinition(rooms, stored, type, declared, migrateOf(declared.name));
      });
    }
  }

  /** Returns the key of a value by the definition in force, or null. */
  async keyOfValue(type: string, value: unknown): Promise<string | null> {
    const key = keyOf(value, (await this.#ready(type)).key);
    return typeof key === "string" ? key : null;
  }

  /** Rejects with Conflict { revision } if the key has a value. */
  async create(caller: string, type: string, given: JsonValue): Promise<{ version: number }> {
    return await this.#write(caller, type, given, async (key, value, stored) => {
      const before = await this.#rows.value(type, key);
      if (before !== null)
        throw conflict(
          `There is a value ${JSON.stringify(key)} of ${type} already, at version ${before.version}.`,
          before.version,
        );
      const { values } = sharedTypeBounds;
      if (stored.count >= values)
        throw limitExceeded(
          "shared_values",
          stored.count,
          `${type} has ${values} values, which is the limit.`,
        );
      refuseTooMuch(stored, value.length);
      const version = stored.floor + 1;
      await this.#rows.create(type, { key, version, value });
      return { version };
    });
  }

  /** Returns null if there is no value with this key. */
  async get(type: string, key: string): Promise<SharedValue | null> {
    await this.#ready(type);
    const row = await this.#rows.value(type, key);
    return row === null ? null : valueOf(row);
  }

  /** Returns values in the order of their keys. Compares with them in slices of the kernel's event loop. */
  async query(
    type: string,
    { where = [], limit = defaultPage, cursor }: ValueQuery,
    { signal = neverAborted, cpu, read, found }: QueryOptions,
  ): Promise<SharedValuePage> {
    const conditions = checkedConditions(where);
    await this.#ready(type);
    const items: SharedValue[] = [];
    const keys: string[] = [];
    let characters = 0;
    await this.#slices.begin();
    for (let after = cursor ?? null; ;) {
      signal.throwIfAborted();
      const rows = await this.#rows.after(type, after);
      read?.(rows.map(({ key }) => key));
      for (const row of rows) {
        const isFull =
          items.length >= limit ||
          (items.length > 0 && characters + row.value.length > sharedTypeBounds.pageCharacters);
        // Only a value that belongs to the next page tells that there is one.
        if (!this.#slices.hasTime) await this.#slices.next();
        const before = this.#slices.nowMs;
        const item = valueOf(row);
        const isMatch = holdAll(conditions, item.value);
        cpu.charge(this.#slices.nowMs - before);
        if (cpu.leftMs() <= 0) throw tooSlow(type, cpu);
        if (isMatch && isFull) {
          found?.(keys);
          return { items, cursor: keys.at(-1) ?? "" };
        }
        if (!isMatch) continue;
        items.push(item);
        keys.push(row.key);
        characters += row.value.length;
      }
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last.key;
    }
    found?.(keys);
    return { items };
  }

  /** Rejects with NotFound without such a value, with Conflict { revision } if it is at another version. */
  async update(
    caller: string,
    type: string,
    key: string,
    version: number,
    given: JsonValue,
  ): Promise<{ version: number }> {
    return await this.#write(caller, type, given, async (keyOfGiven, value, stored) => {
      if (keyOfGiven !== key)
        throw invalidParams(
          `The value's ${JSON.stringify(stored.key)} is ${JSON.stringify(keyOfGiven)}, and the value to change is ${JSON.stringify(key)}. A value keeps its key; create another one instead.`,
          { path: `/${stored.key}` },
        );
      const before = await this.#at(type, key, version);
      refuseTooMuch(stored, value.length - before.value.length);
      await this.#rows.update(type, before, value);
      return { version: version + 1 };
    });
  }

  /** Rejects as `update` does. */
  async remove(type: string, key: string, version: number): Promise<void> {
    await this.#ready(type);
    await this.#turns.run(type, async () => {
      await this.#rows.remove(type, await this.#at(type, key, version));
    });
  }

  /** Returns the types that have been used, by name. */
  async list(): Promise<readonly StoredType[]> {
    return await this.#rows.types();
  }

  /** Returns a page of a type's values as they are stored, for an export. NotFound. */
  async stored(type: string, cursor?: string): Promise<SharedValuePage> {
    if ((await this.#rows.type(type)) === null) throw notFound("type", type);
    const rows = await this.#rows.after(type, cursor ?? null);
    const last = rows.at(-1);
    return { items: rows.map(valueOf), ...(last === undefined ? {} : { cursor: last.key }) };
  }

  /** Checks a value, then writes it in its turn, if the definition is still the same. */
  async #write<Result>(
    caller: string,
    type: string,
    given: JsonValue,
    write: (key: string, value: string, stored: StoredType) => Promise<Result>,
  ): Promise<Result> {
    const value = wellFormed(given);
    const text = canonicalJson(value);
    const { valueCharacters } = sharedTypeBounds;
    if (text.length > valueCharacters)
      throw limitExceeded(
        "shared_value",
        text.length,
        `The value of ${type} has ${text.length} characters; at most ${valueCharacters} are kept. Put what is larger into a file or a memory.`,
      );
    for (;;) {
      const checked = await this.#ready(type);
      const key = await this.#checkedKey(caller, checked, value);
      const done = await this.#turns.run(type, async () => {
        const stored = await this.#rows.type(type);
        // The definition changed while the value was checked.
        if (stored === null || stored.schema !== checked.schema || stored.key !== checked.key) return null;
        return { result: await write(key, text, stored) };
      });
      if (done !== null) return done.result;
    }
  }

  async #checkedKey(
    caller: string,
    { type, schema, key: name }: StoredType,
    value: unknown,
  ): Promise<string> {
    const misfit = await this.#ports.misfitAmong(
      caller,
      type,
      JSON.parse(schema) as Record<string, unknown>,
      [value],
    );
    if (misfit?.kind === "unchecked")
      throw limitExceeded(
        "type_check",
        1,
        `The value could not be checked against ${type}: ${misfit.message}`,
      );
    if (misfit !== null) {
      const { path, message } = misfit;
      const where = path === "" ? "The value" : path;
      throw invalidParams(`${where} does not fit ${type}: it ${message}.`, { path });
    }
    const key = keyOf(value, name);
    const { keyCharacters } = sharedTypeBounds;
    if (typeof key === "string" && key !== "" && key.length <= keyCharacters) return key;
    throw invalidParams(
      `The value's ${JSON.stringify(name)}, by which ${type} finds it, has to be a text of 1 to ${keyCharacters} characters.`,
      { path: `/${name}` },
    );
  }

  async #at(type: string, key: string, version: number): Promise<ValueRow> {
    const row = await this.#rows.value(type, key);
    if (row === null) throw notFound(`value of ${type}`, key);
    if (row.version === version) return row;
    throw conflict(
      `${JSON.stringify(key)} of ${type} is now at version ${row.version}, not ${version}. Read it and try again.`,
      row.version,
    );
  }

  /**
   * Returns the definition in force. Adopts a changed declaration first, through the extension's agent if values may need a
   * migration. Without the extension, the last definition stays in force. Throws NotFound, and InvalidDocument if values do
   * not fit the declaration.
   */
  async #ready(type: string): Promise<StoredType> {
    const owner = ownerOf(type);
    const name = type.slice(owner.length + 1);
    for (let attempt = 0; ; attempt++) {
      const declared = this.#ports.declared(owner, name);
      const stored = await this.#rows.type(type);
      if (stored !== null && (declared === null || isSameDefinition(stored, declared))) return stored;
      if (declared === null) throw notFound("type", type);
      const mayMigrate = stored !== null && stored.count > 0 && declared.version > stored.version;
      if (!mayMigrate) await this.adopt(owner, [declared], () => null);
      else if (attempt === 0) await this.#ports.wake(owner);
      else
        throw new LaresError(
          "Busy",
          `The type ${type} is being changed from version ${stored.version} to ${declared.version}. Try again.`,
        );
    }
  }
}

function valueOf({ version, value }: ValueRow): SharedValue {
  return { version, value: JSON.parse(value) as JsonValue };
}

const conflict = (message: string, revision: number): LaresError =>
  new LaresError("Conflict", message, { revision });

function refuseTooMuch({ type, characters }: StoredType, more: number): void {
  const { allCharacters } = sharedTypeBounds;
  if (characters + more > allCharacters)
    throw limitExceeded(
      "shared_values",
      characters + more,
      `The values of ${type} would have ${characters + more} characters; at most ${allCharacters} are kept.`,
    );
}

function tooSlow(type: string, { limit, allowedMs }: CpuBudget): LaresError {
  return limitExceeded(
    limit,
    allowedMs,
    `Looking through the values of ${type} takes more CPU time than is left. ${limit} allows ${allowedMs} ms. Ask with fewer conditions.`,
  );
}
