/** A key with which a person signs packages. */
export interface PublisherKey {
  readonly name: string;
  /** Raw 32 bytes in base64. */
  readonly publicKey: string;
  readonly fingerprint: string;
  /** UTC, ISO 8601. */
  readonly created: string;
}

export interface PackedExtension {
  readonly id: string;
  readonly version: string;
  /** The name that the package's file has by default. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Hexadecimal, of `bytes`. */
  readonly sha256: string;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly publisher: string;
  readonly fingerprint: string;
}

/** A verified package's own statements, and what this machine knows about it. */
export interface PackageOffer {
  readonly id: string;
  readonly version: string;
  readonly name: string;
  readonly description: string;
  readonly license: string;
  /** Raw 32 bytes in base64. */
  readonly publisher: string;
  readonly fingerprint: string;
  /** The publisher that was pinned when the extension was installed first; null if it never was. */
  readonly pinned: {
    readonly publisher: string;
    readonly fingerprint: string;
    readonly since: string;
  } | null;
  /** The version that is installed there now. */
  readonly installed: string | null;
  /** `version` precedes `installed`. */
  readonly isOlder: boolean;
  readonly size: number;
  readonly sha256: string;
  readonly files: number;
  /** The permissions that it requests: their names, and in words for a person. */
  readonly permissions: readonly string[];
  readonly requests: readonly string[];
  readonly hosts: readonly string[];
  /** What it requests beyond the installed version, in words for a person. */
  readonly more: readonly string[];
  /** Where it came from, as it was written. */
  readonly source: string;
}

/** Returns the sentence of `requests` about a model, which is described as in the question of consent. */
export const runsModel = (words: string): string => `run the model ${words} (models)`;

/** A verified package, before anything is written to disk. */
export interface OpenedPackage {
  readonly offer: PackageOffer;
  /**
   * Extracts it and pins its publisher. `replacesPublisher`: another publisher than the pinned one was accepted. Returns
   * the absolute folder. Nothing is left of it if `signal` is aborted meanwhile.
   */
  install(options: {
    readonly replacesPublisher: boolean;
    readonly allowsOlder: boolean;
    readonly signal: AbortSignal;
  }): Promise<string>;
}

export interface OpenOptions {
  /** The index in which an id is looked up: a path or an address. */
  readonly from?: string;
  /** The workspace into which it is installed, absolute; absent for the person's own extensions. */
  readonly workspace?: string;
  readonly signal: AbortSignal;
  /** Called with the bytes that were downloaded so far. */
  received?(bytes: number): void;
}

/** An entry of an index, as written there. */
export interface FoundExtension {
  readonly id: string;
  readonly version: string;
  readonly name: string;
  readonly description: string;
  readonly size: number;
  readonly fingerprint: string;
  readonly permissions: readonly string[];
}

export interface InstalledExtension {
  readonly id: string;
  /** As its manifest says, every character visible; empty if it is not known. */
  readonly name: string;
  /** Empty if it is not known. */
  readonly version: string;
  /** Absolute. */
  readonly folder: string;
  readonly scope: "user" | "workspace";
  /** The workspace's documents name it. */
  readonly inUse: boolean;
  /** Empty if the package's record is unusable. */
  readonly fingerprint: string;
  /** Null if this person did not install it. */
  readonly source: string | null;
  /** The index in which it was found; null if it was installed by itself. */
  readonly index: string | null;
  readonly installed: string | null;
  /** Why the record of the package cannot be used; null if it can. */
  readonly fault: string | null;
  /** Files that are not as they were signed. */
  readonly changed: readonly string[];
  readonly missing: readonly string[];
  readonly added: readonly string[];
}

/** An extension's memory in one workspace. */
export interface MemoryPlace {
  /** Absolute: the folder of the memory. */
  readonly folder: string;
  /** The workspace's state folder. */
  readonly state: string;
  /** True for the workspace in which the command runs. */
  readonly isHere: boolean;
}

/** Packages of extensions: keys, packing, installing. Opened for one command. */
export interface PackageServices {
  readonly keys: {
    list(): Promise<readonly PublisherKey[]>;
    create(name: string): Promise<PublisherKey>;
    /** Returns the key of this name, or the only one. */
    named(name?: string): Promise<PublisherKey>;
  };
  /** Bundles, signs and packs the extension in a folder; `key`: the name of the key to sign with. */
  pack(folder: string, key?: string): Promise<PackedExtension>;
  /** Finds, reads and verifies a package. */
  open(reference: string, options: OpenOptions): Promise<OpenedPackage>;
  /** Returns the newest versions in an index that have all of the words; `unusable`: entries that cannot be read. */
  search(
    words: string,
    options: { readonly from: string; readonly signal: AbortSignal },
  ): Promise<{ readonly items: readonly FoundExtension[]; readonly unusable: number }>;
  /** Returns the absolute folder of the extension that the workspace's documents mean by this id; null if none. */
  folderInUse(workspace: string, id: string): Promise<string | null>;
  list(workspace: string): Promise<readonly InstalledExtension[]>;
  /** Removes the folder of an installed package. */
  remove(installed: Pick<InstalledExtension, "id" | "scope">, workspace: string): Promise<void>;
  memoriesOf(id: string, workspace: string, forgets?: boolean): Promise<readonly MemoryPlace[]>;
  /** Removes a memory for good, and what the ledger beside it has of the extension. No kernel may have its workspace open. */
  forget(id: string, memory: MemoryPlace): Promise<void>;
}
