/** A model cannot be used until a person fixes the named problem. */
export class UnusableModel extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "UnusableModel";
  }
}

export const unusable = (message: string, cause?: unknown): UnusableModel =>
  new UnusableModel(message, cause);

/** Completes the sentences about node-llama-cpp. */
export const installLlama =
  "Install it beside lares: npm install -g node-llama-cpp (in a checkout of Lares: npm install --no-save node-llama-cpp).";
export const missingLlama = `Models of the kind "llama" need the package node-llama-cpp, which is not installed. ${installLlama}`;

/** A model does not take this input, or gives what cannot be passed on. */
export class RefusedRun extends Error {}

/** The file of a fetched model is missing, or is not what it should be. */
export class DamagedModel extends Error {}
