import { tool, type Bench, type ExtensionSpec } from "./bench.ts";
import type { Client } from "./client.ts";

/** An agent that runs a test's code: its tool `run` gets a function's body, which sees `ctx` and `args`. */
const PROGRAM = `
import { defineAgent } from "@lares/sdk";
const AsyncFunction = (async () => {}).constructor;
export default defineAgent({
  tools: {
    async run({ body, args }, ctx) {
      try {
        return { value: (await new AsyncFunction("ctx", "args", body)(ctx, args)) ?? null };
      } catch (error) {
        return { error: { code: error.code ?? null, message: String(error.message), facts: error.facts ?? null } };
      }
    },
  },
});
`;

/** An extension that remembers what it is told to. */
export function rememberer(id: string, manifest: Record<string, unknown> = {}): ExtensionSpec {
  const run = { name: "run", description: "run", handler: "run", parameters: { type: "object" } };
  return { id, program: PROGRAM, manifest: { tools: [run], ...manifest } };
}

interface Refusal {
  readonly code: string | null;
  readonly message: string;
  readonly facts: Record<string, unknown> | null;
}

/** Access to the agent's memory from outside: through the guest and through the client. */
export class Remembering {
  readonly client: Client;
  readonly agent: string;

  constructor(client: Client, agent: string) {
    this.client = client;
    this.agent = agent;
  }

  /** Runs the body in the guest; rejects with what it threw. */
  async run<Value>(body: string, args: unknown = {}): Promise<Value> {
    const answer = await this.attempt(body, args);
    if ("error" in answer) throw new Error(`${answer.error.code}: ${answer.error.message}`);
    return answer.value as Value;
  }

  attempt(body: string, args: unknown = {}): Promise<{ value: unknown } | { error: Refusal }> {
    return tool(this.client, this.agent, "run", { body, args });
  }

  /** Returns the refusal; fails if it was not refused. */
  async refusal(body: string, args: unknown = {}): Promise<Refusal> {
    const answer = await this.attempt(body, args);
    if (!("error" in answer)) throw new Error(`It was not refused: ${JSON.stringify(answer.value)}`);
    return answer.error;
  }

  /** Requests `lares/memory/query` like a client. */
  query<Result>(
    kind: "temporal" | "associative" | "working" | "search",
    fields: object = {},
  ): Promise<Result> {
    return this.client.request("lares/memory/query", { agent: this.agent, kind, ...fields });
  }

  verify(): Promise<{
    ok: boolean;
    records: number;
    head: string;
    firstBad?: { seq: number; reason: string };
  }> {
    return this.client.request("lares/memory/verify", { agent: this.agent });
  }

  stats(): Promise<Record<string, unknown>> {
    return this.client.request("lares/memory/stats", { agent: this.agent });
  }
}

/** Returns the folder of the agent's memory. */
export async function memoryFolder(bench: Bench, client: Client, agent: string): Promise<string> {
  const { stateFolder } = await bench.status(client);
  return `${stateFolder}/extensions/${agent}/memory`;
}
