import { openProgramFolder, type ProgramFolder } from "../../platform/files/program-files.ts";
import { sha256Hex } from "../../platform/files/hash.ts";
import { type Answer, BuildInputs } from "./build-inputs.ts";

/** Bundles a source file of the SDK, with everything that it imports, into one module with its source map inside. */
type BundleSdkModule = (sdk: ProgramFolder, path: string) => Promise<Uint8Array>;

/** The SDK as it was when it was opened; each of its sources is bundled once for all programs. */
export class Sdk {
  readonly files: BuildInputs;
  readonly #folder: ProgramFolder;
  readonly #held = new Map<string, Promise<boolean>>();
  readonly #modules = new Map<string, Promise<Uint8Array>>();
  readonly #bundle: BundleSdkModule;

  constructor(folder: ProgramFolder, bundle: BundleSdkModule) {
    this.#folder = folder;
    this.files = new BuildInputs(folder);
    this.#bundle = bundle;
  }

  /** Returns true if the SDK gives the same answers as when another kernel bundled a program. */
  async holds(answers: readonly Answer[]): Promise<boolean> {
    // Most programs were bundled from the same answers.
    const key = sha256Hex(JSON.stringify(answers));
    const known = this.#held.get(key);
    if (known !== undefined) return await known;
    const holds = new BuildInputs(this.#folder, answers).holdsFor(this.#folder);
    this.#held.set(key, holds);
    if (await holds) this.files.add(answers);
    return await holds;
  }

  /** `path` is that of an entry point, relative to the SDK. */
  module(path: string): Promise<Uint8Array> {
    const known = this.#modules.get(path);
    if (known !== undefined) return known;
    const made = this.#bundle(this.files, path);
    this.#modules.set(path, made);
    made.catch(() => this.#modules.delete(path));
    return made;
  }
}

/** Opens the SDK, and opens it again once one of its files has changed. */
export class SdkFolder {
  readonly #path: string;
  readonly #isFixed: boolean;
  readonly #bundle: BundleSdkModule;
  #sdk: Sdk | null = null;
  #opening: Promise<Sdk> | null = null;

  /** `isFixed`: nobody changes the files while the kernel runs, so they are not compared. */
  constructor(path: string, isFixed: boolean, bundle: BundleSdkModule) {
    this.#path = path;
    this.#isFixed = isFixed;
    this.#bundle = bundle;
  }

  /** Returns the same object as long as the files that were used are the same. */
  current(): Promise<Sdk> {
    if (this.#isFixed && this.#sdk !== null) return Promise.resolve(this.#sdk);
    this.#opening ??= this.#open().finally(() => (this.#opening = null));
    return this.#opening;
  }

  async #open(): Promise<Sdk> {
    const folder = await openProgramFolder(this.#path);
    if (this.#sdk !== null && (await this.#sdk.files.holdsFor(folder))) folder[Symbol.dispose]();
    // The earlier folder stays open: programs may still be bundled from it.
    else this.#sdk = new Sdk(folder, this.#bundle);
    return this.#sdk;
  }
}
