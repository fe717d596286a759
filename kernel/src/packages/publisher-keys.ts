import { isoTime, type Clock } from "../base/clock.ts";
import { invalidParams, isLaresError, LaresError, storageError } from "../base/errors.ts";
import { decrypt, encrypt } from "../platform/encryption.ts";
import { makeKeyPair, type KeyPair } from "../platform/signatures.ts";
import type { PackageRows, PublisherKeyRow } from "../user-state/package-rows.ts";
import { bytesOf, fingerprintOf } from "./package-record.ts";

interface PublisherKey {
  readonly name: string;
  /** Raw 32 bytes in base64, as packages and indexes name it. */
  readonly publicKey: string;
  readonly fingerprint: string;
  readonly created: string;
}

/** The key that encrypts the user's secrets. */
interface EncryptionKey {
  readonly bytes: Uint8Array;
  readonly id: string;
}

interface PublisherKeysOptions {
  readonly rows: Pick<PackageRows, "keys" | "addKey">;
  /** Returns the key of the user's secrets. If there is none and nothing was encrypted yet, `mayMake` makes it. */
  encryptionKey(mayMake: boolean): Promise<EncryptionKey>;
  readonly clock: Pick<Clock, "now">;
}

const maxKeys = 100;
const nameForm = /^[a-z0-9][a-z0-9-]{0,63}$/;
export const defaultKeyName = "default";

/** The keys with which the user signs packages: encrypted rows of `user.sqlite`, under the key of the user's secrets. */
export class PublisherKeys {
  readonly #options: PublisherKeysOptions;

  constructor(options: PublisherKeysOptions) {
    this.#options = options;
  }

  async list(): Promise<PublisherKey[]> {
    return (await this.#options.rows.keys()).map(shownKey);
  }

  /** Makes and stores a key. InvalidParams for its name, or if there is one of this name already. */
  async create(name: string): Promise<PublisherKey> {
    if (!nameForm.test(name))
      throw invalidParams(
        `A key's name has lower case letters, digits and "-", at most 64; got ${JSON.stringify(name.slice(0, 80))}.`,
      );
    const { rows, clock } = this.#options;
    const taken = (): LaresError =>
      invalidParams(`There is a key "${name}" already. Choose another name; a key is never replaced.`);
    const before = await rows.keys();
    if (before.some((row) => row.name === name)) throw taken();
    if (before.length >= maxKeys) throw invalidParams(`There are ${maxKeys} keys already.`);
    const { publicKey, privateKey } = makeKeyPair();
    const { bytes, id } = await this.#options.encryptionKey(true);
    const text = Buffer.from(publicKey).toString("base64");
    const row = {
      name,
      public_key: text,
      created: isoTime(clock.now()),
      key_id: id,
      record: encrypt(bytes, privateKey, associatedData(name, text)),
    };
    try {
      await rows.addKey(row);
    } catch (error) {
      throw isLaresError(error, "Conflict") ? taken() : error;
    }
    return shownKey(row);
  }

  /**
   * Returns the key of this name, or the only one. NotFound if there is none; InvalidParams if there are several and none
   * is named.
   */
  async named(name?: string): Promise<PublisherKey> {
    return shownKey(await this.#row(name));
  }

  /** As `named`, with the private key. StorageError if that cannot be decrypted. */
  async pair(name?: string): Promise<KeyPair> {
    const row = await this.#row(name);
    const { bytes, id } = await this.#options.encryptionKey(false);
    const plain =
      row.key_id === id ? decrypt(bytes, row.record, associatedData(row.name, row.public_key)) : null;
    const publicKey = bytesOf(row.public_key, 32);
    if (plain === null || publicKey === null)
      throw storageError(
        `The private key "${row.name}" cannot be decrypted: it was changed, or encrypted with another key of secrets. Put the old secrets.key back. Nothing was changed.`,
      );
    return { publicKey, privateKey: plain };
  }

  async #row(name: string | undefined): Promise<PublisherKeyRow> {
    const rows = await this.#options.rows.keys();
    if (name !== undefined) {
      const found = rows.find((row) => row.name === name);
      if (found !== undefined) return found;
      throw new LaresError(
        "NotFound",
        `There is no key "${name.slice(0, 80)}". ${rows.length === 0 ? "Make one: lares keys new" : `There are: ${rows.map((row) => row.name).join(", ")}.`}`,
        { what: "key", name },
      );
    }
    const [only, ...others] = rows;
    if (only === undefined)
      throw new LaresError(
        "NotFound",
        "You have no key to sign packages with yet. Make one: lares keys new",
        {
          what: "key",
        },
      );
    const usual = others.length === 0 ? only : rows.find((row) => row.name === defaultKeyName);
    if (usual !== undefined) return usual;
    throw invalidParams(
      `You have several keys. Name one with --key: ${rows.map((row) => row.name).join(", ")}.`,
    );
  }
}

function shownKey({ name, public_key, created }: PublisherKeyRow): PublisherKey {
  return { name, publicKey: public_key, fingerprint: fingerprintOf(public_key), created };
}

/** The associated data of a record: a row with another name or public key cannot be decrypted. */
const associatedData = (name: string, publicKey: string): Uint8Array =>
  Buffer.from(JSON.stringify(["lares-publisher-key-1", name, publicKey]), "utf8");
