import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { Child } from "../../platform/children/child.ts";
import { findModule, packagesAround, startChildProcess } from "../../platform/children/child-process.ts";
import { siblingModule } from "../../platform/files/sibling-module.ts";
import { inferenceBounds as bounds } from "../bounds.ts";
import type { FromHost, RuntimePackage, Runtimes, ToHost } from "../messages.ts";

export interface HostOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The module around which optional packages are looked for; default: this one. */
  readonly packagesOf?: string;
}

/** One inference host, from its start to its end. */
export class HostLink extends Child<ToHost, FromHost> {
  /** The paths that this host may read were fixed at its start. */
  readable: ReadonlySet<string> = new Set();
  /** The package's module that it may load; null: the package is not installed. */
  runtime: string | null = null;
  /** Set while it answers its last calls, because another host has to read more. */
  leaving: Promise<void> | null = null;

  mayRead(files: readonly string[]): boolean {
    return files.every((file) => this.readable.has(file));
  }
}

/** Starts a host that may read these files, and load this one package. */
export async function startHost(
  { clock, log, packagesOf = import.meta.url }: HostOptions,
  packageName: RuntimePackage,
  files: ReadonlySet<string>,
  receive: (words: FromHost, bytes: Uint8Array) => void,
): Promise<HostLink> {
  const readable = new Set(files);
  const packages = packagesAround(packageName, packagesOf);
  const runtime = findModule(packageName, packagesOf);
  const runtimes: Runtimes = { [packageName]: runtime };
  const process = await startChildProcess({
    entry: siblingModule(import.meta.url, "../host/host-process"),
    readable: [new URL("../../", import.meta.url), ...(packages === null ? [] : [packages]), ...readable],
    nativeCode: true,
    workers: false,
    maxHeapMb: bounds.maxHeapMb,
    arguments: [JSON.stringify(runtimes)],
  });
  const link = new HostLink(process, {
    name: "inference host",
    log,
    clock,
    maxFrameBytes: bounds.maxFrameBytes,
    receive,
  });
  link.readable = readable;
  link.runtime = runtime;
  await link.ready;
  return link;
}

/** Adds files to those that the next host may read; of too many, the newest are kept. */
export function addReadable(readable: Set<string>, files: readonly string[]): void {
  for (const file of files) {
    readable.delete(file);
    readable.add(file);
  }
  for (const oldest of readable) {
    if (readable.size <= bounds.maxReadableFiles) break;
    readable.delete(oldest);
  }
}
