import { beforeEach, describe, expect, it } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { commands, seen, window, type FakeQuickPick } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";
import { decisionCommands } from "./decisions.ts";

interface Row {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  readonly buttons: readonly { readonly tooltip: string }[];
}

beforeEach(() => {
  seen.forget();
  window.madePick = undefined;
});

const decision = (given: object = {}): object => ({
  id: "1",
  title: "Edits in notes by Notes",
  agent: "test.agent",
  used: 0,
  rules: [{ decide: "allow", agent: "test.agent", path: "notes/**" }],
  ...given,
});

function start(...items: object[]) {
  const kernel = { refusal: undefined as Error | undefined, items };
  const fake = fakeContext({
    "lares/decisions/list": () => {
      if (kernel.refusal !== undefined) throw kernel.refusal;
      return { items: kernel.items };
    },
    "lares/decisions/revoke": () => {
      if (kernel.refusal !== undefined) throw kernel.refusal;
      return {};
    },
  });
  fake.agents = [{ id: "test.agent", name: "Notes" }];
  decisionCommands(fake.context);
  const show = async (given?: unknown): Promise<FakeQuickPick | undefined> => {
    void commands.executeCommand("lares.openDecisions", given);
    await settled();
    return window.madePick;
  };
  const revoked = (): unknown[] =>
    fake.asked.filter(({ method }) => method === "lares/decisions/revoke").map(({ params }) => params);
  return { ...fake, kernel, show, revoked };
}
const said = (): string[] => seen.messages.map(({ text }) => text);

describe("remembered decisions", () => {
  it("are listed with their agent and how often they were used", async () => {
    const { show } = start(
      decision({ used: 3, last_used: new Date().toISOString(), created: new Date().toISOString() }),
      decision({ id: "2", agent: undefined, rules: [{ decide: "allow", until: "close" }] }),
    );
    const [first, second] = ((await show())?.items ?? []) as Row[];
    expect(first).toMatchObject({ label: "Edits in notes by Notes", description: "Notes" });
    expect(first?.detail).toBe("used 3 times · last just now · since just now");
    expect(second).toMatchObject({ description: "Every agent" });
    expect(second?.detail).toBe("not used yet · written by hand · until you close this window");
  });

  it("begin with the requested one", async () => {
    const { show } = start(decision(), decision({ id: "2" }));
    const pick = await show("2");
    expect(pick?.activeItems).toEqual([pick?.items[1]]);
  });

  it("are replaced by a message if there are none", async () => {
    const { show } = start();
    expect(await show()).toBe(undefined);
    expect(said()[0]).toContain("Nothing is remembered yet.");
  });

  it("open the file that contains them", async () => {
    const { show } = start(decision({ place: { path: "/state/decisions.yaml", line: 3 } }));
    const pick = await show();
    const [row] = (pick?.items ?? []) as Row[];
    pick?.button.fire({ button: row?.buttons[0], item: row });
    await settled();
    expect(seen.opened).toEqual(["file:///state/decisions.yaml"]);
    expect(pick).toMatchObject({ isShown: false, isDisposed: true });
  });
});

describe("revoking", () => {
  it.each([
    ["Revoke", [{ id: "1" }]],
    [undefined, []],
  ])("asks first, and does what is answered: %s", async (answer, asked) => {
    const { show, revoked } = start(decision());
    const pick = await show();
    pick?.accept(pick.items[0]);
    await settled();
    expect(revoked()).toEqual([]);
    expect(seen.messages[0]).toMatchObject({ isModal: true, detail: "Edits in notes by Notes" });
    seen.messages[0]?.answer(answer);
    await settled();
    expect(revoked()).toEqual(asked);
    expect(window.statusBarMessages).toHaveLength(asked.length);
  });

  it("follows the button of its row, whichever row is active", async () => {
    const { show, revoked } = start(decision(), decision({ id: "2", title: "Tags" }));
    const pick = await show();
    const [, second] = (pick?.items ?? []) as Row[];
    pick?.button.fire({ button: second?.buttons.at(-1), item: second });
    await settled();
    expect(seen.messages[0]?.detail).toBe("Tags");
    seen.messages[0]?.answer("Revoke");
    await settled();
    expect(revoked()).toEqual([{ id: "2" }]);
  });

  it("of a decision that another window revoked reports that it does not exist", async () => {
    const { show, kernel } = start(decision());
    const pick = await show();
    pick?.accept(pick.items[0]);
    await settled();
    kernel.refusal = Object.assign(new Error("There is no such decision."), { data: { code: "NotFound" } });
    seen.messages[0]?.answer("Revoke");
    await settled();
    expect(said().at(-1)).toBe("The decision was not revoked: There is no such decision.");
    expect(window.statusBarMessages).toEqual([]);
  });

  it("while the kernel is gone is refused in one sentence, like the list", async () => {
    const { show, kernel } = start(decision());
    const pick = await show();
    kernel.refusal = new Error("The kernel is not running.");
    pick?.accept(pick.items[0]);
    await settled();
    seen.messages[0]?.answer("Revoke");
    await settled();
    window.madePick = undefined;
    expect(await show()).toBe(undefined);
    expect(said().slice(1)).toEqual([
      "The decision was not revoked: The kernel is not running.",
      "The remembered decisions cannot be shown: The kernel is not running.",
    ]);
  });
});
