import type { Handlers } from "./handlers.ts";

/** `lares/memory/*`: queries, verifies, exports, imports and forgets what agents remember. */
export const memoryHandlers = {
  "lares/memory/query": async (params, { client }, signal) => {
    const { memory } = client.services;
    switch (params.kind) {
      case "temporal": {
        const { agent, kind: _, ...query } = params;
        return memory.temporal(agent, query, signal);
      }
      case "associative": {
        const { agent, kind: _, ...query } = params;
        return memory.associative(agent, query, signal);
      }
      case "working": {
        const { agent, kind: _, ...query } = params;
        return memory.working(agent, query);
      }
      case "search": {
        const { agent, kind: _, ...query } = params;
        return memory.search(agent, query, signal);
      }
    }
  },
  "lares/memory/count": async ({ agent, ...query }, { client }, signal) =>
    client.services.memory.count(agent, query, signal),
  "lares/memory/verify": async ({ agent, namespace }, { client }, signal) =>
    client.services.memory.verify(agent, namespace, signal),
  "lares/memory/stats": async ({ agent, namespace }, { client }) =>
    client.services.memory.stats(agent, namespace),
  "lares/memory/namespaces": async ({ agent }, { client }) => ({
    namespaces: await client.services.memory.namespaces(agent),
  }),
  "lares/memory/export": async ({ agent, path, overwrite = false, namespace }, { client }, signal) =>
    client.services.memory.export(agent, path, {
      overwrite,
      signal,
      ...(namespace === undefined ? {} : { namespace }),
    }),
  "lares/memory/import": async ({ agent, path, preview = false, head }, { client }) =>
    client.services.memory.import(client.principal, agent, path, {
      preview,
      ...(head === undefined ? {} : { head }),
    }),
  "lares/memory/correct": async ({ agent, id, text }, { client }) =>
    client.services.memory.correct(client.principal, agent, id, text),
  "lares/memory/forget": async ({ agent, id, reason, copies }, { client }) =>
    client.services.memory.forget(client.principal, agent, id, {
      ...(reason === undefined ? {} : { reason }),
      ...(copies === undefined ? {} : { copies }),
    }),
} satisfies Partial<Handlers>;
