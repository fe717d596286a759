/**
 * The rooms of the kernel and who may know whom; ARCHITECTURE.md has the same table in words.
 * A forbidden arrow fails `npm run lint`.
 */
const mayImport = {
  base: [],
  platform: ["base"],
  policy: ["base"],
  protocol: ["base"],
  documents: ["policy", "base"],
  events: ["base"],
  inbox: ["platform", "base"],
  memory: ["platform", "base"],
  trace: ["platform", "base"],
  decisions: ["policy", "platform", "base"],
  workspace: ["policy", "platform", "base"],
  actions: ["policy", "platform", "base"],
  sandbox: ["policy", "platform", "base"],
  agents: ["policy", "base"],
  tools: ["policy", "base"],
  front: ["protocol", "platform", "base"],
  server: ["protocol", "actions", "agents", "decisions", "documents", "memory", "tools", "trace", "workspace", "base"],
  cli: ["front", "server", "documents", "protocol", "platform", "base"],
};

const rooms = Object.entries(mayImport).map(([room, others]) => ({
  name: `room-${room}`,
  comment: `${room}/ may import only: ${others.join(", ") || "nothing"}. Siblings meet through ports that composition/ hands in.`,
  severity: "error",
  from: { path: `^kernel/src/${room}/`, pathNot: "\\.test\\.ts$|/testing/" },
  to: { path: "^kernel/src/", pathNot: `^kernel/src/(${[room, ...others].join("|")})/` },
}));

module.exports = {
  forbidden: [
    ...rooms,
    {
      name: "node-only-in-platform",
      comment:
        "node: modules belong in platform/ (and in main.ts, the command line and the children's entry files): everything else is handed what it needs, so that it can be tested and reasoned about.",
      severity: "error",
      from: {
        path: "^kernel/src/(base|policy|protocol|documents|events|inbox|memory|trace|decisions|workspace|actions|agents|tools|server)/",
        pathNot: "\\.test\\.ts$|/testing/",
      },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "no-circles",
      comment: "Two files that import each other are one file, or a third is missing.",
      severity: "error",
      from: { path: "^kernel/src/" },
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "sdk-knows-no-kernel",
      comment: "What an author's program is bundled with must not reach into the kernel; only the test helpers do.",
      severity: "error",
      from: { path: "^extensions/sdk/src/", pathNot: "^extensions/sdk/src/testing/|\\.test\\.ts$" },
      to: { path: "^kernel/" },
    },
    {
      name: "no-tests-in-code",
      comment: "Code must not lean on test helpers.",
      severity: "error",
      from: { path: "^kernel/src/", pathNot: "\\.test\\.ts$|/testing/" },
      to: { path: "\\.test\\.ts$|/testing/" },
    },
  ],
  options: {
    parser: "swc",
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    exclude: { path: "node_modules|build-output|/dist/" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
  },
};
