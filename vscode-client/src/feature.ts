import type { Disposable, ExtensionContext } from "vscode";
import type { Kernel } from "./kernel/kernel.ts";
import type { Models } from "./model/ports.ts";

/** What the parts of the client are created from. Only `extension.ts` knows all parts. */
export interface ClientContext {
  readonly extension: ExtensionContext;
  readonly kernel: Kernel;
  readonly models: Models;
}

/** A part of the client: registers its views and commands, and removes them when it is disposed. */
export type Feature = (context: ClientContext) => Disposable;
