import { invalidParams, LaresError, notFound } from "../../../../kernel/src/base/errors.ts";
import { isJsonObject, type JsonValue } from "../../../../kernel/src/base/json.ts";
import { checkedConditions } from "../../../../kernel/src/memory-contract/conditions.ts";
import { holdAll } from "../../../../kernel/src/memory-contract/holds.ts";
import type { GuestCallParams } from "../../../../kernel/src/protocol/guest/v1/calls.ts";
import { compileSchema } from "../../../../kernel/src/tools/argument-validator.ts";
import type { MockType } from "./mock-type.ts";

interface Stored {
  readonly version: number;
  readonly value: JsonValue;
}

/** Shared types in memory: values are checked, and compared by version, as in the kernel. */
export class MockTypes {
  readonly #types = new Map<string, { readonly type: MockType; readonly values: Map<string, Stored> }>();

  constructor(extension: string, types: Readonly<Record<string, MockType>>) {
    for (const [name, type] of Object.entries(types)) {
      const full = name.includes("/") ? name : `${extension}/${name}`;
      this.#types.set(full, { type, values: new Map() });
      for (const value of type.values ?? []) this.create({ type: full, value: value as JsonValue });
    }
  }

  create({ type, value }: GuestCallParams<"types/create">): { version: number } {
    const { values } = this.#of(type);
    const key = this.#checkedKey(type, value);
    const before = values.get(key);
    if (before !== undefined)
      throw conflict(`There is a value ${JSON.stringify(key)} of ${type} already.`, before.version);
    values.set(key, { version: 1, value });
    return { version: 1 };
  }

  get({ type, key }: GuestCallParams<"types/get">): Stored | null {
    return this.#of(type).values.get(key) ?? null;
  }

  query({ type, where = [], limit = 100, cursor }: GuestCallParams<"types/query">): {
    items: Stored[];
    cursor?: string;
  } {
    const conditions = checkedConditions(where);
    const found = [...this.#of(type).values]
      .filter(([key, { value }]) => (cursor === undefined || key > cursor) && holdAll(conditions, value))
      .toSorted(([one], [other]) => (one < other ? -1 : 1));
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1)?.[0] : undefined;
    return { items: page.map(([, stored]) => stored), ...(last === undefined ? {} : { cursor: last }) };
  }

  update({ type, key, version, value }: GuestCallParams<"types/update">): { version: number } {
    const before = this.#at(type, key, version);
    if (this.#checkedKey(type, value) !== key)
      throw invalidParams(`A value of ${type} keeps its key ${JSON.stringify(key)}.`);
    this.#of(type).values.set(key, { version: before.version + 1, value });
    return { version: before.version + 1 };
  }

  remove({ type, key, version }: GuestCallParams<"types/remove">): object {
    this.#at(type, key, version);
    this.#of(type).values.delete(key);
    return {};
  }

  #of(type: string) {
    const found = this.#types.get(type);
    if (found === undefined) throw notFound("type", type);
    return found;
  }

  #at(type: string, key: string, version: number): Stored {
    const found = this.#of(type).values.get(key);
    if (found === undefined) throw notFound(`value of ${type}`, key);
    if (found.version === version) return found;
    throw conflict(`${JSON.stringify(key)} of ${type} is now at version ${found.version}.`, found.version);
  }

  #checkedKey(type: string, value: unknown): string {
    const { key, schema } = this.#of(type).type;
    const validate = schema === undefined ? null : compileSchema(schema);
    if (validate !== null && !validate(value)) {
      const [fault] = validate.errors ?? [];
      const where = fault?.instancePath === "" ? "The value" : fault?.instancePath;
      throw invalidParams(`${where} does not fit ${type}: it ${fault?.message ?? "does not fit"}.`);
    }
    const found = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    if (typeof found === "string" && found !== "") return found;
    throw invalidParams(`The value's ${JSON.stringify(key)}, by which ${type} finds it, has to be a text.`);
  }
}

const conflict = (message: string, revision: number): LaresError =>
  new LaresError("Conflict", message, { revision });
