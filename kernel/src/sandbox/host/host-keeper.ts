import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { ChildKeeper } from "../../platform/children/child-keeper.ts";
import { locateModule, startChildProcess } from "../../platform/children/child-process.ts";
import { siblingModule } from "../../platform/files/sibling-module.ts";
import { ownThread } from "../../platform/processes/thread-priority.ts";
import { hostBounds as bounds } from "./bounds.ts";
import { sandboxFault } from "./faults.ts";
import { HostLink } from "./host-link.ts";

/** Keeps one host process running. `connect` throws LaresError "AgentError" if none can be started. */
export function keepHost(options: { readonly clock: Clock; readonly log: Log }): ChildKeeper<HostLink> {
  const { clock, log } = options;
  return new ChildKeeper({
    clock,
    restarts: bounds,
    start: () => startHost(options),
    end: (link) => link.kill(),
    gone: (_link, how, deaths) => log.error("the sandbox host process is gone", { how, deaths }),
    closed: () => sandboxFault("The sandbox host has been closed."),
  });
}

/**
 * Makes glibc return freed memory of 128 KiB or more to the system. By default it raises this threshold to 32 MiB as soon
 * as so much was freed at once, as when a guest ends: a host in which agents come and go then keeps 150 MB more. Other C
 * libraries ignore both.
 */
const returningMemory = { MALLOC_MMAP_THRESHOLD_: "131072", MALLOC_TRIM_THRESHOLD_: "131072" };

async function startHost(options: { readonly clock: Clock; readonly log: Log }): Promise<HostLink> {
  const sdk = locateModule("@wasmer/sdk/browser", import.meta.url);
  try {
    const process = await startChildProcess({
      entry: siblingModule(import.meta.url, "host-process"),
      // The kernel's own modules and the SDK, but nothing of the workspace or the home folder; plus the thread's own
      // entry in /proc.
      readable: [new URL("../../", import.meta.url), sdk.folder, ownThread],
      workers: true,
      environment: returningMemory,
      arguments: [sdk.url],
    });
    return new HostLink(process, options);
  } catch (error) {
    throw sandboxFault(`The sandbox host could not be started: ${messageOf(error)}`);
  }
}
