import { LaresError } from "../base/errors.ts";
import type { Handlers } from "./handlers.ts";
import type { KernelServices } from "./ports.ts";

/** `lares/memory/*`, as far as the kernel has memories: the journal's proof and figures, and working memory. */
export function memoryHandlers({ memory }: KernelServices): Handlers {
  return {
    "lares/memory/verify": ({ agent }) => memory.verify(agent),
    "lares/memory/stats": ({ agent }) => memory.stats(agent),
    "lares/memory/query": async (query) => {
      if (query.kind === "working") return memory.working(query.agent);
      throw new LaresError("MethodNotFound", `This kernel keeps no ${query.kind} memory yet.`, {
        kind: query.kind,
      });
    },
  };
}
