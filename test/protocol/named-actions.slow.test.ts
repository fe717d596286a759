import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, type Outcome, probe } from "../support/agents.ts";
import { approve } from "../support/actions.ts";
import { Bench, inState, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import type { Action } from "../support/types.ts";
import { until } from "../support/until.ts";

const ALBUMS = "test.albums";
/** May call the action, and propose only what the manifest says. */
const CALLER = "test.caller";
const POOR = "test.poor";
const STRANGER = "test.stranger";

const PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  actions: {
    async createAlbum({ name, photos = [] }, ctx) {
      return {
        effects: [
          { kind: "folder.create", path: "albums/" + name },
          ...photos.map((from) => ({ kind: "file.move", from, to: "albums/" + name + "/" + from.split("/").at(-1) })),
        ],
        reason: "Asked for by " + ctx.caller + ".",
      };
    },
    async misbehave({ what }, ctx) {
      const effects = [{ kind: "folder.create", path: "albums/x" }];
      switch (what) {
        case "nothing": return undefined;
        case "no list": return { effects: "all", reason: "r" };
        case "no reason": return { effects };
        case "wrong title": return { effects, title: 7, reason: "r" };
        case "unknown effect": return { effects: [{ kind: "file.burn", path: "a" }], reason: "r" };
        case "not permitted": return { effects: [{ kind: "file.delete", path: "notes/a.md" }], reason: "r" };
        case "outside": return { effects: [{ kind: "folder.create", path: "private/x" }], reason: "r" };
        case "no change": return { effects: [], reason: "It is there already." };
        case "throws": throw new Error("The album has no name.");
        case "reads": return { effects, reason: await ctx.vdfs.readText("notes/a.md") };
      }
    },
    title: ({ name }) => ({ effects: [{ kind: "folder.create", path: "albums/t" }], title: "My own words", reason: "r" }),
  },
});`;
const actions = [
  {
    name: "create_album",
    title: "Create album {name}",
    description: "Puts photos into a new folder",
    handler: "createAlbum",
    parameters: {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string" }, photos: { type: "array", items: { type: "string" } } },
      additionalProperties: false,
    },
  },
  { name: "misbehave", title: "Misbehave", handler: "misbehave" },
  {
    name: "titled",
    title: "Title of {name}",
    handler: "title",
    parameters: { type: "object", required: ["names"], properties: { names: { type: "array" }, name: {} } },
  },
];

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    files: { "photos/a.jpg": "a", "photos/b.jpg": "b", "notes/a.md": "secret\n", "private/c.md": "c" },
    extensions: [
      {
        id: ALBUMS,
        program: PROGRAM,
        manifest: {
          permissions: { read_entries: true, propose_actions: ["folder.create", "file.move"] },
          actions,
        },
        grants: { locations: ["photos", "albums", "notes"] },
      },
      probe({
        id: CALLER,
        permissions: { propose_actions: ["folder.create"], read_entries: true, call_tools: [`${ALBUMS}/*`] },
        grants: { locations: ["photos", "albums"] },
      }),
      probe({ id: POOR, permissions: { call_tools: [`${ALBUMS}/create_album`] } }),
      probe({ id: STRANGER, permissions: { propose_actions: ["folder.create"] } }),
    ],
  });
  await bench.write("albums/.keep", "");
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

interface Made {
  action: string | null;
  state: string | null;
}
interface Result {
  status: string;
  value?: Made;
  message?: string;
}
const run = (name: string, args: object): Promise<Result> =>
  client.request("lares/tools/call", { agent: ALBUMS, name, arguments: args });
const through = (agent: string, name: string, args: object) =>
  tool<Outcome>(client, agent, "ctx", { path: ["tools", "call"], arguments: [`${ALBUMS}/${name}`, args] });
const actionOf = (id: string | null | undefined): Promise<Action> =>
  client.request("lares/actions/get", { id });

describe("a named action", () => {
  test("is a tool: its effects are proposed, shown, approved and undone as any proposal", async () => {
    const listed = await client.request<{ name: string; parameters: object }[]>("lares/tools/list", {
      agent: ALBUMS,
    });
    expect(listed.map(({ name }) => name)).toEqual(["create_album", "misbehave", "titled"]);
    const { status, value } = await run("create_album", { name: "Sea", photos: ["photos/a.jpg"] });
    expect([status, value]).toEqual([
      "success",
      { action: expect.stringMatching(/./), state: "PendingApproval" },
    ]);
    const action = await actionOf(value?.action);
    expect(action).toMatchObject({
      agent: ALBUMS,
      title: "Create album Sea",
      reason: "Asked for by user.",
      effects: [
        { kind: "folder.create", path: "albums/Sea" },
        { kind: "file.move", path: "albums/Sea/a.jpg" },
      ],
    });
    expect(existsSync(bench.path("albums/Sea"))).toBe(false);
    await approve(client, action);
    expect(existsSync(bench.path("albums/Sea/a.jpg"))).toBe(true);
    await client.request("lares/actions/undo", { id: action.id });
    expect(existsSync(bench.path("photos/a.jpg"))).toBe(true);
  });

  test("has its handler's title where it gives one", async () => {
    const { value } = await run("titled", { names: [] });
    expect((await actionOf(value?.action)).title).toBe("My own words");
  });

  test("is called by another agent, which is told the action's id and state and is named by the action", async () => {
    const { value } = await through(CALLER, "create_album", { name: "Hill" });
    expect(value).toEqual({ action: expect.any(String), state: "PendingApproval" });
    const action = await actionOf((value as Made).action);
    expect(action).toMatchObject({
      agent: ALBUMS,
      title: "Create album Hill",
      reason: `Asked for by ${CALLER}.`,
    });
    expect(JSON.stringify(action)).toContain(CALLER);
  });

  test("with parameters that do not fit is refused, and its handler is not called", async () => {
    await expect(run("create_album", { name: 7 })).rejects.toMatchObject({ data: { code: "ToolError" } });
    await expect(run("create_album", { name: "x", path: "/" })).rejects.toMatchObject({
      data: { code: "ToolError" },
    });
  });

  test("shows long and odd parameters in its title in one line", async () => {
    const name = `a\n\u202e${"x".repeat(300)}`;
    const { value, status } = await run("titled", { names: [], name });
    expect(status).toBe("success");
    const answer = await run("create_album", { name: `T${"y".repeat(100)}` });
    const { title } = await actionOf(answer.value?.action);
    expect(title).toMatch(/^Create album Ty+…$/);
    expect(title.length).toBeLessThan(120);
    expect(value?.action).toBeTypeOf("string");
  });
});

describe("a handler that answers wrongly", () => {
  test.each([
    ["nothing", /has to return \{ effects, title, reason \}: effects is not a list/],
    ["no list", /effects is not a list/],
    ["no reason", /reason is not a text/],
    ["wrong title", /title is not a text/],
    ["unknown effect", /file\.burn/],
    ["not permitted", /may not propose file\.delete; list it in propose_actions/],
    ["outside", /private\/x/],
    ["throws", /The album has no name\./],
  ])("%s: the caller gets a sentence, and nothing is proposed", async (what, message) => {
    const before = await client.request<Action[]>("lares/actions/list", {});
    const result = await run("misbehave", { what });
    expect(result).toMatchObject({ status: "error", message: expect.stringMatching(message) });
    expect(await client.request<Action[]>("lares/actions/list", {})).toHaveLength(before.length);
  });

  test("no effects: the call succeeds without an action", async () => {
    expect(await run("misbehave", { what: "no change" })).toEqual({
      status: "success",
      value: { action: null, state: null, reason: "It is there already." },
    });
  });
});

describe("an action is nobody's deputy", () => {
  test("what the caller may not propose is not proposed for it", async () => {
    const moves = await through(CALLER, "create_album", { name: "Sea", photos: ["photos/b.jpg"] });
    expect(moves.error).toMatchObject({
      code: "ToolError",
      message: `${ALBUMS} was called by ${CALLER}, which may not do this itself.`,
    });
    const poor = await through(POOR, "create_album", { name: "Poor" });
    expect(poor.error?.message).toContain("may not do this itself");
  });

  test("its handler does not read for the caller what that may not read", async () => {
    expect((await run("misbehave", { what: "reads" })).status).toBe("success");
    const { error } = await through(CALLER, "misbehave", { what: "reads" });
    expect(error?.message).toContain("may not do this itself");
  });

  test("an agent without call_tools does not call it", async () => {
    expect((await through(STRANGER, "create_album", { name: "x" })).error?.code).toBe("PermissionDenied");
  });
});

describe("as a command", () => {
  test("it is offered where its parameters can be asked for, and run with them", async () => {
    const commands = await client.request<{ agent: string; name: string; title: string }[]>(
      "lares/commands/list",
      {},
    );
    const own = commands.filter(({ agent }) => agent === ALBUMS);
    expect(own.map(({ name, title }) => [name, title])).toEqual([
      ["create_album", "Create album …"],
      ["misbehave", "Misbehave"],
    ]);
    const result = await client.request<Result>("lares/commands/run", {
      agent: ALBUMS,
      name: "create_album",
      arguments: { name: "Lake" },
    });
    expect(result).toMatchObject({ status: "success", value: { state: "PendingApproval" } });
    await expect(
      client.request("lares/commands/run", { agent: ALBUMS, name: "titled", arguments: { names: [] } }),
    ).rejects.toMatchObject({ data: { code: "NotFound" } });
  });
});

test("an agent whose program has not the handler does not start, and says which one is missing", async () => {
  await using own = await Bench.create({
    extensions: [
      {
        id: ALBUMS,
        program: PROGRAM,
        manifest: {
          actions: [{ name: "gone", title: "Gone", handler: "gone" }],
          agent: { activation: "eager" },
        },
      },
    ],
  });
  await using connected = await own.open();
  const broken = await inState(connected, ALBUMS, "Error");
  expect(broken.error).toContain('exports no handler "gone"');
  await until("the kernel to answer", async () => (await own.status(connected)).ready);
  expect(await call(client, CALLER, "vdfs.count", {})).toBeTypeOf("number");
});
