import type { Disposable, ExtensionContext } from "vscode";
import type { Kernel } from "./kernel/kernel.ts";
import type { Models } from "./model/ports.ts";

/** What a part of the client is made from. `extension.ts` hands it out and is the only place that knows all parts. */
export interface ClientContext {
  readonly extension: ExtensionContext;
  readonly kernel: Kernel;
  readonly models: Models;
}

/** A part of the client: registers what it shows and offers, and takes it all back when it is disposed. */
export type Feature = (context: ClientContext) => Disposable;
