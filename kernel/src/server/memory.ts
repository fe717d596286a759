import type { Handlers } from "./handlers.ts";
import type { KernelServices } from "./ports.ts";

/** `lares/memory/*`: what agents remember, asked, proven, carried and forgotten by a person. */
export function memoryHandlers({ memory }: Pick<KernelServices, "memory">): Handlers {
  return {
    "lares/memory/query": async (params) => {
      switch (params.kind) {
        case "temporal": {
          const { agent, kind: _, ...query } = params;
          return memory.temporal(agent, query);
        }
        case "associative": {
          const { agent, kind: _, ...query } = params;
          return memory.associative(agent, query);
        }
        case "working": {
          const { agent, kind: _, ...query } = params;
          return memory.working(agent, query);
        }
        case "search": {
          const { agent, kind: _, ...query } = params;
          return memory.search(agent, query);
        }
      }
    },
    "lares/memory/count": ({ agent, ...query }) => memory.count(agent, query),
    "lares/memory/verify": ({ agent }) => memory.verify(agent),
    "lares/memory/stats": ({ agent }) => memory.stats(agent),
    "lares/memory/export": ({ agent, path, overwrite = false }) => memory.export(agent, path, { overwrite }),
    "lares/memory/import": ({ agent, path, preview = false, head }) =>
      memory.import(agent, path, { preview, ...(head === undefined ? {} : { head }) }),
    "lares/memory/forget": ({ agent, id, reason }) => memory.forget(agent, id, reason),
  };
}
