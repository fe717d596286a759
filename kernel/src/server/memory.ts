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
    "lares/memory/verify": ({ agent, namespace }) => memory.verify(agent, namespace),
    "lares/memory/stats": ({ agent, namespace }) => memory.stats(agent, namespace),
    "lares/memory/namespaces": async ({ agent }) => ({ namespaces: await memory.namespaces(agent) }),
    "lares/memory/export": ({ agent, path, overwrite = false, namespace }) =>
      memory.export(agent, path, { overwrite, ...(namespace === undefined ? {} : { namespace }) }),
    "lares/memory/import": ({ agent, path, preview = false, head }) =>
      memory.import(agent, path, { preview, ...(head === undefined ? {} : { head }) }),
    "lares/memory/forget": ({ agent, id, reason }) => memory.forget(agent, id, reason),
  };
}
