import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { Bench } from "../support/bench.ts";
import { METHOD_NOT_FOUND, RpcError } from "../support/client.ts";
import { Editor } from "../support/editor.ts";
import type { Action } from "../support/types.ts";
import { until } from "../support/until.ts";

/** What an editor sends when it starts a server; from its own sources, which `source` names. */
interface Recorded {
  readonly source: string;
  readonly clientInfo: { readonly name: string };
  readonly capabilities: Record<string, Record<string, unknown>>;
  /** `only` of its requests for code actions. */
  readonly asksForKinds: readonly string[] | null;
}

const NOTE = "notes/shopping list.md";

async function recordingOf(name: string): Promise<Recorded> {
  const file = new URL(`./capabilities/${name}.json`, import.meta.url);
  return JSON.parse(await readFile(file, "utf8")) as Recorded;
}

/** Requests of a server's that the LSP ties to a capability of the client. */
function mayBeAsked({ capabilities }: Recorded): string[] {
  const has = (room: string, feature: string, flag: string): boolean =>
    (capabilities[room]?.[feature] as Record<string, unknown> | undefined)?.[flag] === true;
  return [
    ...(capabilities["window"]?.["workDoneProgress"] === true ? ["window/workDoneProgress/create"] : []),
    ...(has("workspace", "codeLens", "refreshSupport") ? ["workspace/codeLens/refresh"] : []),
    ...(has("workspace", "inlayHint", "refreshSupport") ? ["workspace/inlayHint/refresh"] : []),
    ...(has("workspace", "diagnostics", "refreshSupport") ? ["workspace/diagnostic/refresh"] : []),
    ...(capabilities["workspace"]?.["applyEdit"] === true ? ["workspace/applyEdit"] : []),
  ];
}

test.each(["helix", "zed", "sublime"])(
  "%s, as it introduces itself: to an approved change by code action, and back",
  async (name) => {
    const recorded = await recordingOf(name);
    await using bench = await Bench.create({
      files: { [NOTE]: "# Shopping list\n\nmilk\n" },
      lares: { extensions: [{ id: "dev.lares.notes", grants: { locations: ["notes"] } }] },
    });
    // Such editors have no command to trust a folder: a person did it once at a terminal.
    await (await bench.open()).shutdown();

    await using client = bench.spawn();
    client.answer = ({ method }) => (mayBeAsked(recorded).includes(method ?? "") ? null : METHOD_NOT_FOUND);
    await client.request("initialize", {
      ...bench.initializeParams(),
      clientInfo: recorded.clientInfo,
      capabilities: recorded.capabilities,
      initializationOptions: null,
    });
    client.notify("initialized", {});
    expect(await bench.ready(client)).toMatchObject({ trusted: true });
    const editor = new Editor(bench, client);

    await editor.open(NOTE);
    editor.type(NOTE, "milk\nbread\n");
    await bench.write(NOTE, "milk\nbread\n");
    editor.save(NOTE);
    const only = recorded.asksForKinds ?? undefined;
    await until("the agent's proposal", async () =>
      (await editor.codeActions(NOTE, only)).some(({ title }) => title.startsWith("Lares: approve")),
    );
    if (recorded.capabilities["textDocument"]?.["codeLens"] !== undefined)
      expect((await editor.lenses(NOTE)).length).toBeGreaterThan(0);
    const undo = async (): Promise<Action> => editor.choose<Action>(NOTE, "Lares: undo");

    // The note may get two proposals, for its creation and its change: the later one supersedes the earlier one.
    const approved = await until("the proposal that waits to be approved", () =>
      editor.choose<Action>(NOTE, "Lares: approve").catch((error: unknown) => {
        if (error instanceof RpcError && error.data?.["state"] === "Stale") return null;
        throw error;
      }),
    );
    expect(approved).toMatchObject({ state: "Committed" });
    expect(await readFile(bench.path(NOTE), "utf8")).toBe("# Shopping list\n\nmilk\nbread\n");
    await editor.message(/is done/);
    // The editor reads the file again.
    editor.type(NOTE, "# Shopping list\n\nmilk\nbread\n");
    editor.save(NOTE);
    expect(await undo()).toMatchObject({ state: "Undone" });
    expect(await readFile(bench.path(NOTE), "utf8")).toBe("milk\nbread\n");

    const asked = client.received.flatMap(({ id, method }) => (id === undefined ? [] : [method]));
    expect(mayBeAsked(recorded)).toEqual(expect.arrayContaining([...new Set(asked)]));
    expect(client.fault).toBeUndefined();
  },
);

test.each(["helix", "zed", "sublime"])(
  "%s answers approvals by message where it is set up so",
  async (name) => {
    const recorded = await recordingOf(name);
    await using bench = await Bench.create({
      files: { [NOTE]: "milk\nbread\n" },
      lares: { extensions: [{ id: "dev.lares.notes", grants: { locations: ["notes"] } }] },
    });
    await (await bench.open()).shutdown();
    await using client = bench.spawn();
    client.answer = ({ method }) => (method === "window/showMessageRequest" ? { title: "Approve" } : null);
    await client.request("initialize", {
      ...bench.initializeParams({ approvals: "showMessageRequest" }),
      clientInfo: recorded.clientInfo,
      capabilities: recorded.capabilities,
    });
    client.notify("initialized", {});
    await until("the change", async () =>
      (await readFile(bench.path(NOTE), "utf8")).startsWith("# Shopping"),
    );
  },
);
