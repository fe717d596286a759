import type { MindDefinition } from "../../base/vocabulary/mind.ts";

/** A mind with file tools, and a block for itself and one for each conversation. */
export const mind: MindDefinition = {
  identity: [{ name: "SOUL.md", text: "I am calm." }],
  prompts: {
    channel: "Talk.",
    branch: "Think.",
    worker: "Work.",
    compaction: "Summarise.",
    cortex: "Look after.",
  },
  skills: [{ name: "weekly", description: "A weekly review", text: "Do it every week." }],
  tools: ["files/*"],
  directTools: ["files/*"],
  blocks: [
    {
      name: "project",
      description: "About this folder",
      limitCharacters: 200,
      isReadOnly: false,
      scope: "mind",
    },
    {
      name: "here",
      description: "About this talk",
      limitCharacters: 100,
      isReadOnly: false,
      scope: "conversation",
    },
  ],
  channel: { maxTurns: 5 },
  branches: { atOnce: 4, maxTurns: 10 },
  workers: [],
  compaction: { background: 0.8, aggressive: 0.85, emergency: 0.95 },
  cortex: { everyMs: 3_600_000, bulletinTokens: 700 },
};
