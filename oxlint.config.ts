import { defineConfig, type OxlintOverride } from "oxlint";

/**
 * The rooms of the kernel and who may know whom; ARCHITECTURE.md has the same table in words. A forbidden arrow
 * fails the lint. `composition/` and `main.ts` wire the rooms together and may know all of them.
 */
export const mayImport = {
  base: [],
  platform: ["base"],
  policy: ["base"],
  protocol: ["base"],
  documents: ["models", "policy", "base"],
  events: ["base"],
  models: ["base"],
  "secret-scan": ["base"],
  "user-state": ["platform", "base"],
  secrets: ["user-state", "platform", "base"],
  packages: ["user-state", "platform", "base"],
  inbox: ["platform", "base"],
  jobs: ["platform", "base"],
  asks: ["platform", "base"],
  notifications: ["services", "platform", "base"],
  forgetting: ["platform", "base"],
  "memory-contract": ["platform", "base"],
  journal: ["memory-contract", "platform", "base"],
  context: ["base"],
  conversations: ["journal", "platform", "base"],
  store: ["memory-contract", "platform", "base"],
  memory: ["journal", "memory-contract", "platform", "base"],
  "shared-types": ["memory-contract", "platform", "base"],
  trace: ["platform", "base"],
  decisions: ["services", "policy", "platform", "base"],
  workspace: ["policy", "platform", "base"],
  actions: ["policy", "platform", "base"],
  sandbox: ["platform", "base"],
  conformance: ["sandbox", "protocol", "base"],
  agents: ["policy", "base"],
  interception: ["policy", "base"],
  "agent-state": ["agents", "platform", "base"],
  configuration: ["decisions", "documents", "events", "policy", "platform", "base"],
  authoring: ["configuration", "services", "documents", "events", "platform", "base"],
  tools: ["policy", "platform", "base"],
  "file-tools": ["policy", "base"],
  egress: ["models", "policy", "secret-scan", "platform", "base"],
  inference: ["memory-contract", "platform", "base"],
  outside: [
    "egress",
    "inference",
    "models",
    "secrets",
    "user-state",
    "documents",
    "services",
    "memory-contract",
    "secret-scan",
    "policy",
    "platform",
    "base",
  ],
  embedders: ["conversations", "store", "models", "memory-contract", "policy", "base"],
  "extension-models": ["outside", "egress", "inference", "models", "services", "policy", "platform", "base"],
  installing: [
    "packages",
    "configuration",
    "decisions",
    "documents",
    "outside",
    "egress",
    "secrets",
    "user-state",
    "sandbox",
    "services",
    "policy",
    "platform",
    "base",
  ],
  "agent-minds": [
    "agents",
    "minds",
    "memory",
    "file-tools",
    "conversations",
    "protocol",
    "policy",
    "platform",
    "base",
  ],
  guests: [
    "agents",
    "sandbox",
    "memory",
    "jobs",
    "documents",
    "egress",
    "models",
    "secrets",
    "outside",
    "protocol",
    "policy",
    "platform",
    "base",
  ],
  pictures: ["platform", "base"],
  front: ["protocol", "platform", "base"],
  minds: ["conversations", "context", "events", "models", "services", "platform", "base"],
  services: ["base"],
  server: ["services", "protocol", "base"],
  cli: ["services", "documents", "protocol", "platform", "base"],
} satisfies Record<string, readonly string[]>;

const allRooms = [...Object.keys(mayImport), "composition"];

/** Rooms whose code may use Node's own modules: the edge, where effects happen. `installing` runs in the command line. */
const atTheEdge = new Set(["platform", "cli", "front", "installing"]);

/** Single files of other rooms that may too, by their paths in the room. All of them run outside the kernel's process. */
const filesAtTheEdge: Partial<Record<keyof typeof mayImport, readonly EdgeFiles[]>> = {
  store: [
    {
      files: ["host/host-process.ts"],
      because: "the store host's entry file: its umask, arguments and exit",
    },
    {
      files: ["vectors/{faiss,usearch,load-index,save-index,write-graph}.ts"],
      because: "native libraries are loaded from packages, and write index files by path and by descriptor",
    },
    {
      files: ["projection/{duck,kept-file,opened,text-file}.ts"],
      because:
        "DuckDB and SQLite open files by path; the files beside them are checked and replaced at that moment",
    },
    {
      files: ["projection/{places,prepared-sql,text-fields,text-index}.ts"],
      because: "full text is one synchronous SQLite connection in the host; the kernel's runs in a thread",
    },
    {
      files: ["embedding/hash-frequencies.ts"],
      because: "a table is compressed with zlib",
    },
  ],
  egress: [
    {
      files: ["host/{connections,host-process,send,web-body}.ts"],
      because: "the egress host resolves names, opens connections and decompresses answers",
    },
  ],
  packages: [
    {
      files: ["files/*.ts"],
      because: "packages are extracted by the command line, into folders that only it changes",
    },
  ],
  inference: [
    {
      files: ["fetching/fetch-model.ts"],
      because: "models are fetched by the command line, into the user's cache",
    },
    {
      files: [
        "host/{host-process,tensor-models}.ts",
        "host/onnx/{onnx,word-pieces}.ts",
        "host/llama/{library,model-file}.ts",
      ],
      because:
        "the inference host's entry file and its native packages; a model's files lie where the user put them",
    },
  ],
  pictures: [
    {
      files: ["node-constants.ts"],
      because: "the process that decodes pictures: what its WebAssembly needs of Node",
    },
  ],
  sandbox: [
    {
      files: ["host/{host-process,guest-worker,guest-thread}.ts", "prepare/preparing-worker.ts"],
      because: "entry files of the sandbox host, its workers and their threads",
    },
    {
      files: ["host/{worker-slot,sdk-threads}.ts", "prepare/preparation.ts"],
      because: "the sandbox host starts and ends the threads in which hostile code is prepared and run",
    },
    { files: ["host/messages.ts"], because: "a port that travels between these threads has Node's type" },
  ],
};

interface EdgeFiles {
  readonly files: readonly string[];
  readonly because: string;
}

const nodeImports = {
  regex: "^node:",
  message:
    "Node's modules belong in platform/ and the children's entry files; code that is handed its effects can be tested and reasoned about.",
};

/** Files that may open connections: the egress host to the outside, the rest to Lares' own sockets and pipes only. */
const filesWithSockets: Partial<Record<keyof typeof mayImport, readonly string[]>> = {
  egress: ["host/{connections,send}.ts"],
  platform: ["children/child-process.ts", "processes/stdio.ts", "sockets/socket.ts"],
};

const networkImports = {
  regex: "^(node:)?(net|tls|https?|http2|dgram|inspector)(/|$)|^(undici|ws)(/|$)",
  message:
    "Only the egress host opens connections to anything but Lares' own sockets: ask egress/client, so that policy decides.",
};
const networkGlobals = ["fetch", "WebSocket", "EventSource", "XMLHttpRequest"].map((name) => ({
  name,
  message: networkImports.message,
}));

/** What a room may not import: every room that the table does not name for it. */
function arrowsOf(room: keyof typeof mayImport) {
  const known = new Set<string>([room, ...mayImport[room]]);
  return {
    regex: `^(\\.\\./)+(${allRooms.filter((other) => !known.has(other)).join("|")})/`,
    message: `${room}/ may import only ${mayImport[room].join(", ") || "nothing"}. Siblings do not know each other: take what you need as a port, and let composition/ hand it in.`,
  };
}

const roomRules: OxlintOverride[] = (Object.keys(mayImport) as (keyof typeof mayImport)[]).flatMap((room) => {
  const ruleFor = (files: readonly string[], isAtTheEdge: boolean, hasSockets = false): OxlintOverride => ({
    files: files.map((file) => `kernel/src/${room}/${file}`),
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            arrowsOf(room),
            ...(isAtTheEdge ? [] : [nodeImports]),
            ...(hasSockets ? [] : [networkImports]),
          ],
        },
      ],
      "no-restricted-globals": ["error", ...networkGlobals],
    },
  });
  return [
    ruleFor(["**/*.ts"], atTheEdge.has(room)),
    ...(filesAtTheEdge[room] ?? []).map(({ files }) => ruleFor(files, true)),
    ...(filesWithSockets[room] === undefined ? [] : [ruleFor(filesWithSockets[room], true, true)]),
  ];
});

/** What puts the rooms together may know all of them, and opens no connection either. */
const wiringRule: OxlintOverride = {
  files: ["kernel/src/composition/**/*.ts", "kernel/src/*.ts"],
  excludeFiles: ["**/*.test.ts", "**/testing/**"],
  rules: {
    "no-restricted-imports": ["error", { patterns: [networkImports] }],
    "no-restricted-globals": ["error", ...networkGlobals],
  },
};

/** The store's client runs in the kernel: it loads neither DuckDB nor a vector library, and starts the host that does. */
const storeClientRule: OxlintOverride = {
  files: ["kernel/src/store/client/**/*.ts"],
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          arrowsOf("store"),
          networkImports,
          {
            regex: "^\\.\\./(embedding|host|knowledge|projection|vectors)/",
            message:
              "store/client/ runs in the kernel: of the store host it knows the messages and the bounds.",
          },
          nodeImports,
        ],
      },
    ],
  },
};

/** Rooms of the VS Code client that put others together, or stand in for the editor. */
const clientRules: OxlintOverride[] = [
  {
    files: ["vscode-client/src/webviews/**/*.{ts,tsx}"],
    excludeFiles: ["**/*.test.{ts,tsx}"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              regex: "^(vscode|node:)|^vscode-languageclient",
              message: "A webview runs in a browser: it has messages, and neither the editor's API nor Node.",
            },
            {
              // Oxlint's patterns have no lookahead: one with it is ignored without a word.
              regex: `^(\\.\\./)+(kernel/(src/(${allRooms.filter((room) => room !== "base").join("|")})/|[a-z-]+\\.ts$)|(changes|commands|editor|model|notices|traces|views)/)`,
              message: "A webview knows its messages (webviews/) and nothing of the extension's side.",
            },
          ],
        },
      ],
    },
  },
  {
    files: ["vscode-client/src/**/*.ts"],
    excludeFiles: [
      "vscode-client/src/{webviews,kernel,model,testing}/**",
      "vscode-client/src/extension.ts",
      "**/*.test.ts",
    ],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              regex: "/extension\\.ts$",
              message: "extension.ts puts the parts together and knows all of them; nobody knows it.",
            },
            {
              regex:
                "^\\.\\.?/.*kernel/(attempt|connection|kernel-process|language-client|lares-kernel|launch|restarts)\\.ts$",
              message: "The port kernel/kernel.ts is the way to the kernel; extension.ts hands it in.",
            },
            {
              regex: "^\\.\\.?/.*model/(agents|actions|status)\\.ts$",
              message:
                "The ports of model/ports.ts are the way to what is known; extension.ts hands them in.",
            },
          ],
        },
      ],
    },
  },
];

const seededMessage =
  "A test that draws by chance fails by chance. Use fast-check, or seeded() of test/support/seed.ts.";

/** Tests draw from the seed of the run. Only the fuzz suite's seed is new in every run. */
const testRules: OxlintOverride[] = [
  {
    files: ["**/*.test.{ts,tsx}", "**/testing/**/*.ts", "test/**/*.ts"],
    rules: {
      "no-restricted-properties": [
        "error",
        { object: "Math", property: "random", message: seededMessage },
        { object: "crypto", property: "getRandomValues", message: seededMessage },
        { object: "crypto", property: "randomUUID", message: seededMessage },
      ],
    },
  },
  {
    files: ["{kernel,extensions,examples}/**/*.test.ts", "**/testing/**/*.ts", "test/**/*.ts"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          paths: ["node:crypto", "crypto"].map((name) => ({
            name,
            importNames: ["randomBytes", "randomInt", "randomUUID", "getRandomValues", "webcrypto"],
            message: seededMessage,
          })),
        },
      ],
    },
  },
];

export default defineConfig({
  plugins: ["typescript", "import", "unicorn", "promise", "node"],
  categories: { correctness: "error", suspicious: "error" },
  rules: {
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/await-thenable": "error",
    "typescript/no-explicit-any": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "no-empty": ["error", { allowEmptyCatch: false }],
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "no-console": "error",
    "unicorn/no-array-sort": "error",
    // What the compiler already knows, or what reads better as it is.
    "typescript/consistent-return": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "no-await-in-loop": "off",
    "no-shadow": "off",
    "no-underscore-dangle": "off",
    "import/no-unassigned-import": "off",
    "unicorn/consistent-function-scoping": "off",
    "promise/always-return": "off",
    "import/no-named-as-default-member": "off",
    "typescript/unbound-method": "off",
    "typescript/no-unnecessary-boolean-literal-compare": "off",
    "typescript/no-unnecessary-type-conversion": "off",
    // For windows of a browser; a worker's postMessage has no target.
    "unicorn/require-post-message-target-origin": "off",
    // Finding control characters is what this project does with them.
    "no-control-regex": "off",
  },
  overrides: [
    ...roomRules,
    wiringRule,
    storeClientRule,
    ...clientRules,
    {
      // Tests put rooms together, and stand at the edge themselves.
      files: ["kernel/src/**/*.test.ts", "kernel/src/**/testing/**/*.ts"],
      rules: { "no-restricted-imports": "off", "no-restricted-globals": "off" },
    },
    ...testRules,
    {
      files: [
        "kernel/src/cli/**/*.ts",
        "kernel/build/**/*.ts",
        "vscode-client/build/**/*.ts",
        "test/**/*.ts",
      ],
      rules: { "no-console": "off" },
    },
  ],
  // AssemblyScript has its own compiler and types.
  ignorePatterns: ["**/dist", "**/build-output", "examples/library", "extensions/sdk/hnsw/assembly"],
});
