import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { LaresError } from "../../base/errors.ts";
import { validate } from "../../protocol/validate.ts";
import { type ClientRequest, clientRequests } from "../../protocol/v1/requests.ts";
import { Terminal } from "../terminal.ts";
import { anAgent } from "../testing/fake-kernel.ts";
import { testShell } from "../testing/test-shell.ts";

const storage = "dev.lares.storage";
/** A whole id, which is not looked up. */
const wholeId = "01990000-0000-7000-8000-00006305ccc0";
const head = "3f2a".repeat(16);
const empty = { ...anAgent("").metrics, memory_size_bytes: 0 };
const described = {
  records: 3,
  head,
  from: "extension/a.b",
  bytes: 900,
  vectors: 0,
  imported: false,
  created: "2026-11-20T10:00:00.000Z",
  first: "2026-11-01T10:00:00.000Z",
  last: "2026-11-19T10:00:00.000Z",
};
const answers: Readonly<Record<string, unknown>> = {
  "lares/memory/query": {
    items: [{ id: "7", kind: "associative", score: 0.5, text: "the beach" }],
    mode: "text",
  },
  "lares/memory/count": { count: 4, groups: { seen: 3, told: 1 } },
  "lares/memory/namespaces": { namespaces: [] },
  "lares/memory/stats": { records: 3, head, sizeBytes: 512, limitBytes: 1024, projections: null },
  "lares/memory/export": { path: "/out", records: 3, head, bytes: 1234, vectors: 2 },
  "lares/memory/import": described,
  "lares/memory/correct": { id: "0200-id", seq: 5 },
  "lares/memory/forget": { seq: 4 },
};

const item = (id: string, text: string) => ({
  id,
  variant: "Fact",
  data: {},
  text,
  importance: 0.5,
  relations: [],
  embedded: true,
});
const known = {
  items: [
    item(wholeId, "I like long answers."),
    item("01990000-0000-7000-8000-000077770000", "I like tea."),
    item("01990000-0000-7000-8000-00000000000a", "An album."),
  ],
};

const shell = testShell();
beforeEach(() => {
  for (const [method, answer] of Object.entries(answers)) shell.kernel.memories.set(method, answer);
  // Only one of the two agents has a memory.
  shell.kernel.agents = [anAgent("dev.lares.filetypes", { metrics: empty }), anAgent(storage)];
});

const lares = (...argv: string[]): Promise<number> => shell.lares(["memory", shell.folder, ...argv]);

/** Returns the requests for memories, each checked against the contract. */
function asked(): { method: string; params: object }[] {
  const found = shell.kernel.requests.filter(({ method }) => method.startsWith("lares/memory/"));
  for (const { method, params } of found)
    expect(validate(clientRequests[method as ClientRequest].params, params)).toBeNull();
  return found;
}

function atTerminal(answer: boolean): { questions: string[] } {
  const questions: string[] = [];
  vi.spyOn(Terminal.prototype, "isInteractive", "get").mockReturnValue(true);
  vi.spyOn(Terminal.prototype, "confirm").mockImplementation(async (question) => {
    questions.push(question);
    return answer;
  });
  return { questions };
}

it("the fake's answers match the protocol's schemas", () => {
  for (const [method, answer] of Object.entries(answers))
    expect(validate(clientRequests[method as ClientRequest].result, answer, method)).toBeNull();
});

describe("query", () => {
  it("words alone search the only memory", async () => {
    expect(await lares("query", "beach", "since", "monday")).toBe(0);
    expect(asked()).toEqual([
      {
        method: "lares/memory/query",
        params: { agent: storage, kind: "search", text: "beach since monday" },
      },
    ]);
    expect(shell.output).toContain("the beach");
    expect(shell.output).toContain("1 hit, text");
  });

  it("a first word that names an agent selects it", async () => {
    expect(await lares("query", "dev.lares.filetypes", "beach")).toBe(0);
    expect(asked()[0]?.params).toMatchObject({ agent: "dev.lares.filetypes", text: "beach" });
    expect(await lares("query", "dev.lares.filetypes", "--agent", storage)).toBe(0);
    expect(asked()[1]?.params).toMatchObject({ agent: storage, text: "dev.lares.filetypes" });
  });

  it("the agent must be named if there are several or none", async () => {
    shell.kernel.agents = [anAgent("dev.lares.filetypes"), anAgent(storage)];
    expect(await lares("query", "beach")).toBe(2);
    expect(shell.errors).toContain("Which agent? There are dev.lares.filetypes, dev.lares.storage.");
    expect(await lares("query", "--agent", "dev.lares.storag", "beach")).toBe(2);
    expect(shell.errors).toContain('did you mean "dev.lares.storage"?');
    shell.kernel.agents = [anAgent(storage, { metrics: empty })];
    expect(await lares("query", "beach")).toBe(2);
    expect(shell.errors).toContain("No agent has remembered anything here yet.");
    shell.kernel.agents = [];
    expect(await lares("query", "beach")).toBe(2);
    expect(shell.errors).toContain("There is no agent here.");
    expect(asked()).toEqual([]);
  });

  it("--by counts, with bars; more than one --where", async () => {
    expect(await lares("query", "--by", "variant", "--where", "a=1", "--where", "b~x")).toBe(0);
    expect(asked()[0]).toEqual({
      method: "lares/memory/count",
      params: {
        agent: storage,
        group_by: "variant",
        where: [
          { field: "a", op: "eq", value: 1 },
          { field: "b", op: "contains", value: "x" },
        ],
      },
    });
    expect(shell.output).toMatch(/seen {2}3 {2}█+\ntold {2}1 {2}█+\n4 events\n/);
  });

  it("--json prints the kernel's answer unchanged", async () => {
    expect(await lares("query", "beach", "--json")).toBe(0);
    expect(JSON.parse(shell.output)).toEqual(answers["lares/memory/query"]);
  });

  it.each([
    [
      "temporal",
      { items: [{ id: "1", variant: "seen", timestamp: described.last, data: { n: 1 } }], total: 1 },
      "n=1",
    ],
    ["associative", { items: [] }, "Nothing was found."],
    ["working", { revision: 3, state: { plan: [] } }, '"plan": []'],
    // The words of the glossary.
    ["history", { items: [{ id: "1", variant: "seen", timestamp: described.last, data: { n: 1 } }] }, "n=1"],
    ["knowledge", { items: [] }, "Nothing was found."],
    ["plan", { revision: 3, state: { plan: [] } }, '"plan": []'],
  ])("--kind %s has its own rendering", async (kind, answer, shown) => {
    shell.kernel.memories.set("lares/memory/query", answer);
    expect(await lares("query", "--kind", kind)).toBe(0);
    expect(shell.output).toContain(shown);
  });

  it.each([
    [["--kind", "dreams"], "history, knowledge, plan, search, temporal, associative, working"],
    [["--since", "soon"], "is not a time"],
    [["--where", "nothing"], "is not a condition"],
    [["--kind", "search"], "The search has no words"],
  ])("%j is wrong usage", async (argv, message) => {
    expect(await lares("query", ...argv)).toBe(2);
    expect(shell.errors).toContain(message);
    expect(shell.output).toBe("");
  });

  it("an error of the kernel is a failure, with its message", async () => {
    shell.kernel.memories.set(
      "lares/memory/query",
      new LaresError("VectorSearchNotConfigured", "No embedder.\u001b[2J"),
    );
    expect(await lares("query", "beach", "--mode", "vector")).toBe(1);
    expect(shell.errors).toContain("error: No embedder.␛[2J");
  });
});

describe("verify and stats", () => {
  it("verify checks the named agent, or all of them", async () => {
    expect(await lares("verify")).toBe(0);
    expect(await lares("verify", "--all")).toBe(0);
    expect(await lares("verify", storage)).toBe(0);
    const agents = asked()
      .filter(({ method }) => method === "lares/memory/verify")
      .map(({ params }) => (params as { agent: string }).agent);
    expect(agents).toEqual(["dev.lares.filetypes", storage, "dev.lares.filetypes", storage, storage]);
    expect(await lares("verify", storage, "--all")).toBe(2);
    expect(await lares("verify", storage, "dev.lares.filetypes")).toBe(2);
  });

  it("verify checks all agents even if one chain is broken, and exits with 1", async () => {
    shell.kernel.verification = {
      ok: false,
      records: 1,
      head: "",
      firstBad: { seq: 2, reason: "hash\u001b differs" },
    };
    expect(await lares("verify")).toBe(1);
    expect(shell.output.match(/chain broken at record 2: hash␛ differs/g)).toHaveLength(2);
  });

  it("stats shows how full it is", async () => {
    expect(await lares("stats", storage)).toBe(0);
    expect(shell.output).toContain("512 B of 1.0 KB, 50 %");
    shell.output = "";
    expect(await lares("stats", storage, "--json")).toBe(0);
    expect(JSON.parse(shell.output)).toMatchObject({ agent: storage, records: 3, projections: null });
  });
});

describe("a shared memory", () => {
  const team = { name: "team", agents: [storage], access: "read_write", records: 3 };
  const theirs = { name: "theirs", agents: [storage], access: "read", workspace: "/w" };
  const nobodys = { name: "nobodys", agents: [], access: "read", records: 0 };
  const whose = { agent: storage, namespace: "team" };
  beforeEach(() => {
    shell.kernel.memories.set("lares/memory/namespaces", { namespaces: [team, theirs, nobodys] });
  });
  const questions = () => asked().filter(({ method }) => method !== "lares/memory/namespaces");

  it("is verified with the agents' memories; another workspace's is not", async () => {
    expect(await lares("verify")).toBe(0);
    expect(questions().map(({ params }) => params)).toEqual([
      { agent: "dev.lares.filetypes" },
      { agent: storage },
      whose,
    ]);
    expect(shell.output).toContain("team (shared)");
  });

  it.each<[string[], string, object]>([
    [["verify"], "lares/memory/verify", whose],
    [["stats"], "lares/memory/stats", whose],
    [["query", "beach"], "lares/memory/query", { ...whose, kind: "search", text: "beach" }],
    [
      ["export", "/x/team.lares"],
      "lares/memory/export",
      { ...whose, path: "/x/team.lares", overwrite: false },
    ],
  ])("%j asks for the one that is named", async (words, method, params) => {
    expect(await lares(...words, "--namespace", "team")).toBe(0);
    expect(questions()).toEqual([{ method, params }]);
  });

  it.each([
    [["verify", "--namespace", "teem"], 'did you mean "team"'],
    [["stats", "dev.lares.filetypes", "--namespace", "team"], "may not open"],
    [["stats", "--namespace", "nobodys"], "No agent here may open"],
    [["verify", "--all", "--namespace", "team"], "cannot be combined"],
    [["import", "/x", "--namespace", "team"], "has no effect on import"],
    [["forget", "7", "--namespace", "team"], "has no effect on forget"],
  ])("%j is a usage error", async (words, said) => {
    expect(await lares(...words)).toBe(2);
    expect(shell.errors).toContain(said);
    expect(questions()).toEqual([]);
  });
});

describe("export and import", () => {
  it("export names the file absolutely, and prints the whole head", async () => {
    expect(await lares("export", "memory.lares")).toBe(0);
    const params = { agent: storage, path: join(process.cwd(), "memory.lares"), overwrite: false };
    expect(asked()).toEqual([{ method: "lares/memory/export", params }]);
    expect(shell.output).toContain("3 records and 2 vectors, 1.2 KB, in /out");
    expect(shell.output).toContain(head);
    expect(await lares("export", storage, "/x/y", "--force", "--json")).toBe(0);
    expect(asked()[1]?.params).toEqual({ agent: storage, path: "/x/y", overwrite: true });
  });

  it("import shows the file's contents, asks, and imports what was shown", async () => {
    const { questions } = atTerminal(true);
    expect(await lares("import", storage, "/x/y")).toBe(0);
    expect(asked().map(({ params }) => params)).toEqual([
      { agent: storage, path: "/x/y", preview: true },
      { agent: storage, path: "/x/y", preview: false, head },
    ]);
    expect(questions).toEqual(["Make this the memory of dev.lares.storage, which is empty?"]);
    expect(shell.output).toContain("extension/a.b");
    expect(shell.output).toContain(head);
    expect(shell.output).toContain("3 records imported into dev.lares.storage");
  });

  it("answering no imports nothing, and is a failure", async () => {
    atTerminal(false);
    expect(await lares("import", storage, "/x/y")).toBe(1);
    expect(asked()).toHaveLength(1);
    expect(shell.errors).toContain("Nothing was imported.");
  });

  it("without a terminal, --yes is required before anything is sent to the kernel", async () => {
    expect(await lares("import", storage, "/x/y")).toBe(2);
    expect(shell.errors).toContain("--yes");
    expect(asked()).toEqual([]);
    expect(await lares("import", storage, "/x/y", "--yes", "--head", head, "--json")).toBe(0);
    expect(asked()[0]?.params).toEqual({ agent: storage, path: "/x/y", preview: true, head });
    expect(JSON.parse(shell.output)).toMatchObject({ records: 3, head });
    expect(await lares("import", storage, "/x/y", "--yes", "--head", "3f2a")).toBe(2);
    expect(shell.errors).toContain("64 hexadecimal digits");
  });

  it("an invalid file is refused before the confirmation", async () => {
    const { questions } = atTerminal(true);
    shell.kernel.memories.set(
      "lares/memory/import",
      new LaresError("StorageError", "The file is not as it was exported."),
    );
    expect(await lares("import", storage, "/x/y")).toBe(1);
    expect(shell.errors).toContain("The file is not as it was exported.");
    expect(questions).toEqual([]);
  });

  it.each([["export"], ["import", "--yes"], ["forget", "--yes"]])(
    "%s wants one word more",
    async (verb, ...more) => {
      expect(await lares(verb, storage, ...more)).toBe(2);
      expect(await lares(verb, storage, "a", "b", ...more)).toBe(2);
      expect(shell.errors).toMatch(/Which (file|id|agent)\?/);
      expect(asked()).toEqual([]);
    },
  );
});

describe("correct", () => {
  it("says what is remembered from now on, and asks", async () => {
    const { questions } = atTerminal(true);
    expect(await lares("correct", storage, wholeId, "short", "answers")).toBe(0);
    expect(shell.output).toContain("remembers: short answers");
    expect(questions).toEqual(["Correct it?"]);
    expect(asked()).toEqual([
      { method: "lares/memory/correct", params: { agent: storage, id: wholeId, text: "short answers" } },
    ]);
    expect(shell.output).toContain("its id is 0200-id now");
  });

  it("takes the end of an id, as other commands show it, and shows what that says", async () => {
    shell.kernel.memories.set("lares/memory/query", known);
    const { questions } = atTerminal(true);
    expect(await lares("correct", "6305ccc0", "short", "answers")).toBe(0);
    expect(shell.output).toContain(`What ${wholeId} ("I like long answers.") says now is forgotten`);
    expect(questions).toHaveLength(1);
    expect(asked().at(-1)).toEqual({
      method: "lares/memory/correct",
      params: { agent: storage, id: wholeId, text: "short answers" },
    });
  });

  it.each([
    ["00", '"00" can mean 2 memories: 6305ccc0 "I like long answers.", 77770000 "I like tea."'],
    ["I like", '"I like" can mean 2 memories'],
    ["abcd", 'No memory has an id that ends in "abcd", or a text that begins so.'],
  ])("%j changes nothing and says why", async (id, said) => {
    const items = [
      { ...item(wholeId.replace("ccc0", "cc00"), "I like long answers.") },
      ...known.items.slice(1),
    ];
    shell.kernel.memories.set("lares/memory/query", { items: items.slice(0, 2) });
    expect(await lares("correct", id, "new", "--yes")).toBe(2);
    expect(shell.errors).toContain(said.replace("6305ccc0", "6305cc00"));
    expect(asked().some(({ method }) => method === "lares/memory/correct")).toBe(false);
  });

  it("looks through fewer at once if the answer would be too large", async () => {
    shell.kernel.memories.set("lares/memory/query", ({ top_k }: { top_k: number }) => {
      if (top_k > 100) throw new LaresError("LimitExceeded", "Too large.");
      return known;
    });
    expect(await lares("correct", "6305ccc0", "new", "--yes")).toBe(0);
  });

  it("wants an id and a text, and without a terminal --yes", async () => {
    expect(await lares("correct", wholeId, "--yes")).toBe(2);
    expect(await lares("correct", wholeId, "new")).toBe(2);
    expect(await lares("correct", wholeId, "new", "--yes")).toBe(0);
    expect(asked()[0]?.params).toEqual({ agent: storage, id: wholeId, text: "new" });
  });
});

describe("forget", () => {
  it("says what cannot be recovered, and asks", async () => {
    const { questions } = atTerminal(true);
    expect(await lares("forget", storage, wholeId, "--reason", "asked to")).toBe(0);
    expect(shell.output).toContain("cannot be recovered");
    expect(questions).toEqual(["Forget it?"]);
    expect(asked()).toEqual([
      { method: "lares/memory/forget", params: { agent: storage, id: wholeId, reason: "asked to" } },
    ]);
    expect(shell.output).toContain("recorded as record 4");
  });

  it("takes the end of the id of an event, too, and the last word of the agent's", async () => {
    const id = "01990000-0000-7000-8000-0000000000e1";
    const events = Array.from({ length: 5 }, (_none, at) => ({
      id: at === 4 ? id : `01990000-0000-7000-8000-0000000000f${at}`,
      variant: "seen",
      timestamp: described.last,
      data: { file: "sea.jpg" },
    }));
    shell.kernel.memories.set(
      "lares/memory/query",
      ({ kind, offset = 0 }: { kind: string; offset?: number }) =>
        kind === "temporal" ? { items: events.slice(offset, offset + 2), total: 5 } : known,
    );
    expect(await lares("forget", "storage", "00e1", "--yes")).toBe(0);
    expect(asked().at(-1)?.params).toEqual({ agent: storage, id });
    expect(await lares("forget", "storage", "000a", "--yes")).toBe(0);
    expect(asked().at(-1)?.params).toEqual({ agent: storage, id: known.items[2]?.id });
  });

  it("says how many copies were removed, or that none was", async () => {
    const forgetting = ["forget", storage, wholeId, "--copies", "--yes"] as const;
    shell.kernel.memories.set("lares/memory/forget", { seq: 4, removed: [], remains: [] });
    expect(await lares(...forgetting)).toBe(0);
    expect(shell.output).toContain("No copy was found.");
    shell.output = "";
    const removed = [{ place: "traces", count: 3 }];
    shell.kernel.memories.set("lares/memory/forget", { seq: 4, removed, remains: [] });
    expect(await lares(...forgetting)).toBe(0);
    expect(shell.output).toContain("removed from traces: 3");
    expect(shell.output).not.toContain("No copy");
  });

  it("answering no forgets nothing; without a terminal, --yes is required", async () => {
    expect(await lares("forget", wholeId)).toBe(2);
    atTerminal(false);
    expect(await lares("forget", wholeId)).toBe(1);
    expect(asked()).toEqual([]);
    expect(await lares("forget", wholeId, "--yes")).toBe(0);
    expect(asked()[0]?.params).toEqual({ agent: storage, id: wholeId });
  });
});
