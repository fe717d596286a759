/** Each of these agents stays below half of the traces that one may write in a second; together they write 5,000. */
export const agentCount = 56;
export const tracesPerCall = 90;
export const seconds = 10;

export function agentId(index: number): string {
  return `com.example.chatter${index}`;
}

const program = `import { defineAgent } from "@lares/sdk";

export default defineAgent({
  tools: {
    chatter({ count, from }: { count: number; from: number }, ctx) {
      for (let number = from; number < from + count; number++)
        ctx.trace.info("a line as long as lines of a log are, which says something", { number });
      return null;
    },
  },
});
`;

/** A workspace whose agents do nothing but trace. */
export function floodFiles(): Record<string, string> {
  const ids = Array.from({ length: agentCount }, (_, index) => agentId(index));
  const files: Record<string, string> = {
    "lares.yaml": JSON.stringify({
      version: 1,
      limits: { active_agents: agentCount },
      extensions: ids.map((id) => ({ id })),
    }),
  };
  for (const id of ids) {
    const parameters = { type: "object" };
    const tool = { name: "chatter", description: "Writes traces", handler: "chatter", parameters };
    const extension = { id, name: id, version: "1.0.0", main: "agent.ts", tools: [tool] };
    files[`.lares/extensions/${id}/extension.yaml`] = JSON.stringify({ extension });
    files[`.lares/extensions/${id}/agent.ts`] = program;
  }
  return files;
}
