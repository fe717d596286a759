import { maxSecretValueBytes } from "../base/vocabulary/bounds.ts";
import { isoTime, type Clock } from "../base/clock.ts";
import { invalidParams, isLaresError, LaresError, notFound, storageError } from "../base/errors.ts";
import type { SecretItem } from "../base/vocabulary/secret.ts";
import { decrypt, encrypt } from "../platform/encryption.ts";
import type { SecretRow, SecretRows } from "../user-state/secret-rows.ts";
import { type Binding, checkedBinding, checkedName } from "./binding.ts";
import { readKey, readOrMakeKey, type SecretKey } from "./key.ts";

/** NotFound, with what the person does about it. */
export const noSecret = (name: string): LaresError =>
  new LaresError(
    "NotFound",
    `There is no secret "${name}". Store it: lares secrets set ${name} --host <host>`,
    { what: "secret", name },
  );

/** A value with what it is bound to. Only for the pipe to the egress host. */
export interface ResolvedSecret extends Binding {
  readonly value: string;
  readonly source: "store" | "environment";
}

interface SecretsOptions {
  readonly rows: SecretRows;
  readonly keyPath: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, "now">;
}

const maxSecrets = 1_000;
/** What the names of environment variables with values of secrets begin with. */
export const secretVariablePrefix = "LARES_SECRET_";

/** The user's secrets: encrypted rows of `user.sqlite`, each bound to its name, hosts and place. */
export class Secrets {
  readonly #options: SecretsOptions;

  constructor(options: SecretsOptions) {
    this.#options = options;
  }

  /** Returns every secret without its value, sorted by name. */
  async list(): Promise<readonly SecretItem[]> {
    const items = new Map((await this.#options.rows.list()).map((row) => [row.name, this.#itemOf(row)]));
    for (const variable of Object.keys(this.#options.environment)) {
      const name = nameOf(variable);
      if (name === null || this.#fromEnvironment(name) === null) continue;
      // "-" and "_" are the same in a variable's name.
      if (![...items.keys()].some((known) => variableOf(known) === variable))
        items.set(name, { name, hosts: [], in: "header", created: null, source: "environment" });
    }
    return [...items.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Stores a secret, or replaces the one of this name. InvalidParams; StorageError: nothing was changed. */
  async set(name: string, value: string, hosts: readonly string[], place?: string): Promise<SecretItem> {
    checkedName(name);
    const binding = checkedBinding(hosts, place);
    const bytes = Buffer.from(value, "utf8");
    if (bytes.length === 0 || bytes.length > maxSecretValueBytes)
      throw invalidParams(
        `The value of a secret has 1 to ${maxSecretValueBytes} bytes; got ${bytes.length}. Nothing was stored.`,
      );
    const key = await this.#keyForWriting();
    const row: SecretRow = {
      name,
      hosts: JSON.stringify(binding.hosts),
      place: binding.in,
      created: isoTime(this.#options.clock.now()),
      key_id: key.id,
      record: encrypt(key.bytes, bytes, associatedData(name, binding)),
    };
    try {
      await this.#options.rows.put(row, maxSecrets);
    } catch (error) {
      if (!isLaresError(error, "Conflict")) throw error;
      this.#refuseForeign(await this.#options.rows.list(), key);
      throw new LaresError(
        "LimitExceeded",
        `There are ${maxSecrets} secrets already. Remove one with: lares secrets remove <name>`,
        { limit: "secrets", value: maxSecrets },
      );
    }
    return this.#itemOf(row);
  }

  async remove(name: string): Promise<void> {
    if (!(await this.#options.rows.remove(checkedName(name)))) throw notFound("secret", name);
  }

  /**
   * Returns the value and where it may go. The environment's value wins over the stored one, and has the stored one's
   * binding; with none stored it is bound to no host. NotFound; StorageError if the record cannot be decrypted.
   */
  async resolve(name: string): Promise<ResolvedSecret> {
    checkedName(name);
    const fromEnvironment = this.#fromEnvironment(name);
    const row = await this.#options.rows.get(name);
    const key = row === null ? null : await this.#keyForReading();
    // The binding is taken only from a record that is proved, also if the environment has the value.
    const stored = row === null || key === null ? null : this.#open(row, key);
    if (fromEnvironment !== null)
      return {
        value: fromEnvironment,
        hosts: stored?.hosts ?? [],
        in: stored?.in ?? "header",
        source: "environment",
      };
    if (stored === null) throw noSecret(name);
    return { ...stored, source: "store" };
  }

  #open(row: SecretRow, key: SecretKey): Omit<ResolvedSecret, "source"> {
    this.#refuseForeign([row], key);
    const binding = bindingOf(row);
    const plain = binding && decrypt(key.bytes, row.record, associatedData(row.name, binding));
    if (binding === null || plain === null)
      throw storageError(
        `The secret "${row.name}" was changed since it was stored, so it is not used. Store it again: lares secrets set ${row.name} --host <host>`,
      );
    return { value: Buffer.from(plain).toString("utf8"), ...binding };
  }

  async #keyForReading(): Promise<SecretKey> {
    const key = await readKey(this.#options.keyPath);
    if (key === null) throw this.#keyGone();
    return key;
  }

  /** A key is made only where nothing is stored yet: it could read nothing of what another one encrypted. */
  async #keyForWriting(): Promise<SecretKey> {
    const { rows, keyPath } = this.#options;
    const found = await readKey(keyPath);
    if (found !== null) return found;
    if ((await rows.list()).length === 0) return readOrMakeKey(keyPath);
    // Another process may have made the key and stored a secret meanwhile.
    const made = await readKey(keyPath);
    if (made === null) throw this.#keyGone();
    return made;
  }

  #refuseForeign(rows: readonly SecretRow[], key: SecretKey): void {
    if (rows.some(({ key_id }) => key_id !== key.id))
      throw storageError(
        `The stored secrets were encrypted with another key than that in "${this.#options.keyPath}". Put the old key file back, or remove the secrets with "lares secrets remove <name>" and store them again. Nothing was changed.`,
      );
  }

  #keyGone(): LaresError {
    return storageError(
      `The key file "${this.#options.keyPath}" is missing, so the stored secrets cannot be read. Restore it from a backup, or remove the secrets with "lares secrets remove <name>" and store them again. Nothing was changed.`,
    );
  }

  #fromEnvironment(name: string): string | null {
    const value = this.#options.environment[variableOf(name)];
    return value === undefined || value === "" ? null : value;
  }

  #itemOf(row: SecretRow): SecretItem {
    const binding = bindingOf(row) ?? { hosts: [], in: row.place };
    const source = this.#fromEnvironment(row.name) === null ? "store" : "environment";
    return { name: row.name, hosts: [...binding.hosts], in: binding.in, created: row.created, source };
  }
}

const variableOf = (name: string): string =>
  `${secretVariablePrefix}${name.toUpperCase().replaceAll("-", "_")}`;

/** Returns the secret's name in a variable of the environment, or null. */
function nameOf(variable: string): string | null {
  if (!variable.startsWith(secretVariablePrefix)) return null;
  try {
    return checkedName(variable.slice(secretVariablePrefix.length).toLowerCase());
  } catch (error) {
    if (isLaresError(error, "InvalidParams")) return null;
    throw error;
  }
}

/** The associated data of a record: a row with another name, host or place cannot be decrypted. */
function associatedData(name: string, { hosts, in: place }: Binding): Uint8Array {
  return Buffer.from(JSON.stringify(["lares-secret-1", name, hosts, place]), "utf8");
}

/** Null if the row's hosts are not what was written. */
function bindingOf(row: SecretRow): Binding | null {
  try {
    const hosts: unknown = JSON.parse(row.hosts);
    if (!Array.isArray(hosts) || !hosts.every((host) => typeof host === "string")) return null;
    return { hosts, in: row.place };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
