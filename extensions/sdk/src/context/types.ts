import type { AgentContext } from "../types/context.ts";
import type { SharedValues } from "../types/shared-types.ts";
import { type Kernel, withSignal } from "./kernel.ts";

/** Returns `ctx.types`: a bare name is a type of this extension, another's is named in full. */
export function makeTypes(kernel: Kernel, extension: string): AgentContext["types"] {
  const types = (name: string): SharedValues => {
    const type = name.includes("/") ? name : `${extension}/${name}`;
    return {
      create: (value) => kernel.call("types/create", { type, value }),
      get: (key, { signal } = {}) => kernel.call("types/get", { type, key }, withSignal(signal)),
      query: ({ where, limit, cursor, signal } = {}) =>
        kernel.call("types/query", { type, where, limit, cursor }, withSignal(signal)),
      update: (key, version, value) => kernel.call("types/update", { type, key, version, value }),
      remove: async (key, version) => void (await kernel.call("types/remove", { type, key, version })),
    };
  };
  // The author names the type of the values.
  return types as AgentContext["types"];
}
