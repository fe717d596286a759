import type { Hash } from "../../base/vocabulary/common.ts";

/** A loadable program, bundled from an extension's sources. */
export interface BundledProgram {
  readonly kind: "javascript";
  /** A hash over `bytes`; independent of the folder's location. */
  readonly digest: Hash;
  /** One ECMAScript module, ASCII. */
  readonly bytes: Uint8Array;
  /** For `mapStack`. */
  readonly sourceMap: string;
  /** Every file of the extension that was bundled or influenced the bundle, sorted by path; none of the SDK. */
  readonly inputs: readonly { readonly path: string; readonly hash: Hash }[];
  /** The files whose contents were bundled, sorted by path, without those of the SDK. */
  readonly files: readonly BundledFile[];
}

export interface BundledFile {
  /** Relative to the extension's folder, with links resolved. */
  readonly path: string;
  readonly bytes: number;
  /** The hash of its contents. */
  readonly hash: Hash;
  /** True if the program reads the file as a value; otherwise it is source. */
  readonly isData: boolean;
}
