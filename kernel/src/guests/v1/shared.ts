import type { Caller } from "../../agents/ports.ts";
import type { SharedData } from "../../memory/shared-data.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";
import type { sharedCalls } from "../../protocol/guest/v1/shared.ts";

/** The guest ABI's `shared/*`. */
export function sharedServices(
  sharedData: SharedData,
): Pick<GuestServices<Caller>, keyof typeof sharedCalls> {
  return {
    "shared/read": (_caller, { key }) => sharedData.read(key),
    "shared/write": async ({ agent }, { key, value, version }) => ({
      version: await sharedData.write(agent, key, value, version),
    }),
  };
}
