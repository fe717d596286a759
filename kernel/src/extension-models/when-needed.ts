import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { NamedTensor } from "../base/tensors.ts";
import type { Environment } from "../platform/files/state-folder.ts";
import type { KernelModels } from "../outside/open-models.ts";
import type { ExtensionModelPorts, ExtensionModels, InferRequest } from "./extension-models.ts";

interface NeededParts extends Omit<ExtensionModelPorts, "store" | "client"> {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly log: Log;
  readonly models: Pick<KernelModels, "egress" | "issued" | "networkRules">;
}

interface Opened extends AsyncDisposable {
  readonly models: ExtensionModels;
}

/** The models of extensions, whose code is loaded with the first run: most workspaces have none. */
export class ExtensionModelsWhenNeeded implements AsyncDisposable {
  readonly #parts: NeededParts;
  #opening: Promise<Opened> | null = null;
  #isClosed = false;

  constructor(parts: NeededParts) {
    this.#parts = parts;
  }

  async infer(request: InferRequest): Promise<readonly NamedTensor[]> {
    if (this.#isClosed) throw new Error("The kernel is shutting down.");
    const { models } = await (this.#opening ??= this.#open());
    return await models.infer(request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    // A connection that was not opened needs no closing.
    const opened = await this.#opening?.catch(() => null);
    await opened?.[Symbol.asyncDispose]();
  }

  async #open(): Promise<Opened> {
    const [{ ExtensionModels }, { openModelStore }, { TensorModelClient }] = await Promise.all([
      import("./extension-models.ts"),
      import("./open-store.ts"),
      import("../inference/client/tensor-models.ts"),
    ]);
    const { environment, clock, log, models } = this.#parts;
    const store = openModelStore(environment, clock, models);
    const client = new TensorModelClient({ clock, log, folder: store.folder });
    return {
      models: new ExtensionModels({ ...this.#parts, store, client }),
      [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
    };
  }
}
